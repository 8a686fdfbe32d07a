#include "analysis/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>
#include <vector>

#include "analysis/number_types.h"
#include "analysis/unit_times.h"
#include "program/idle_knobs.h"
#include "trace/same_collectives.h"
#include "train/parallel.h"

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

// All ranks share the parameters, and they fill several nodes.
bool gathers_over_network(const Run& run) {
  return fills_nodes(run) && !train::is_hybrid(run.config);
}

std::string fsdp_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (gathers_over_network(run))
    tries.push_back(told(
        speech,
        "hybrid sharding, whose all-gathers stay within a node (fsdp.shard_degree = {}), where "
        "there is memory for it",
        run.machine->gpu_count));
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
              "{}or a faster link.",
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

// The more stages a GPU has in turn, the more is sent.
std::string pipeline_advice(const Run& run, const Speech& speech) {
  const std::string& schedule = run.config.word("pipeline.schedule");
  const std::string more = schedule == "gpipe"              ? "1F1B, "
                           : schedule == "interleaved_1f1b" ? speech.say("fewer stages a GPU, ")
                                                            : "";
  return told(speech, "Try more micro-batches, {}or a faster link.", more);
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

// Lengths of matrix products' rows that tensor cores read badly: "50257, 1793". Imported runs do
// not tell theirs. A convolution's are its windows', which nobody chooses.
std::string odd_sides(const Run& run) {
  constexpr std::int64_t kWhole = 8;
  constexpr std::size_t kShown = 3;
  std::set<std::int64_t> odd;
  if (run.program)
    for (const program::Operation& one : run.program->operations) {
      if (one.kind != program::OperationKind::kGemm ||
          std::holds_alternative<program::Convolution>(one.function))
        continue;
      for (const std::int64_t side : row_lengths(one))
        if (side >= kWhole && side % kWhole != 0) odd.insert(side);
    }
  std::vector<std::int64_t> shown(odd.begin(), odd.end());
  if (shown.size() > kShown) shown.resize(kShown);
  return fmt::format("{}", fmt::join(shown, ", "));
}

// "sizes that are multiples of 8, of 64 best (1793 is none)"; empty where all are.
std::string sizes_advice(const Run& run, const Speech& speech) {
  const std::string odd = odd_sides(run);
  return odd.empty() ? ""
                     : told(speech, "sizes that are multiples of 8, of 64 best ({} is none)", odd);
}

// Where PyTorch has a flash kernel for the run's type and GPU (FlashAttention-2: 8.0 and later).
bool may_attend_in_tiles(const Run& run) {
  return run.program && may_turn(run, "attention.kernel") && has_bf16(run) && is_narrow(run) &&
         run.config.word("attention.kernel") != "flash";
}

}  // namespace

bool sums_layers_over_network(const Run& run) {
  if (run.config.word("parallel.strategy") != "tensor" || !fills_nodes(run)) return false;
  const std::int64_t degree = run.config.whole("tensor.degree");
  return degree == 0 || degree > run.machine->gpu_count;
}

bool is_pipeline(const Run& run) {
  return run.program && run.config.word("parallel.strategy") == "pipeline";
}

std::string data_advice(const Run& run, const Speech& speech) {
  if (run.program && run.config.whole("loader.num_workers") == 0)
    return speech.say(
        "The training thread loads by itself: try loader.num_workers (num_workers=…).");
  return speech.say(
      "Try more workers (num_workers), less work for a sample, or the data on the GPU.");
}

bool starves_tensor_cores(const Run& run) {
  return is_narrow(run) && !odd_sides(run).empty();
}

std::string arithmetic_advice(const Run& run, const Speech& speech) {
  const std::string sizes = sizes_advice(run, speech);
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
  if (is_sharded(run)) return fsdp_advice(run, speech);
  const std::string strategy = run.program ? run.config.word("parallel.strategy") : "ddp";
  if (strategy == "dp")
    return speech.say("Try DistributedDataParallel: a process a GPU, and sums by ring.");
  if (strategy == "tensor") return tensor_advice(run, speech);
  if (strategy == "pipeline") return pipeline_advice(run, speech);
  return ddp_advice(run, speech);
}

std::string launch_advice(const Run& run, const Speech& speech) {
  if (is_alone(run)) return speech.say("Try fewer and larger calls, or a CUDA graph.");
  if (is_set_on(run, "compile.cuda_graph"))
    return speech.say("Try a larger batch: the launches that are left are outside of the graphs.");
  return told(speech, "Try a larger batch, {}CUDA graphs, a fused optimizer.",
              is_set_on(run, "compile.fuse") ? "" : "torch.compile, ");
}

std::string out_of_memory_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (!run.program || run.config.whole("batch_size") > 1)
    tries.push_back(
        speech.say("a smaller batch, with more micro-batches to an update where that matters"));
  if (may_turn(run, "checkpoint.enabled") && !is_set_on(run, "checkpoint.enabled"))
    tries.push_back(speech.say("activation checkpointing (checkpoint.enabled)"));
  if (may_attend_in_tiles(run))
    tries.push_back(speech.say("the flash kernel of attention (attention.kernel = flash)"));
  if (may_turn(run, "precision") && !is_narrow(run))
    tries.push_back(told(speech, "narrower types ({})", autocast_advice(run, speech)));
  if (!is_sharded(run)) tries.push_back(speech.say("sharding over several GPUs (fully_shard)"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

}  // namespace trainscope::analysis
