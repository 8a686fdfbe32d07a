#include "analysis/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>
#include <vector>

#include "analysis/batch_fit.h"
#include "analysis/number_types.h"
#include "analysis/unit_times.h"
#include "base/units.h"
#include "program/idle_knobs.h"
#include "trace/same_collectives.h"
#include "train/parallel.h"
#include "train/published_models.h"

namespace trainscope::analysis {
namespace {

bool is_set_on(const Run& run, std::string_view knob) {
  return run.program && run.config.flag(knob);
}

// A knob that is there to be turned: of an imported run each may be.
bool may_turn(const Run& run, std::string_view knob) {
  return !run.program || program::idle_because(run.config, knob).empty();
}

// What a run has not yet turned that its machine and model can.
std::string autocast_advice(const Run& run, const Speech& speech) {
  return speech.say(has_bf16(run) ? "autocast to BF16 or FP16"
                                  : "autocast to FP16 with a GradScaler");
}

bool may_turn_channels(const Run& run) {
  return !run.program ||
         (may_turn(run, "memory_format") && run.config.word("memory_format") != "channels_last");
}

// Fused programs are built for one GPU and for ranks that have the whole model.
bool may_fuse(const Run& run) {
  if (!run.program) return true;
  const std::string& strategy = run.config.word("parallel.strategy");
  return may_turn(run, "compile.fuse") && !is_set_on(run, "compile.fuse") &&
         (strategy == "none" || strategy == "ddp" || strategy == "fsdp");
}

// All gradients are ready when the one compiled backward ends.
bool sums_behind_backward(const Run& run) {
  return run.program && may_turn(run, "compile.optimize_ddp") &&
         !run.config.flag("compile.optimize_ddp");
}

// A workload that is no training: one kernel, copy or collective, again and again.
bool is_alone(const Run& run) {
  return run.program && run.config.word("workload") != "train";
}

// A trace of PyTorch's profiler is known by FSDP's marks.
bool is_sharded(const Run& run) {
  return run.program ? run.config.word("parallel.strategy") == "fsdp" : has_unit_marks(*run.trace);
}

// Its ranks are on several nodes, all of them.
bool fills_nodes(const Run& run) {
  if (!run.program || !run.machine) return false;
  const std::int64_t ranks = run.config.whole("parallel.world_size"), node = run.machine->gpu_count;
  return ranks > node && ranks % node == 0;
}

std::string hybrid_words(const Run& run, const Speech& speech) {
  return told(
      speech,
      "hybrid sharding, whose all-gathers stay within a node (fsdp.shard_degree = {}), where "
      "there is memory for it",
      run.machine->gpu_count);
}

// A transformer has pairs of layers to cut.
bool may_share_layers(const Run& run) {
  return gathers_over_network(run) && run.program->data.tokens > 0;
}

std::string fsdp_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (gathers_over_network(run)) {
    tries.push_back(hybrid_words(run, speech));
    if (may_share_layers(run))
      tries.push_back(told(speech,
                           "layers shared within each node (tensor.degree = {}), of which a GPU "
                           "then gathers its part alone",
                           run.machine->gpu_count));
  }
  if (!run.program || (has_bf16(run) && run.config.word("fsdp.param_dtype") != "bf16"))
    tries.push_back(speech.say("gathering in BF16 (MixedPrecisionPolicy)"));
  if (!run.program || run.config.flag("fsdp.reshard_after_forward"))
    tries.push_back(speech.say("reshard_after_forward=False where there is memory for it"));
  tries.push_back(speech.say("a larger batch"));
  tries.push_back(speech.say("a faster link"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

// Whether a collective of it is in a type of 16 bits.
bool sums_narrow(const trace::Trace& trace) {
  bool narrow = false;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(trace, span);
    narrow = narrow || (one && (one->type == "Half" || one->type == "BFloat16"));
  });
  return narrow;
}

std::string tensor_advice(const Run& run, const Speech& speech) {
  const std::string narrower =
      is_narrow(run) || !has_bf16(run) ? "" : speech.say("activations in BF16, ");
  if (sums_layers_over_network(run))
    return told(
        speech,
        "Its sums stand between layers, and hide behind nothing: keep them within a node "
        "(tensor.degree = {}), with data parallelism between nodes, or try {}a faster link.",
        run.machine->gpu_count, narrower);
  return told(speech,
              "Its sums stand between layers, and hide behind nothing: try fewer ranks to a model, "
              "or data parallelism where the model has room, {}or a faster link.",
              narrower);
}

std::string ddp_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (sums_behind_backward(run))
    tries.push_back(
        speech.say("torch._dynamo.config.optimize_ddp = True, which cuts the compiled backward at "
                   "its buckets and so hides their sums"));
  tries.push_back(speech.say("other buckets (bucket_cap_mb)"));
  tries.push_back(speech.say("no_sync() between updates"));
  if (run.program
          ? run.config.word("model.dtype") == "fp32" && run.config.word("ddp.comm_hook") == "none"
          : !sums_narrow(*run.trace))
    tries.push_back(speech.say("gradients in BF16 on their way (bf16_compress_hook)"));
  tries.push_back(speech.say("a faster link"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

// What a node's links carry need not go over the network.
std::string pipelines_words(const Run& run, const Speech& speech) {
  if (!sends_stages_over_network(run)) return "";
  return told(speech,
              "a pipeline within each node (pipeline.degree = {}), with data parallelism between "
              "nodes, ",
              run.machine->gpu_count);
}

// The more stages a GPU has in turn, the more is sent.
std::string pipeline_advice(const Run& run, const Speech& speech) {
  const std::string& schedule = run.config.word("pipeline.schedule");
  const std::string more = schedule == "gpipe"              ? "1F1B, "
                           : schedule == "interleaved_1f1b" ? speech.say("fewer stages a GPU, ")
                                                            : "";
  return told(speech, "Try more micro-batches, {}or a faster link.",
              more + pipelines_words(run, speech));
}

// What makes a pipeline's ranks wait less for one another. On one stream a receive that waits holds
// up sends, and interleaving wins nothing.
std::string shorter_bubble(const program::Config& config, const Speech& speech) {
  if (config.word("pipeline.schedule") != "interleaved_1f1b")
    return speech.say(
        "several stages a GPU (interleaved 1F1B) and a stream for each two ranks (isend, irecv; no "
        "batch_isend_irecv)");
  return speech.say(config.flag("pipeline.batch_p2p_comm")
                        ? "a stream for each two ranks (isend, irecv; no batch_isend_irecv)"
                        : "more stages a GPU");
}

// What rows of the product's matrices are long: only that must be even. Those of a weight's
// gradient are its results' and its inputs', however many there are.
std::vector<std::int64_t> row_lengths(const program::Operation& product) {
  const auto* linear = std::get_if<program::Linear>(&product.function);
  const bool turned = linear && linear->part == program::Part::kWeightGradient;
  return {product.n, turned ? product.m : product.k};
}

// Lengths of a matrix product's rows that tensor cores read badly. A convolution's are its
// windows', which nobody chooses.
std::vector<std::int64_t> odd_rows(const program::Operation& one) {
  constexpr std::int64_t kWhole = 8;
  std::vector<std::int64_t> odd;
  if (one.kind != program::OperationKind::kGemm ||
      std::holds_alternative<program::Convolution>(one.function))
    return odd;
  for (const std::int64_t side : row_lengths(one))
    if (side >= kWhole && side % kWhole != 0) odd.push_back(side);
  return odd;
}

// Imported runs do not tell their products; torch.compile's are padded where that gains.
bool tells_odd_rows(const Run& run) {
  return run.program && !is_set_on(run, "compile.fuse");
}

// Of all products.
std::set<std::int64_t> all_odd_sides(const Run& run) {
  std::set<std::int64_t> odd;
  if (tells_odd_rows(run))
    for (const program::Operation& one : run.program->operations)
      for (const std::int64_t side : odd_rows(one)) odd.insert(side);
  return odd;
}

std::string few_of(const std::set<std::int64_t>& sides) {
  constexpr std::size_t kShown = 3;
  std::vector<std::int64_t> shown(sides.begin(), sides.end());
  if (shown.size() > kShown) shown.resize(kShown);
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::string odd_sides(const Run& run) {
  return few_of(all_odd_sides(run));
}

namespace {

// A knob pads the vocabulary, and is tried; no knob pads the others.
std::string untried_sizes(const Run& run) {
  std::set<std::int64_t> odd = all_odd_sides(run);
  odd.erase(train::vocabulary_of(run.config));
  return few_of(odd);
}

// "sizes that are multiples of 8, of 64 best (1793 is none)"; empty where all are.
std::string sizes_words(const std::string& odd, const Speech& speech) {
  return odd.empty() ? ""
                     : told(speech, "sizes that are multiples of 8, of 64 best ({} is none)", odd);
}

std::string sizes_advice(const Run& run, const Speech& speech) {
  return sizes_words(odd_sides(run), speech);
}

std::string counted_workers(int workers, const Speech& speech) {
  return workers == 1 ? speech.say("1 worker") : told(speech, "{} workers", workers);
}

}  // namespace

std::string full_cores_words(const FullCores& full, const Speech& speech) {
  return told(speech, "; {} on {} keep all of them at work, and slow the training threads",
              counted_workers(full.workers, speech),
              full.cores == 1 ? speech.say("1 core") : told(speech, "{} cores", full.cores));
}

std::string full_cores_advice(const FullCores& full, const Speech& speech) {
  const int enough = std::max(1, full.cores / full.processes);
  const std::string fewer =
      full.workers > enough * full.processes
          ? told(speech, "; {} a process are enough", counted_workers(enough, speech))
          : "";
  return told(speech,
              "More workers load no faster: try less work for a sample, decoding on the GPU, or "
              "more cores{}.",
              fewer);
}

namespace {

// Where PyTorch has a flash kernel for the run's type and GPU (FlashAttention-2: 8.0 and later).
bool may_attend_in_tiles(const Run& run) {
  return run.program && may_turn(run, "attention.kernel") && has_bf16(run) && is_narrow(run) &&
         run.config.word("attention.kernel") != "flash";
}

}  // namespace

bool sums_layers_over_network(const Run& run) {
  if (!train::cuts_layers(run.config) || !fills_nodes(run)) return false;
  const std::int64_t degree = run.config.whole("tensor.degree");
  return degree == 0 || degree > run.machine->gpu_count;
}

bool gathers_over_network(const Run& run) {
  return is_sharded(run) && fills_nodes(run) && !train::is_hybrid(run.config) &&
         !train::is_grid(run.config);
}

bool sends_stages_over_network(const Run& run) {
  if (!is_pipeline(run) || !fills_nodes(run)) return false;
  const std::int64_t degree = run.config.whole("pipeline.degree");
  return degree == 0 || degree > run.machine->gpu_count;
}

bool is_pipeline(const Run& run) {
  return run.program && run.config.word("parallel.strategy") == "pipeline";
}

std::string data_advice(const Run& run, const Speech& speech) {
  const Measured& measured = run.facts.measured;
  if (const auto full = cores_full_of_workers(measured)) return full_cores_advice(*full, speech);
  const auto needed = workers_needed(measured, run.facts.partition[Part::kIdleData]);
  const auto time = [&](double nanos) { return speech.number(format_nanos(nanos)); };
  if (run.program && run.config.whole("loader.num_workers") == 0)
    return needed ? told(speech,
                         "The training thread loads by itself: {} of loading beside {} of all else "
                         "are work for {} (num_workers={}).",
                         time(needed->loading), time(needed->rest),
                         counted_workers(needed->workers, speech), needed->workers)
                  : speech.say(
                        "The training thread loads by itself: try loader.num_workers "
                        "(num_workers=…).");
  if (needed && run.program && needed->workers > run.config.whole("loader.num_workers"))
    return told(
        speech,
        "Try more workers (num_workers={}), less work for a sample, or the data on the GPU.",
        needed->workers);
  return speech.say(
      "Try more workers (num_workers), less work for a sample, or the data on the GPU.");
}

Nanos time_of_odd_products(const Run& run) {
  Nanos time = 0;
  if (!is_narrow(run) || !tells_odd_rows(run)) return time;
  std::set<std::string_view> odd;  // kernels' names tell the shapes of products
  for (const program::Operation& one : run.program->operations)
    if (!odd_rows(one).empty()) odd.insert(one.kernel);
  for (const RooflineKernel& one : run.facts.roofline.kernels)
    if (odd.contains(one.name)) time += one.time;
  return time;
}

bool starves_tensor_cores(const Run& run) {
  constexpr double kLeast = 0.01;
  const Interval& window = run.facts.measured.window;
  return static_cast<double>(time_of_odd_products(run)) >
         kLeast * static_cast<double>(window.end - window.start);
}

std::string arithmetic_advice(const Run& run, const Speech& speech) {
  const std::string sizes =
      !is_narrow(run) || starves_tensor_cores(run) ? sizes_advice(run, speech) : "";
  if (is_narrow(run))
    return sizes.empty() ? speech.say("What is left is for a faster GPU.")
                         : told(speech, "Try {}; what is left is for a faster GPU.", sizes);
  if (!may_turn(run, "precision"))
    return speech.say("Try a narrower type; what is left is for a faster GPU.");
  const bool tf32 = has_tf32(run) && !multiplies_in_tf32(run);
  return told(speech, "Try tensor cores: {}{}{}.", autocast_advice(run, speech),
              tf32 ? ", TF32" : "", sizes.empty() ? "" : ", " + sizes);
}

std::string memory_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (may_turn(run, "precision") && !is_narrow(run))
    tries.push_back(told(speech, "narrower types ({})", autocast_advice(run, speech)));
  if (may_attend_in_tiles(run))
    tries.push_back(speech.say("the flash kernel of attention (attention.kernel = flash)"));
  if (may_fuse(run)) tries.push_back(speech.say("torch.compile, which fuses kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  if (tries.empty()) return speech.say("What is left is for a GPU with faster memory.");
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

std::string idle_units_advice(const Run& run, const Speech& speech) {
  const bool starved = starves_tensor_cores(run);
  if (is_alone(run))
    return starved ? told(speech, "Try {}, more blocks, or more work for each.",
                          sizes_advice(run, speech))
                   : speech.say("Try more blocks, or more work for each.");
  std::vector<std::string> tries{speech.say("a larger batch")};
  if (starved) tries.push_back(sizes_advice(run, speech));
  if (may_fuse(run))
    tries.push_back(speech.say("torch.compile, which makes fewer and larger kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

// Ranks wait for one another.
std::string waiting_advice(const Run& run, const Speech& speech) {
  if (!is_pipeline(run))
    return speech.say("Look at the rank that waits least: it is the slow one.");
  return told(
      speech,
      "Of stages that are alike it is the bubble: try more micro-batches, or {}. Else look at the "
      "rank that waits least.",
      shorter_bubble(run.config, speech));
}

std::string slow_stage_advice(const Run& run, std::int32_t rank, bool is_last,
                              const Speech& speech) {
  std::string advice =
      is_last ? told(speech,
                     "Rank {} has the model's head beside its blocks: give it fewer of them.", rank)
              : told(speech, "Give rank {} fewer of the model's blocks.", rank);
  const std::string odd = is_last ? odd_sides(run) : "";
  if (!odd.empty())
    advice +=
        told(speech,
             " Pad what the head multiplies by, as the vocabulary, to a multiple of 8, best of "
             "64 ({} is none).",
             odd);
  return advice + speech.say(" More micro-batches help the others no further.");
}

std::string communication_advice(const Run& run, const Speech& speech) {
  if (is_alone(run)) return speech.say("Try larger buffers, or a faster link.");
  if (is_sharded(run))
    return run.program && sums_layers_over_network(run) ? tensor_advice(run, speech)
                                                        : fsdp_advice(run, speech);
  const std::string strategy = run.program ? run.config.word("parallel.strategy") : "ddp";
  if (strategy == "dp")
    return speech.say("Try DistributedDataParallel: a process a GPU, and sums by ring.");
  if (strategy == "tensor") return tensor_advice(run, speech);
  if (strategy == "pipeline") return pipeline_advice(run, speech);
  return ddp_advice(run, speech);
}

std::string launch_advice(const Run& run, const Speech& speech) {
  if (const auto full = cores_full_of_workers(run.facts.measured))
    return full_cores_advice(*full, speech);
  if (is_alone(run)) return speech.say("Try fewer and larger calls, or a CUDA graph.");
  if (is_set_on(run, "compile.cuda_graph"))
    return speech.say("Try a larger batch: the launches that are left are outside of the graphs.");
  return told(speech, "Try a larger batch, {}CUDA graphs, a fused optimizer.",
              is_set_on(run, "compile.fuse") ? "" : "torch.compile, ");
}

std::string lasting_advice(const Run& run, Part part, const Speech& speech) {
  const bool loads = part == Part::kIdleData || part == Part::kIdleLaunch;
  if (const auto full = cores_full_of_workers(run.facts.measured); full && loads)
    return " " + full_cores_advice(*full, speech);
  if (part == Part::kCompute && starves_tensor_cores(run)) {
    const std::string odd = untried_sizes(run);
    return odd.empty() ? "" : told(speech, " Not tried: {}.", sizes_words(odd, speech));
  }
  if (part != Part::kExposedCommunication || !run.program) return "";
  const std::string& strategy = run.config.word("parallel.strategy");
  if (strategy == "tensor")
    return told(speech, " Not tried: {}.",
                sums_layers_over_network(run)
                    ? speech.say("a faster link")
                    : speech.say("fewer ranks to a model, or a faster link"));
  if (gathers_over_network(run)) return told(speech, " Not tried: {}.", hybrid_words(run, speech));
  return "";
}

namespace {

struct Remedy {
  std::string words;
  std::string settings;  // empty: none that could be tried
};

// What a validation keeps that nobody needs.
std::vector<Remedy> remedies_of_validation(const Run& run, const Speech& speech) {
  std::vector<Remedy> all;
  if (!run.program || run.config.whole("validation.batches") == 0) return all;
  if (!run.config.flag("validation.no_grad"))
    all.push_back({speech.say("torch.no_grad() around the validation, which keeps the graph of "
                              "each batch without it (validation.no_grad)"),
                   "validation.no_grad=true"});
  if (run.config.word("validation.keep") != "item")
    all.push_back({speech.say("loss.item() in the validation's list, which keeps tensors on the "
                              "GPU (validation.keep)"),
                   "validation.keep=item"});
  return all;
}

// What makes room in the GPU that the run lacks.
std::vector<Remedy> remedies(const Run& run, const Speech& speech) {
  std::vector<Remedy> all = remedies_of_validation(run, speech);
  if (!run.program || run.config.whole("batch_size") > 1)
    all.push_back(
        {speech.say("a smaller batch, with more micro-batches to an update where that matters"),
         ""});
  if (may_turn(run, "checkpoint.enabled") && !is_set_on(run, "checkpoint.enabled"))
    all.push_back(
        {speech.say("activation checkpointing (checkpoint.enabled)"), "checkpoint.enabled=true"});
  // Whichever kernel it is, none keeps the probabilities.
  if (run.program && may_turn(run, "attention.kernel") &&
      run.config.word("attention.kernel") != "flash")
    all.push_back({speech.say(has_bf16(run) && is_narrow(run)
                                  ? "the flash kernel of attention (attention.kernel = flash)"
                                  : "the memory-efficient kernel of attention (attention.kernel = "
                                    "flash)"),
                   "attention.kernel=flash"});
  if (may_turn(run, "precision") && !is_narrow(run))
    all.push_back({told(speech, "narrower types ({})", autocast_advice(run, speech)),
                   has_bf16(run) ? "precision=bf16" : "precision=fp16 scaler.enabled=true"});
  if (!is_sharded(run))
    all.push_back({speech.say("sharding over several GPUs (fully_shard)"),
                   run.program && train::is_grid(run.config) ? "parallel.strategy=fsdp" : ""});
  if (may_share_layers(run)) {
    const int node = run.machine->gpu_count;
    all.push_back({told(speech,
                        "layers shared within each node, whose GPUs then have one batch in all "
                        "(tensor.degree = {})",
                        node),
                   fmt::format("tensor.degree={} tensor.sequence_parallel=true "
                               "tensor.loss_parallel=true",
                               node)});
  }
  return all;
}

// " Each alone makes room enough (SIMULATED): checkpoint.enabled=true; batch_size=8."
std::string fitting_words(const Run& run, const std::vector<Remedy>& all, const Speech& speech) {
  if (!run.program || !run.machine) return "";
  std::vector<std::string> settings, fitting;
  for (const Remedy& one : all)
    if (!one.settings.empty()) settings.push_back(one.settings);
  const std::int64_t batch = run.config.whole("batch_size");
  for (const std::string& one : settings)
    if (fits_with(run.config, *run.machine, one)) fitting.push_back(one);
  for (std::int64_t smaller = batch / 2; smaller > 0; smaller /= 2) {
    const std::string one = fmt::format("batch_size={}", smaller);
    if (!fits_with(run.config, *run.machine, one)) continue;
    fitting.push_back(one);
    break;
  }
  return fitting.empty() ? ""
                         : told(speech, " Each alone makes room enough (SIMULATED): {}.",
                                fmt::join(fitting, "; "));
}

}  // namespace

std::string out_of_memory_advice(const Run& run, const Speech& speech) {
  const std::vector<Remedy> all = remedies(run, speech);
  std::vector<std::string> tries;
  for (const Remedy& one : all) tries.push_back(one.words);
  return told(speech, "Try {}.", fmt::join(tries, "; ")) + fitting_words(run, all, speech);
}

std::string deadlock_advice(const sim::Deadlock& why, const Speech& speech) {
  return speech.say(why.missing_line == 0
                        ? "Give every rank as many batches, or wrap the loop in model.join(). "
                          "Times are of the steps before."
                        : "Let every rank come to the same collectives in the same order. Times "
                          "are of the steps before.");
}

}  // namespace trainscope::analysis
