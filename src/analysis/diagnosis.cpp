#include "analysis/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/metrics.h"
#include "analysis/operations.h"
#include "analysis/rank_caveat.h"
#include "analysis/runtime_calls.h"
#include "analysis/unit_times.h"
#include "base/units.h"
#include "program/idle_knobs.h"
#include "trace/same_collectives.h"
#include "train/parallel.h"

namespace trainscope::analysis {
namespace {

constexpr double kLeastShare = 0.05;
constexpr std::size_t kMost = 3;

using Calls = std::vector<std::pair<std::string, Nanos>>;

// Gaps of one cause, by start.
std::vector<IdleGap> gaps_of(const Run& run, Part cause) {
  std::vector<IdleGap> gaps;
  std::ranges::copy_if(run.gaps, std::back_inserter(gaps),
                       [&](const IdleGap& gap) { return gap.cause == cause; });
  std::ranges::sort(gaps, {}, &IdleGap::start);
  return gaps;
}

// How much of a span lies in the gaps, which do not overlap.
Nanos within(const trace::Span& span, const std::vector<IdleGap>& gaps) {
  Nanos sum = 0;
  auto gap = std::ranges::lower_bound(gaps, span.start, {}, &IdleGap::end);
  for (; gap != gaps.end() && gap->start < span.end(); ++gap)
    sum += std::max<Nanos>(0, std::min(gap->end, span.end()) - std::max(gap->start, span.start));
  return sum;
}

// The calls that the host was in meanwhile, but for launches, the longest first.
Calls calls_within(const Run& run, const std::vector<IdleGap>& gaps) {
  std::map<trace::NameId, Nanos> sums;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
    if (span.category != trace::Category::kHostApi && span.category != trace::Category::kHeld)
      return;
    if (!run.facts.measured.counts(run.trace->lanes()[span.lane])) return;
    sums[span.name] += within(span, gaps);
  });
  Calls calls;
  for (const auto& [name, nanos] : sums)
    if (nanos > 0 && !is_launch(run.trace->name(name)))
      calls.emplace_back(run.trace->name(name), nanos);
  std::ranges::sort(calls, std::ranges::greater{}, &std::pair<std::string, Nanos>::second);
  return calls;
}

bool asks_driver_for_memory(std::string_view call) {
  return call.find("Malloc") != std::string_view::npos ||
         call.find("Free") != std::string_view::npos ||
         call.find("HostAlloc") != std::string_view::npos;
}

// Where it is not launches that the host is busy with.
std::optional<Finding> explained_by_a_call(const Run& run, Finding finding, double per,
                                           const Speech& speech) {
  const std::vector<IdleGap> gaps = gaps_of(run, Part::kIdleLaunch);
  const Calls calls = calls_within(run, gaps);
  if (calls.empty()) return std::nullopt;
  const double nanos = static_cast<double>(calls.front().second) / per;
  constexpr double kMostOfIt = 0.4;
  if (nanos < kMostOfIt * finding.nanos) return std::nullopt;
  finding.why = told(speech, "{} of it the host is in {}", speech.number(format_nanos(nanos)),
                     calls.front().first);
  finding.advice =
      speech.say(asks_driver_for_memory(calls.front().first)
                     ? "First steps ask the driver for memory, which PyTorch keeps: leave them "
                       "out, and look why later ones still ask."
                     : "If that is the start of the process, leave it out of what you measure.");
  return finding;
}

// "empty (17.4 ms), view (10.2 ms) and cudnn_batch_norm (9.57 ms)": the host's calls of which a
// figure is largest. Empty where fewer than three have it.
std::string largest_calls(const Run& run, const Speech& speech,
                          double (*figure)(const OperationRow::Figures&)) {
  constexpr std::size_t kShown = 3;
  std::vector<OperationRow> rows = operation_rows(run.facts.measured);
  // What loads batches does not launch, and backward() waits for autograd's thread.
  std::erase_if(rows, [figure](const OperationRow& row) {
    return figure(row.a) <= 0 || row.where != Operation::Where::kHost || row.name == "backward" ||
           (row.category != trace::Category::kHostWork &&
            row.category != trace::Category::kHostApi);
  });
  if (rows.size() < kShown) return "";
  std::ranges::stable_sort(rows, std::greater<>(),
                           [figure](const OperationRow& row) { return figure(row.a); });
  const auto words = [&](std::size_t i) {
    return fmt::format("{} ({})", rows[i].shown, speech.number(format_nanos(figure(rows[i].a))));
  };
  return told(speech, "{}, {} and {}", words(0), words(1), words(2));
}

std::string launches_words(const Run& run, const Speech& speech) {
  const auto launches = value_of(run.metrics, "launch.calls");
  std::string words = speech.say("the host is behind with its launches");
  if (launches) {
    const std::string count = format_count(*launches);
    words = count == "1" ? speech.say("1 launch a step, and the host is behind with it")
                         : told(speech, "{} launches a step, and the host is behind with them",
                                speech.number(count));
  }
  const std::string longest = largest_calls(
      run, speech, [](const OperationRow::Figures& call) { return call.self - call.held; });
  return longest.empty() ? words : told(speech, "{}; itself it is longest in {}", words, longest);
}

bool is_set_on(const Run& run, std::string_view knob) {
  return run.program && run.config.flag(knob);
}

std::string data_advice(const Run& run, const Speech& speech) {
  if (run.program && run.config.whole("loader.num_workers") == 0)
    return speech.say(
        "The training thread loads by itself: try loader.num_workers (num_workers=…).");
  return speech.say(
      "Try more workers (num_workers), less work for a sample, or the data on the GPU.");
}

bool is_narrow(const Run& run) {
  if (!run.program) return false;
  const std::string& precision = run.config.word("precision");
  return precision == "fp16" || precision == "bf16" ||
         run.config.word("autocast.dtype") != "none" || run.config.word("model.dtype") != "fp32";
}

bool multiplies_in_tf32(const Run& run) {
  return run.program &&
         (run.config.word("precision") == "tf32" || run.config.flag("matmul.allow_tf32"));
}

// The GPU of an imported run is not described: it may have all.
bool has_bf16(const Run& run) {
  constexpr double kFirst = 8.0;
  return !run.machine || run.machine->gpu.compute_capability >= kFirst;
}
bool has_tf32(const Run& run) {
  return !run.machine || run.machine->gpu.tf32_flops_per_s > 0;
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

std::string arithmetic_advice(const Run& run, const Speech& speech) {
  if (!may_turn(run, "precision"))
    return speech.say("Try a narrower type; what is left is for a faster GPU.");
  if (is_narrow(run))
    return speech.say(
        "Try sizes that are multiples of 8, of 64 best; what is left is for a faster GPU.");
  const bool tf32 = has_tf32(run) && !multiplies_in_tf32(run);
  return told(speech, "Try tensor cores: {}{}, sizes that are multiples of 8.",
              autocast_advice(run, speech), tf32 ? ", TF32" : "");
}

bool may_turn_channels(const Run& run) {
  return !run.program ||
         (may_turn(run, "memory_format") && run.config.word("memory_format") != "channels_last");
}

// Fused programs are built for one GPU.
bool may_fuse(const Run& run) {
  return !run.program || (may_turn(run, "compile.fuse") && !is_set_on(run, "compile.fuse") &&
                          run.config.word("parallel.strategy") == "none");
}

// A workload that is no training: one kernel, copy or collective, again and again.
bool is_alone(const Run& run) {
  return run.program && run.config.word("workload") != "train";
}

std::string memory_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (may_turn(run, "precision") && !is_narrow(run))
    tries.push_back(told(speech, "narrower types ({})", autocast_advice(run, speech)));
  if (may_fuse(run)) tries.push_back(speech.say("torch.compile, which fuses kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  if (tries.empty()) return speech.say("What is left is for a GPU with faster memory.");
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

std::string idle_units_advice(const Run& run, const Speech& speech) {
  if (is_alone(run)) return speech.say("Try more blocks, or more work for each.");
  std::vector<std::string> tries{speech.say("a larger batch")};
  if (may_fuse(run))
    tries.push_back(speech.say("torch.compile, which makes fewer and larger kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

// A trace of PyTorch's profiler is known by FSDP's marks.
bool is_sharded(const Run& run) {
  return run.program ? run.config.word("parallel.strategy") == "fsdp" : has_unit_marks(*run.trace);
}

// All ranks share the parameters, and they fill several nodes.
bool gathers_over_network(const Run& run) {
  if (!run.program || !run.machine || train::is_hybrid(run.config)) return false;
  const std::int64_t ranks = run.config.whole("parallel.world_size"), node = run.machine->gpu_count;
  return ranks > node && ranks % node == 0;
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

std::string ddp_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries{speech.say("other buckets (bucket_cap_mb)"),
                                 speech.say("no_sync() between updates")};
  if (run.program
          ? run.config.word("model.dtype") == "fp32" && run.config.word("ddp.comm_hook") == "none"
          : !sums_narrow(*run.trace))
    tries.push_back(speech.say("gradients in BF16 on their way (bf16_compress_hook)"));
  tries.push_back(speech.say("a faster link"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

bool is_pipeline(const Run& run) {
  return run.program && run.config.word("parallel.strategy") == "pipeline";
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

std::string communication_advice(const Run& run, const Speech& speech) {
  if (is_alone(run)) return speech.say("Try larger buffers, or a faster link.");
  if (is_sharded(run)) return fsdp_advice(run, speech);
  const std::string strategy = run.program ? run.config.word("parallel.strategy") : "ddp";
  if (strategy == "dp")
    return speech.say("Try DistributedDataParallel: a process a GPU, and sums by ring.");
  if (strategy == "tensor")
    return told(
        speech,
        "Its sums stand between layers, and hide behind nothing: try fewer ranks to a model, {}or "
        "a faster link.",
        is_narrow(run) || !has_bf16(run) ? "" : speech.say("activations in BF16, "));
  if (strategy == "pipeline") return pipeline_advice(run, speech);
  return ddp_advice(run, speech);
}

// An imported trace of fewer ranks than take part in its collectives.
bool lacks_ranks(const Run& run) {
  return !run.program && analysis::lacks_ranks(*run.trace);
}

bool has_host(const trace::Trace& trace) {
  bool found = false;
  trace::for_each(trace.lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    found |= lane.kind == trace::LaneKind::kHostThread;
  });
  return found;
}

std::string launch_advice(const Run& run, const Speech& speech) {
  if (is_alone(run)) return speech.say("Try fewer and larger calls, or a CUDA graph.");
  if (is_set_on(run, "compile.cuda_graph"))
    return speech.say("Try a larger batch: the launches that are left are outside of the graphs.");
  return told(speech, "Try a larger batch, {}CUDA graphs, a fused optimizer.",
              is_set_on(run, "compile.fuse") ? "" : "torch.compile, ");
}

std::string compute_why(const Run& run, const Speech& speech, std::string& advice) {
  const auto share = [&](const char* metric) { return value_of(run.metrics, metric).value_or(0); };
  const double compute = share("bound.compute"), memory = share("bound.memory"),
               overhead = share("bound.overhead");
  const auto percent = [](double part) { return fmt::format("{:.0f}", 100 * part); };
  if (compute + memory + overhead <= 0) {
    const std::string longest = largest_calls(
        run, speech, [](const OperationRow::Figures& call) { return call.self_kernels; });
    advice = speech.say(longest.empty() ? "Look under Operations which kernels take it."
                                        : "Look under Operations for the rest.");
    return longest.empty() ? speech.say("work, no waiting")
                           : told(speech, "longest for {}", longest);
  }
  if (overhead >= compute && overhead >= memory) {
    advice = idle_units_advice(run, speech);
    return told(speech,
                "{} % of it in kernels too short, or of too few blocks, for arithmetic or memory's "
                "bandwidth to limit them",
                percent(overhead));
  }
  if (memory >= compute) {
    advice = memory_advice(run, speech);
    return told(speech, "{} % of it in kernels that memory's bandwidth limits", percent(memory));
  }
  advice = arithmetic_advice(run, speech);
  return told(speech, "{} % of it in kernels that arithmetic limits", percent(compute));
}

void explain(const Run& run, Finding& finding, double per, const Speech& speech) {
  switch (finding.part) {
    case Part::kCompute:
      finding.why = compute_why(run, speech, finding.advice);
      return;
    case Part::kExposedCommunication:
      finding.why = speech.say("collectives with no kernel beside them");
      if (lacks_ranks(run))
        finding.why += speech.say(
            ", in which waits for ranks are that this trace does not have: a folder with the "
            "traces of all tells them apart");
      finding.advice = communication_advice(run, speech);
      return;
    case Part::kExposedCopy:
      finding.why = speech.say("copies with no kernel beside them");
      finding.advice =
          speech.say(is_set_on(run, "transfer.non_blocking")
                         ? "Try a stream of their own, ahead of the step that needs them."
                         : "Try pinned memory with non_blocking=True, and a stream of their own.");
      return;
    case Part::kIdleCopy:
      finding.why = speech.say("the host stages pageable memory, chunk by chunk");
      finding.advice = speech.say("Try pin_memory=True with non_blocking=True.");
      return;
    case Part::kIdleData:
      finding.why = speech.say("the next batch is not there");
      finding.advice = data_advice(run, speech);
      return;
    case Part::kIdleStream:
      finding.why = speech.say("a stream waits for an event of another one");
      finding.advice = speech.say("Look whether it has to wait there, and for so much.");
      return;
    case Part::kIdleCollective:
      finding.why = speech.say("another rank comes later");
      finding.advice = waiting_advice(run, speech);
      return;
    case Part::kIdleSync:
      finding.why = speech.say("the host waits for the GPU, and then the GPU for the host");
      finding.advice =
          speech.say("Look for .item(), .cpu() and print(loss), and do them now and then.");
      return;
    case Part::kIdleLaunch:
      if (const auto by_call = explained_by_a_call(run, finding, per, speech)) {
        finding = *by_call;
        return;
      }
      if (!has_host(*run.trace)) {
        finding.why = speech.say("nothing tells what the host did meanwhile");
        finding.advice = speech.say("Record it too: ProfilerActivity.CPU beside CUDA.");
        return;
      }
      finding.why = launches_words(run, speech);
      finding.advice = launch_advice(run, speech);
      return;
    case Part::kIdleGap:
      finding.why = speech.say(
          "a kernel ends, and the next one, which was launched in time, has yet to begin");
      finding.advice = speech.say("Try fewer and larger kernels: torch.compile, fused operations.");
      return;
    case Part::kMemset:
    case Part::kOnCpu:
      return;
  }
}

}  // namespace

std::vector<Finding> diagnose(const Run& run, const Speech& speech) {
  const Partition& partition = run.facts.partition;
  const double per = run.facts.measured.per();
  double whole = 0;
  for (const Nanos time : partition.time) whole += static_cast<double>(time) / per;
  std::vector<Finding> findings;
  if (whole <= 0 || partition[Part::kOnCpu] > 0) return findings;
  for (std::size_t i = 0; i < kPartCount; ++i) {
    Finding finding;
    finding.part = static_cast<Part>(i);
    finding.nanos = static_cast<double>(partition[finding.part]) / per;
    finding.share = finding.nanos / whole;
    if (finding.share < kLeastShare) continue;
    const double rest = whole - finding.nanos;
    if (finding.part != Part::kCompute && rest > 0) finding.most_gain = whole / rest;
    findings.push_back(finding);
  }
  std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::nanos);
  const auto kernels = std::ranges::find(findings, Part::kCompute, &Finding::part);
  if (kernels != findings.end() && kernels != findings.begin()) findings.erase(kernels);
  if (findings.size() > kMost) findings.resize(kMost);
  for (Finding& finding : findings) explain(run, finding, per, speech);
  return findings;
}

namespace {

std::string capitalised(std::string words) {
  if (!words.empty())
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

}  // namespace

std::string headline(const Finding& finding, const Speech& speech) {
  const auto time = [&](double nanos) { return speech.number(format_nanos(nanos)); };
  std::string words = told(speech, "{}: {} of {}", speech.say(name_of(finding.part)),
                           time(finding.nanos), time(finding.nanos / finding.share));
  if (finding.most_gain > 0)
    words = told(
        speech, "{}; without it at most {} times as fast", words,
        speech.number(fmt::format("{:.{}f}", finding.most_gain, finding.most_gain < 10 ? 1 : 0)));
  return capitalised(words);
}

std::string sentence(const Finding& finding) {
  const std::string why = capitalised(finding.why);
  return why + (why.empty() ? "" : ". ") + finding.advice;
}

}  // namespace trainscope::analysis
