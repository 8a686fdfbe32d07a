// Of ranks: what they send, and how long they wait for one another.

#include "analysis/advice/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/advice_words.h"
#include "analysis/causes/critical_path.h"
#include "analysis/metrics/number_types.h"
#include "analysis/steps/intervals.h"
#include "base/text.h"
#include "trace/collective_kind.h"
#include "trace/same_collectives.h"
#include "train/parallel/parallel.h"
#include "train/parallel/pipeline_model.h"
#include "train/settings/train_settings.h"

namespace trainscope::analysis {
namespace {

// All gradients are ready when the one compiled backward ends.
bool sums_behind_backward(const Run& run) {
  return run.program && may_turn(run, "compile.optimize_ddp") &&
         !run.config.flag("compile.optimize_ddp");
}

// Its ranks are on several nodes, all of them.
bool fills_nodes(const Run& run) {
  if (!run.program || !run.machine) return false;
  const std::int64_t ranks = run.config.whole("parallel.world_size"), node = run.machine->gpu_count;
  return ranks > node && ranks % node == 0;
}

// Whether a collective of it, of one kind or of any, is in a type of 16 bits or fewer.
bool is_narrow_in(const trace::Trace& trace, std::optional<trace::CollectiveKind> kind = {}) {
  constexpr std::array<std::string_view, 4> kNarrow{"Half", "BFloat16", "Float8_e4m3fn",
                                                    "Float8_e5m2"};
  bool narrow = false;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(trace, span);
    narrow = narrow || (one && std::ranges::find(kNarrow, one->type) != kNarrow.end() &&
                        (!kind || trace::kind_of(one->operation) == kind));
  });
  return narrow;
}

bool gathers_wide(const Run& run) {
  return run.program ? has_bf16(run) && run.config.word("fsdp.param_dtype") != "bf16"
                     : !is_narrow_in(*run.trace, trace::CollectiveKind::kAllGather);
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
  if (gathers_wide(run)) tries.push_back(speech.say("gathering in BF16 (MixedPrecisionPolicy)"));
  if (!is_sharded(run))
    tries.push_back(
        speech.say("parameters that stay whole after forward (reshard_after_forward=False; stage 2 "
                   "of ZeRO) where there is memory for it"));
  else if (!run.program || run.config.flag("fsdp.reshard_after_forward"))
    tries.push_back(speech.say("reshard_after_forward=False where there is memory for it"));
  tries.push_back(speech.say("a larger batch"));
  tries.push_back(speech.say("a faster link"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
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
          : !is_narrow_in(*run.trace))
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
  return told(speech, "Try more micro-batches ({}), {}or a faster link.",
              more_microbatches(run.config), more + pipelines_words(run, speech));
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

double sums_in_turn(const Run& run) {
  if (!is_pipeline(run) || !train::has_pipelines(run.config)) return 0;
  constexpr double kLeast = 0.05;
  const trace::Trace& trace = *run.trace;
  const CriticalPath path = critical_path(run.facts.measured);
  std::set<std::int32_t> stages;
  Nanos sums = 0, whole = 0;
  for (const PathPiece& piece : path.pieces) {
    whole += piece.end - piece.start;
    if (piece.span == trace::kNone || piece.part != PathPart::kCommunication) continue;
    const trace::Span& span = trace.spans()[piece.span];
    const trace::CollectiveDetail* one = trace::collective_of(trace, span);
    if (!one || one->operation != "allreduce") continue;
    stages.insert(trace.lanes()[span.lane].rank % run.program->gpus_of_batch);
    sums += piece.end - piece.start;
  }
  if (stages.size() < 2 || static_cast<double>(sums) < kLeast * static_cast<double>(whole))
    return 0;
  return static_cast<double>(sums) / path.steps;
}

namespace {

// Sums that follow one another take less where they are of less, and of the time where more is
// computed for each.
std::string sums_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (run.config.word("model.dtype") == "fp32" && run.config.word("ddp.comm_hook") == "none")
    tries.push_back(speech.say("gradients in BF16 on their way (bf16_compress_hook)"));
  tries.push_back(speech.say("a larger batch"));
  tries.push_back(speech.say("a faster link"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

}  // namespace

// Ranks wait for one another.
std::string waiting_advice(const Run& run, double in_turn, const Speech& speech) {
  if (!is_pipeline(run))
    return speech.say("Look at the rank that waits least: it is the slow one.");
  const std::string sums = in_turn > 0 ? sums_advice(run, speech) + " " : "";
  return sums +
         told(speech,
              "Of stages that are alike it is the bubble: try more micro-batches ({}), or {}. "
              "Else look at the rank that waits least.",
              more_microbatches(run.config), shorter_bubble(run.config, speech));
}

namespace {

// What makes these ranks the slow ones; empty where they have more blocks than the others. Where
// they have no more, something else does.
std::string why_slow(const std::vector<int>& blocks, std::int32_t rank, bool is_last,
                     const Speech& speech) {
  const auto own = static_cast<std::size_t>(rank) % blocks.size();
  const int most = *std::ranges::max_element(blocks);
  if (is_last && most > 0)
    return blocks[own] > 0
               ? told(speech, "Rank {} has the model's head beside its blocks.", rank)
               : told(speech,
                      "Rank {} has the model's head and none of its blocks: the head alone is the "
                      "longest stage.",
                      rank);
  if (blocks[own] < most)
    return told(speech,
                "Look at what rank {} does longer than they: its kernels, its host, its batches.",
                rank);
  return "";
}

std::int64_t stages_a_rank(const program::Config& config) {
  return config.word("pipeline.schedule") == "interleaved_1f1b"
             ? config.whole("pipeline.stages_per_rank")
             : 1;
}

}  // namespace

// Where a model is cut no knob says: between blocks, so that the largest share of arithmetic is as
// small as can be (train/parallel/stages.h).
std::string slow_stage_advice(const Run& run, const std::vector<std::int32_t>& ranks,
                              const Speech& speech) {
  const int stages = run.program->gpus_of_batch;
  const std::vector<int> blocks =
      train::blocks_of_ranks(run.config, train::train_settings(run.config, *run.machine));
  const std::int32_t rank = ranks.front();
  const bool is_last = rank % stages == stages - 1;
  const bool is_straggler =
      std::ranges::find(ranks, run.config.whole("straggler.rank")) != ranks.end();
  std::string advice =
      is_straggler ? told(speech,
                          "Look at what rank {} does longer than they: its kernels, its host, its "
                          "batches.",
                          run.config.whole("straggler.rank"))
                   : why_slow(blocks, rank, is_last, speech);
  if (stages > 2 && !is_straggler)
    advice += (advice.empty() ? "" : " ") +
              told(speech,
                   "Blocks stay whole, and between them {} stages are cut as evenly as can be: try "
                   "fewer stages (pipeline.degree).",
                   stages * stages_a_rank(run.config));
  const std::string odd = is_last ? odd_sides(run) : "";
  if (!odd.empty())
    advice +=
        told(speech,
             " Pad what the head multiplies by, as the vocabulary, to a multiple of 8, best of "
             "64 ({} is none).",
             odd);
  return advice;
}

namespace {

// Of a trace, how long a GPU only communicates, by what it does.
struct Exposed {
  trace::CollectiveKind kind = trace::CollectiveKind::kAllReduce;
  bool of_tensor_group = false;  // of ranks that share layers, as their group is called
  auto operator<=>(const Exposed&) const = default;
};

// As Megatron-LM calls its groups (megatron/core/parallel_state.py), and as PyTorch's meshes do
// whose dimensions a job calls "tp".
bool is_tensor_group(std::string_view group) {
  return contains(group, "TENSOR") || contains(group, "mesh_tp");
}

// What it does longest with no kernel beside it; nothing where nothing tells.
std::optional<Exposed> most_exposed(const Run& run) {
  const Measured& measured = run.facts.measured;
  std::map<Exposed, std::vector<Interval>> times;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(*run.trace, span);
    if (!one || !measured.counts(run.trace->lanes()[span.lane])) return;
    const Interval clipped{std::max(span.start, measured.window.start),
                           std::min(span.end(), measured.window.end)};
    const auto kind = trace::kind_of(one->operation);
    if (kind && clipped.start < clipped.end)
      times[{*kind, is_tensor_group(one->group)}].push_back(clipped);
  });
  std::optional<Exposed> most;
  Nanos longest = 0;
  for (auto& [what, of_kind] : times) {
    const Nanos time = IntervalSet(std::move(of_kind)).without(measured.kernels).length();
    if (time <= longest) continue;
    longest = time;
    most = what;
  }
  return most;
}

// Of a trace, which does not say what job it is of.
std::string recorded_advice(const Run& run, const Speech& speech) {
  using Kind = trace::CollectiveKind;
  const std::optional<Exposed> most = most_exposed(run);
  if (most && most->of_tensor_group) return tensor_advice(run, speech);
  if (most && most->kind == Kind::kAllToAll)
    return speech.say(
        "Its all-to-alls stand between layers, as those of experts do: try to keep each group of "
        "experts within a node, to send in fewer bits, to compute something else meanwhile (shared "
        "experts, another micro-batch), or a faster link.");
  if (most && most->kind == Kind::kSendReceive)
    return speech.say(
        "Its messages are from one rank to another, as those of a pipeline's stages: try more "
        "micro-batches, or a faster link.");
  const bool is_of_parts =
      most && (most->kind == Kind::kAllGather || most->kind == Kind::kReduceScatter);
  return is_sharded(run) || is_of_parts ? fsdp_advice(run, speech) : ddp_advice(run, speech);
}

}  // namespace

std::string communication_advice(const Run& run, const Speech& speech) {
  if (!run.program) return recorded_advice(run, speech);
  if (is_alone(run)) return speech.say("Try larger buffers, or a faster link.");
  if (is_sharded(run))
    return sums_layers_over_network(run) ? tensor_advice(run, speech) : fsdp_advice(run, speech);
  const std::string& strategy = run.config.word("parallel.strategy");
  if (strategy == "dp")
    return speech.say("Try DistributedDataParallel: a process a GPU, and sums by ring.");
  if (strategy == "tensor") return tensor_advice(run, speech);
  if (strategy == "pipeline") return pipeline_advice(run, speech);
  return ddp_advice(run, speech);
}

std::string deadlock_advice(const sim::Deadlock& why, const Speech& speech) {
  return speech.say(why.missing_line == 0
                        ? "Give every rank as many batches, or wrap the loop in model.join(). "
                          "Times are of the steps before."
                        : "Let every rank come to the same collectives in the same order. Times "
                          "are of the steps before.");
}

}  // namespace trainscope::analysis
