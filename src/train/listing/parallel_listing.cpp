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

bool is_tied_head(const Graph& graph, const Layer& layer) {
  return layer.name == "head" &&
         !graph.parameters[layer.parameters[0]].name.starts_with(layer.name);
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
  if (config.word("fsdp.wrap") == "block" && !graph.blocks.empty())
    all.lines.push_back(fmt::format("for block in {}: fully_shard(block{}{})", graph.blocks, rest,
                                    reshards ? "" : ", reshard_after_forward=False"));
  all.lines.push_back(fmt::format("fully_shard(model{})", rest));
  all.own = all.lines.size();
  all.lines.push_back("model.to_empty(device=device)  # of each parameter this rank's part");
  const bool ties =
      graph.own_classes > 0 &&
      std::ranges::any_of(graph.layers, [&](const Layer& one) { return is_tied_head(graph, one); });
  if (ties) {
    all.lines.push_back("model.apply(model._init_weights)  # init_weights() would tie again");
  } else if (graph.listed.has_init_weights) {
    all.lines.push_back("model.init_weights()");
  } else {
    all.lines.push_back("for module in model.modules():");
    all.lines.push_back("    if hasattr(module, \"reset_parameters\"): module.reset_parameters()");
  }
  return all;
}

// Rows of the mesh are pipelines, neighbours; its columns have the same stages.
void add_mesh_of_pipelines(ParallelLines& all, const TrainSettings& settings) {
  all.lines.push_back(
      fmt::format("mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"dp\", \"pp\"))",
                  settings.ranks, settings.pipeline_ranks));
  all.lines.push_back(fmt::format("{} = mesh.get_local_rank(\"pp\")", rank_in_pipeline(settings)));
}

// Both ends of each pipeline have it: of one module there, of another here.
void add_tied(ParallelLines& all, const TrainSettings& settings, const std::string& name) {
  const int ranks = settings.pipeline_ranks;
  all.lines.push_back(fmt::format("tied = model.{} if {} in (0, {}) else None", name,
                                  rank_in_pipeline(settings), ranks - 1));
  all.lines.push_back(
      settings.ddp
          ? fmt::format("ends, _ = dist.new_subgroups_by_enumeration([[i, i + {}] for i in "
                        "range(0, {}, {})])  # which have it both",
                        ranks - 1, settings.processes(), ranks)
          : fmt::format("ends = dist.new_group([0, {}])  # which have it both", ranks - 1));
}

// A model cut by hand, as torchtitan does: what the tracer of torch.distributed.pipelining makes of
// transformers' models hands their masks from stage to stage.
void add_stages(ParallelLines& all, const TrainSettings& settings, const Graph& graph,
                const ListedStages& stages) {
  constexpr const char* kShapes = "  # the first step learns shapes, by a forward more";
  const ListedModel& listed = graph.listed;
  all.lines.insert(all.lines.end(), listed.parts.begin(), listed.parts.end());
  std::vector<std::string> cuts{"0"};
  for (const int blocks : stages.blocks_before)
    cuts.push_back(std::to_string(listed.parts_before_blocks + blocks * listed.parts_of_block));
  all.lines.push_back(
      fmt::format("cuts = [{}, None]  # a stage begins at each", fmt::join(cuts, ", ")));
  all.own = all.lines.size();
  const char* rank = rank_in_pipeline(settings);
  const char* group = settings.ddp ? ", group=mesh.get_group(\"pp\")" : "";
  const std::size_t count = cuts.size();
  if (settings.interleaved) {
    all.lines.push_back(
        fmt::format("chunks = {{i: nn.Sequential(*parts[cuts[i]:cuts[i + 1]]).to(device) for i in "
                    "range({}, {}, {})}}  # this rank's parts of the model",
                    rank, count, settings.pipeline_ranks));
    all.lines.push_back(fmt::format(
        "stages = [PipelineStage(chunk, i, {}, device{}) for i, chunk in chunks.items()]{}", count,
        group, kShapes));
    return;
  }
  all.lines.push_back(
      fmt::format("chunk = nn.Sequential(*parts[cuts[{0}]:cuts[{0} + 1]])"
                  ".to(device)  # this rank's part of the model",
                  rank));
  all.lines.push_back(
      fmt::format("stage = PipelineStage(chunk, {}, {}, device{}){}", rank, count, group, kShapes));
}

ParallelLines pipeline_lines(const program::Config& config, const TrainSettings& settings,
                             const Graph& graph, const ListedStages& stages,
                             const std::string& device) {
  ParallelLines all;
  const bool several = settings.interleaved;
  if (settings.ddp) add_mesh_of_pipelines(all, settings);
  add_stages(all, settings, graph, stages);
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

// OPT's layers lay the tokens of all sequences in a row behind their attention
// (OPTDecoderLayer.forward).
bool has_tokens_in_a_row(const CutName& one) {
  return one.name == "fc1" || one.name == "fc2" || one.name == "final_layer_norm";
}

// `in_parts`: of the sequence.
std::string style_of(const CutName& one, bool in_parts) {
  const bool gathers = in_parts && !one.shares_input;
  const int tokens = has_tokens_in_a_row(one) ? 0 : 1;  // the dimension
  if (one.cut == Cut::kColumns)
    return fmt::format("ColwiseParallel({})",
                       gathers ? fmt::format("input_layouts=Shard({})", tokens) : "");
  if (one.cut == Cut::kRows)
    return fmt::format("RowwiseParallel({})",
                       in_parts ? fmt::format("output_layouts=Shard({})", tokens) : "");
  return tokens == 0 ? "SequenceParallel(sequence_dim=0)" : norm_style(one.is_added);
}

// Of "self_attn.q_proj", "self_attn".
std::string module_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

// ColwiseParallel takes nn.Linear alone, which transformers' GPT-2 is not made of.
void add_linear_layers(ParallelLines& all, const std::vector<CutName>& names) {
  all.lines.insert(
      all.lines.end(),
      {"def linear(conv):  # transformers' Conv1D is replaced by nn.Linear",
       "    new = nn.Linear(*conv.weight.shape)",
       "    new.weight, new.bias = nn.Parameter(conv.weight.t().contiguous()), conv.bias",
       "    return new"});
  std::vector<std::string> replaced;
  for (const CutName& one : names)
    if (one.name.find(".c_") != std::string::npos)
      replaced.push_back(fmt::format("    block.{0} = linear(block.{0})", one.name));
  all.lines.push_back("for block in model.transformer.h:");
  all.lines.insert(all.lines.end(), replaced.begin(), replaced.end());
}

// ColwiseParallel would cut a projection to queries, keys and values straight through: its rows are
// sorted by ranks before.
void add_what_is_prepared(ParallelLines& all, const TrainSettings& settings, const Graph& graph,
                          const std::vector<CutName>& names) {
  const auto is_conv1d = [](const CutName& one) {
    return one.name.find(".c_") != std::string::npos;
  };
  if (std::ranges::any_of(names, is_conv1d)) add_linear_layers(all, names);
  const auto packed = std::ranges::find(names, Cut::kColumns, &CutName::cut);
  all.lines.insert(
      all.lines.end(),
      {"# q, k and v of one projection are cut each by itself",
       fmt::format("for p in [p for block in {} for p in block.{}.parameters()]:", graph.blocks,
                   packed->name),
       fmt::format("    p.data = p.data.unflatten(0, (3, {}, -1)).transpose(0, 1).flatten(0, 2)",
                   settings.tensor_ranks)});
}

// Of "norm 1", "norm_1".
std::string as_attribute(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

// Projections that read the same share what their module gathers. transformers' decoders, which
// take positions, give it to their attention by its name.
void add_plan(ParallelLines& all, const Graph& graph, const std::vector<CutName>& names,
              bool in_parts) {
  constexpr const char* kGatherNamed =
      "input_kwarg_layouts={\"hidden_states\": Shard(1)}, "
      "desired_input_kwarg_layouts={\"hidden_states\": Replicate()}";
  std::string gathered_for;
  for (const CutName& one : names) {
    const std::string module = module_of(one.name);
    if (in_parts && one.shares_input && module != gathered_for) {
      gathered_for = module;
      const bool by_name = graph.listed.takes_positions && module.ends_with("attn");
      all.lines.push_back(fmt::format("    \"{}\": PrepareModuleInput({}),", module,
                                      by_name ? kGatherNamed : kGather));
    }
    all.lines.push_back(
        fmt::format("    \"{}\": {},", as_attribute(one.name), style_of(one, in_parts)));
  }
}

bool is_looked_up(const Layer& layer) {
  return std::holds_alternative<program::Embedding>(layer.function) ||
         std::holds_alternative<program::AddPositions>(layer.function);
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

// DistributedDataParallel makes ordinary tensors of what named_parameters() lists, which is a
// matrix of two modules once, and of DTensors again before each forward.
void tie_in_forward(ParallelLines& all, const Graph& graph) {
  for (const Layer& layer : graph.layers) {
    if (!is_tied_head(graph, layer)) continue;
    const std::string head = name_outside(graph, layer);
    all.lines.push_back(
        fmt::format("table, head = model.{}, model.{}  # the same rows of one matrix",
                    module_of(graph.parameters[layer.parameters[0]].name), head));
    all.lines.push_back("del head.weight  # DistributedDataParallel would make local one of two");
    all.lines.push_back(
        "head.register_forward_pre_hook(lambda head, args: setattr(head, \"weight\", "
        "table.weight))");
    if (layer.parameters.size() > 1)
      all.lines.push_back(fmt::format("model.{} = None  # model.{}.bias alone",
                                      graph.parameters[layer.parameters[1]].name, head));
  }
}

// What is outside of the blocks: where the sequence is cut, and where it is whole again; and of a
// vocabulary that is shared out the embedding and the head.
void add_ends(ParallelLines& all, const TrainSettings& settings, const Graph& graph,
              const char* mesh) {
  const bool in_parts = settings.sequence_parallel;
  const auto has_part = [&](ValueId value) { return graph.is_part(value); };
  const auto drops = [](const Layer& layer) {
    return std::holds_alternative<program::Dropout>(layer.function);
  };
  if (in_parts && std::ranges::any_of(graph.layers, drops))
    all.lines.push_back("    # and each nn.Dropout: SequenceParallel(use_local_output=True)");
  all.lines.push_back(fmt::format("parallelize_module(model, {}, {{", mesh));
  for (const Layer& layer : graph.layers) {
    if (layer.block > 0) continue;
    const std::string name = as_attribute(name_outside(graph, layer));
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
  if (graph.own_classes > 0) settings.ddp ? tie_in_forward(all, graph) : tie_again(all, graph);
  if (!in_parts || !graph.listed.takes_positions) return;
  all.lines.push_back(
      fmt::format("places = torch.arange({}, device=device)[None]  # of whole sequences",
                  settings.data.shape.tokens));
  all.lines.push_back(
      "model.register_forward_pre_hook(lambda module, args, kwargs: (args, {\"position_ids\": "
      "places}), with_kwargs=True)");
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
  if (attention && attention->packed) add_what_is_prepared(all, settings, graph, names);
  all.lines.push_back("plan = {");
  add_plan(all, graph, names, settings.sequence_parallel);
  all.lines.back() += "}";
  const bool in_blocks = attention != nullptr;
  if (in_blocks) all.lines.push_back(fmt::format("for block in {}:", graph.blocks));
  all.own = all.lines.size();
  all.lines.push_back(fmt::format("{}parallelize_module({}, {}, plan)", in_blocks ? "    " : "",
                                  in_blocks ? "block" : "model", mesh));
  if (in_blocks)
    all.lines.push_back(
        graph.listed.fewer_heads.empty()
            ? fmt::format("    # its attention: 1 of {} of the heads", settings.tensor_ranks)
            : fmt::format("    {} {}  # of its heads 1 of {}", graph.listed.fewer_heads,
                          settings.tensor_ranks, settings.tensor_ranks));
  if (settings.sequence_parallel || settings.loss_parallel) add_ends(all, settings, graph, mesh);
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
  if (settings.pipeline) return pipeline_lines(config, settings, graph, stages, device);
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
