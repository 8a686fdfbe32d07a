#include "train/listing/parallel_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "train/parallel/cut_layers.h"
#include "train/parallel/data_parallel.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

const program::Attention* attention_of(const Graph& graph) {
  for (const Layer& layer : graph.layers)
    if (const auto* attention = std::get_if<program::Attention>(&layer.function)) return attention;
  return nullptr;
}

// `more`: arguments behind the device. `before`: "for stage in stages: ".
void add_ddp(ParallelLines& all, const program::Config& config, const std::string& device,
             const char* more = "", const char* module = "model", const char* before = "") {
  std::string text = fmt::format("{}{} = DistributedDataParallel({}, device_ids=[{}]{}", before,
                                 module, module, device, more);
  if (config.is_set("ddp.bucket_cap_mb"))
    text += fmt::format(", bucket_cap_mb={}", config.number("ddp.bucket_cap_mb"));
  for (const char* word : {"gradient_as_bucket_view", "find_unused_parameters", "static_graph"})
    if (config.flag(std::string("ddp.") + word)) text += fmt::format(", {}=True", word);
  if (!config.flag("ddp.broadcast_buffers")) text += ", broadcast_buffers=False";
  all.ddp = all.lines.size();
  all.lines.push_back(text + ")");
  if (const std::string& hook = config.word("ddp.comm_hook"); hook != "none")
    all.lines.push_back(
        fmt::format("{}{}.register_comm_hook(None, default_hooks.{}_hook)", before, module, hook));
}

// `all`: what a model's layers are cut by before.
ParallelLines fsdp_lines(const program::Config& config, const TrainSettings& settings,
                         const Graph& graph, ParallelLines all = {}) {
  std::string rest;
  if (settings.tensor_parallel) {
    rest = ", mesh=mesh[\"dp\"]";
  } else if (is_hybrid(config)) {
    all.lines.push_back(
        fmt::format("mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"replicate\", "
                    "\"shard\"))",
                    settings.ranks / settings.shard_degree, settings.shard_degree));
    rest = ", mesh=mesh";
  }
  std::vector<std::string> policy;
  if (config.word("fsdp.param_dtype") == "bf16") {
    policy.push_back("param_dtype=torch.bfloat16");
    if (config.word("fsdp.reduce_dtype") == "fp32") policy.push_back("reduce_dtype=torch.float32");
  }
  if (!policy.empty()) {
    all.lines.push_back(fmt::format("policy = MixedPrecisionPolicy({})", fmt::join(policy, ", ")));
    rest += ", mp_policy=policy";
  }
  const bool reshards = config.flag("fsdp.reshard_after_forward");
  if (config.word("fsdp.wrap") == "block")
    all.lines.push_back(fmt::format("for block in {}: fully_shard(block{}{})", graph.blocks, rest,
                                    reshards ? "" : ", reshard_after_forward=False"));
  all.lines.push_back(fmt::format("fully_shard(model{})", rest));
  all.own = all.lines.size();
  all.lines.push_back("model.to_empty(device=device)  # of each parameter this rank's part");
  all.lines.push_back("model.init_weights()");
  return all;
}

// Rows of the mesh are pipelines, neighbours; its columns have the same stages.
void add_mesh_of_pipelines(ParallelLines& all, const TrainSettings& settings) {
  all.lines.push_back(
      fmt::format("mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"dp\", \"pp\"))",
                  settings.ranks, settings.pipeline_ranks));
  all.lines.push_back(fmt::format("{} = mesh.get_local_rank(\"pp\")", rank_in_pipeline(settings)));
}

// Both ends of each pipeline have it. DistributedDataParallel would prefix its name.
void add_tied(ParallelLines& all, const TrainSettings& settings, const std::string& name) {
  all.lines.push_back(
      fmt::format("tied = dict({}).get(\"{}\")",
                  settings.interleaved
                      ? "named for stage in stages for named in stage.submod.named_parameters()"
                      : "stage.submod.named_parameters()",
                  name));
  const int ranks = settings.pipeline_ranks;
  all.lines.push_back(
      settings.ddp
          ? fmt::format("ends, _ = dist.new_subgroups_by_enumeration([[i, i + {}] for i in "
                        "range(0, {}, {})])  # which have it both",
                        ranks - 1, settings.processes(), ranks)
          : fmt::format("ends = dist.new_group([0, {}])  # which have it both", ranks - 1));
}

// The tracer of torch.distributed.pipelining cuts the model where it is told.
ParallelLines pipeline_lines(const program::Config& config, const TrainSettings& settings,
                             const ListedStages& stages, const std::string& device) {
  std::vector<std::string> points;
  for (const std::string& point : stages.split_points) points.push_back('"' + point + '"');
  ParallelLines all;
  const bool several = settings.interleaved;
  const int ranks = settings.pipeline_ranks;
  if (settings.ddp) add_mesh_of_pipelines(all, settings);
  all.lines.emplace_back(
      "pipe = pipeline(model, mb_args=(x_of_a_micro_batch,), split_spec=dict.fromkeys(");
  all.lines.push_back(fmt::format("    [{}], SplitPoint.BEGINNING))", fmt::join(points, ", ")));
  all.own = all.lines.size();
  const char* rank = rank_in_pipeline(settings);
  const char* group = settings.ddp ? ", mesh.get_group(\"pp\")" : "";
  all.lines.push_back(
      several
          ? fmt::format("stages = [pipe.build_stage(i, device{}) for i in range({}, {}, {})]  "
                        "# this rank's parts of the model",
                        group, rank, ranks * settings.stages_per_rank, ranks)
          : fmt::format("stage = pipe.build_stage({}, device{})  # this rank's part of the model",
                        rank, group));
  if (several && !config.flag("pipeline.batch_p2p_comm")) {
    all.lines.emplace_back("# instead of dist.batch_isend_irecv(ops): a stream for each two ranks");
    all.lines.emplace_back(
        "schedules._batch_p2p = lambda ops, desc=None: [p.op(p.tensor, p.peer, p.group) for p in "
        "ops]");
  }
  const std::string& schedule = config.word("pipeline.schedule");
  const bool text = settings.data.shape.tokens > 0;
  all.lines.push_back(fmt::format(
      "schedule = Schedule{}({}, n_microbatches={}, loss_fn={})",
      several               ? "Interleaved1F1B"
      : schedule == "gpipe" ? "GPipe"
                            : "1F1B",
      several ? "stages" : "stage", settings.micro_batches,
      text ? "lambda out, y: F.cross_entropy(out.flatten(0, 1), y.flatten())" : "F.cross_entropy"));
  if (!stages.tied.empty()) add_tied(all, settings, stages.tied);
  if (settings.ddp)
    add_ddp(all, config, device, ", device_mesh=mesh[\"dp\"]", "stage.submod",
            several ? "for stage in stages: " : "");
  return all;
}

constexpr const char* kGather = "input_layouts=Shard(1), desired_input_layouts=Replicate()";

// What is added to ordinary tensors has to be one.
const char* norm_style(bool is_added) {
  return is_added ? "SequenceParallel(use_local_output=True)" : "SequenceParallel()";
}

// `in_parts`: of the sequence.
std::string style_of(const CutName& one, bool in_parts) {
  const bool gathers = in_parts && !one.shares_input;
  if (one.cut == Cut::kColumns)
    return fmt::format("ColwiseParallel({})", gathers ? "input_layouts=Shard(1)" : "");
  if (one.cut == Cut::kRows)
    return fmt::format("RowwiseParallel({})", in_parts ? "output_layouts=Shard(1)" : "");
  return norm_style(one.is_added);
}

// Of "self_attn.q_proj", "self_attn".
std::string module_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

// ColwiseParallel would cut a projection to queries, keys and values straight through, and takes
// nn.Linear alone, which transformers' GPT-2 is not made of.
void add_what_is_prepared(ParallelLines& all, const std::vector<CutName>& names) {
  all.lines.push_back("# q, k and v of one projection are cut each by itself");
  const bool has_conv1d = std::ranges::any_of(
      names, [](const CutName& one) { return one.name.find(".c_") != std::string::npos; });
  if (has_conv1d) all.lines.push_back("# transformers' Conv1D is replaced by nn.Linear");
}

// Projections that read the same share what their module gathers.
void add_plan(ParallelLines& all, const std::vector<CutName>& names, bool in_parts) {
  std::string gathered_for;
  for (const CutName& one : names) {
    const std::string module = module_of(one.name);
    if (in_parts && one.shares_input && module != gathered_for) {
      gathered_for = module;
      all.lines.push_back(fmt::format("    \"{}\": PrepareModuleInput({}),", module, kGather));
    }
    all.lines.push_back(fmt::format("    \"{}\": {},", one.name, style_of(one, in_parts)));
  }
}

bool is_looked_up(const Layer& layer) {
  return std::holds_alternative<program::Embedding>(layer.function) ||
         std::holds_alternative<program::AddPositions>(layer.function);
}

bool is_tied_head(const Graph& graph, const Layer& layer) {
  return layer.name == "head" &&
         !graph.parameters[layer.parameters[0]].name.starts_with(layer.name);
}

// A head that has its weights from the embedding is a module of its own in transformers, which with
// a bias is BERT's.
std::string name_outside(const Graph& graph, const Layer& layer) {
  if (!is_tied_head(graph, layer)) return layer.name;
  return layer.parameters.size() > 1 ? "cls.predictions.decoder" : "lm_head";
}

// Of a vocabulary that is shared out, as torchtitan's Llama has it.
std::string vocabulary_style(const Graph& graph, const Layer& layer) {
  const std::string_view in_parts = graph.is_part(layer.output) ? ", output_layouts=Shard(1)" : "";
  if (layer.cut == Cut::kVocabulary)
    return fmt::format("RowwiseParallel(input_layouts=Replicate(){})", in_parts);
  return fmt::format("ColwiseParallel({}output_layouts=Shard(-1), use_local_output=False)",
                     graph.is_part(layer.inputs[0]) ? "input_layouts=Shard(1), " : "");
}

// A module that is parallelized has new parameters, its own.
void tie_again(ParallelLines& all, const Graph& graph) {
  for (const Layer& layer : graph.layers) {
    if (!is_tied_head(graph, layer)) continue;
    all.lines.push_back(fmt::format("model.{}.weight = model.{}  # the same rows of one matrix",
                                    name_outside(graph, layer),
                                    graph.parameters[layer.parameters[0]].name));
    if (layer.parameters.size() > 1)
      all.lines.push_back(fmt::format("model.{} = model.{}.bias",
                                      graph.parameters[layer.parameters[1]].name,
                                      name_outside(graph, layer)));
  }
}

// What is outside of the blocks: where the sequence is cut, and where it is whole again; and of a
// vocabulary that is shared out the embedding and the head.
void add_ends(ParallelLines& all, const Graph& graph, const char* mesh, bool in_parts) {
  const auto has_part = [&](ValueId value) { return graph.is_part(value); };
  const auto drops = [](const Layer& layer) {
    return std::holds_alternative<program::Dropout>(layer.function);
  };
  if (in_parts && std::ranges::any_of(graph.layers, drops))
    all.lines.push_back("    # and each nn.Dropout: SequenceParallel(use_local_output=True)");
  all.lines.push_back(fmt::format("parallelize_module(model, {}, {{", mesh));
  for (const Layer& layer : graph.layers) {
    if (layer.block > 0) continue;
    const std::string name = name_outside(graph, layer);
    if (is_of_vocabulary(graph, layer)) {
      all.lines.push_back(fmt::format("    \"{}\": {},", name, vocabulary_style(graph, layer)));
    } else if (!in_parts) {
      continue;
    } else if (is_looked_up(layer)) {
      all.lines.push_back(fmt::format("    \"{}\": PrepareModuleOutput(", name));
      all.lines.push_back("        output_layouts=Replicate(), desired_output_layouts=Shard(1)),");
    } else if (!has_part(layer.output) && std::ranges::any_of(layer.inputs, has_part)) {
      all.lines.push_back(fmt::format("    \"{}\": PrepareModuleInput(", name));
      all.lines.push_back(fmt::format("        {}, use_local_output=True),", kGather));
    } else if (has_part(layer.output) && !drops(layer)) {
      all.lines.push_back(fmt::format("    \"{}\": {},", name, norm_style(is_added(graph, layer))));
    }
  }
  all.lines.back() += "})";
  if (graph.own_classes > 0) tie_again(all, graph);
}

// Each layer on a line: what is cut how is the lesson.
ParallelLines tensor_lines(const TrainSettings& settings, const Graph& graph) {
  ParallelLines all;
  const bool in_groups = settings.ranks > 1;
  const char* mesh = in_groups ? "mesh[\"tp\"]" : "mesh";
  all.lines.push_back(
      in_groups ? fmt::format("mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"dp\", "
                              "\"tp\"))",
                              settings.ranks, settings.tensor_ranks)
                : fmt::format("mesh = init_device_mesh(\"cuda\", ({},))", settings.tensor_ranks));
  const std::vector<CutName> names = cut_names(graph);
  const program::Attention* attention = attention_of(graph);
  if (attention && attention->packed) add_what_is_prepared(all, names);
  all.lines.push_back("plan = {");
  add_plan(all, names, settings.sequence_parallel);
  all.lines.back() += "}";
  const bool in_blocks = attention != nullptr;
  if (in_blocks) all.lines.push_back(fmt::format("for block in {}:", graph.blocks));
  all.own = all.lines.size();
  all.lines.push_back(fmt::format("{}parallelize_module({}, {}, plan)", in_blocks ? "    " : "",
                                  in_blocks ? "block" : "model", mesh));
  if (in_blocks)
    all.lines.push_back(
        fmt::format("    # its attention: 1 of {} of the heads", settings.tensor_ranks));
  if (settings.sequence_parallel || settings.loss_parallel)
    add_ends(all, graph, mesh, settings.sequence_parallel);
  return all;
}

// Without device_ids it takes all GPUs of the machine.
ParallelLines data_parallel_lines(const TrainSettings& settings) {
  std::vector<int> ids;
  for (int gpu = 0; gpu < settings.gpus; ++gpu) ids.push_back(gpu);
  const std::int64_t samples = parts_of_batch(settings.batch, settings.gpus).front();
  return {{fmt::format("# each batch is split: {} samples a GPU", samples),
           settings.all_gpus ? "model = nn.DataParallel(model)"
                             : fmt::format("model = nn.DataParallel(model, device_ids=[{}])",
                                           fmt::join(ids, ", "))},
          ParallelLines::kNone};
}

}  // namespace

ParallelLines parallel_lines(const program::Config& config, const TrainSettings& settings,
                             const Graph& graph, const ListedStages& stages,
                             const std::string& device) {
  if (settings.fsdp && !settings.tensor_parallel) return fsdp_lines(config, settings, graph);
  if (settings.pipeline) return pipeline_lines(config, settings, stages, device);
  if (settings.dp) return data_parallel_lines(settings);
  ParallelLines all;
  if (settings.tensor_parallel) all = tensor_lines(settings, graph);
  if (settings.fsdp) return fsdp_lines(config, settings, graph, std::move(all));
  if (settings.ddp)
    add_ddp(all, config, device, settings.tensor_parallel ? ", device_mesh=mesh[\"dp\"]" : "");
  return all;
}

const char* rank_in_pipeline(const TrainSettings& settings) {
  return settings.pipeline && settings.ddp ? "pp_rank" : "rank";
}

const char* listed_parameters(const TrainSettings& settings) {
  if (settings.interleaved) return "[p for stage in stages for p in stage.submod.parameters()]";
  return settings.pipeline ? "stage.submod.parameters()" : "model.parameters()";
}

}  // namespace trainscope::train
