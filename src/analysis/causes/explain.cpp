#include "analysis/causes/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "analysis/advice/advice.h"
#include "analysis/advice/advice_words.h"
#include "analysis/advice/kernel_advice.h"
#include "analysis/caveats/profiler_words.h"
#include "analysis/caveats/rank_caveat.h"
#include "analysis/views/operations.h"
#include "base/text.h"
#include "base/units.h"
#include "trace/api_name.h"
#include "trace/python_frame.h"

namespace trainscope::analysis {
namespace {

// Where it is not launches that the host is busy with.
void explain_other_code(const HostCause& cause, Finding& finding, const Speech& speech) {
  const std::string nanos = speech.number(format_nanos(cause.nanos));
  switch (cause.kind) {
    case HostCause::Kind::kCall:
      finding.why = told(speech, "{} of it the host is in {}", nanos, cause.name);
      finding.advice =
          speech.say(trace::asks_for_memory(cause.name)
                         ? "First steps ask the driver for memory, which PyTorch keeps: leave them "
                           "out, and look why later ones still ask."
                         : "If that is the start of the process, leave it out of what you "
                           "measure.");
      return;
    case HostCause::Kind::kFrame:
      finding.why = cause.caller.empty()
                        ? told(speech, "{} of it the host is in {}", nanos, cause.name)
                        : told(speech, "{} of it the host is in {}, called by {}", nanos,
                               cause.name, cause.caller);
      finding.advice = speech.say(
          "That is your program's own Python, which calls nothing of PyTorch's: do it less often, "
          "ahead of time, or in another process.");
      return;
    case HostCause::Kind::kMark:
      finding.why =
          told(speech, "{} of it the host is in {}, and there in no call that was recorded", nanos,
               cause.name);
      finding.advice =
          speech.say("Look what your program does there: with_stack=True names its functions.");
      return;
    default:
      finding.why = told(speech, "{} of it the host is in no call that was recorded", nanos);
      finding.advice = speech.say(
          "Look what your program does between its calls: record_function() around its parts, or "
          "with_stack=True, tells.");
  }
}

using Figure = double (*)(const OperationRow::Figures&);

// "empty (17.4 ms)": those of which a figure is largest, at most three.
std::vector<std::string> largest_of(std::vector<OperationRow> rows, Figure figure,
                                    const Speech& speech) {
  constexpr std::size_t kShown = 3;
  std::erase_if(rows, [figure](const OperationRow& row) { return figure(row.a) <= 0; });
  std::ranges::stable_sort(rows, std::greater<>(),
                           [figure](const OperationRow& row) { return figure(row.a); });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i)
    words.push_back(
        fmt::format("{} ({})", rows[i].shown, speech.number(format_nanos(figure(rows[i].a)))));
  return words;
}

std::string three_words(const std::vector<std::string>& three, const Speech& speech) {
  return told(speech, "{}, {} and {}", three[0], three[1], three[2]);
}

// "empty (17.4 ms), view (10.2 ms) and cudnn_batch_norm (9.57 ms)": the host's calls of which a
// figure is largest. Empty where fewer than three have it.
std::string largest_calls(const Run& run, const Speech& speech, Figure figure) {
  std::vector<OperationRow> rows = operation_rows(run.facts.measured);
  // What loads batches does not launch, and a function of Python's may wait for another thread.
  std::erase_if(rows, [](const OperationRow& row) {
    return trace::is_python_frame(row.name) || row.where != Operation::Where::kHost ||
           (row.category != trace::Category::kHostWork &&
            row.category != trace::Category::kHostApi);
  });
  const std::vector<std::string> largest = largest_of(std::move(rows), figure, speech);
  return largest.size() < 3 ? "" : three_words(largest, speech);
}

// The kernels themselves, where no operator of the host says what they are of.
std::string longest_kernels(const Run& run, const Speech& speech) {
  std::vector<OperationRow> rows = operation_rows(run.facts.measured);
  std::erase_if(rows, [](const OperationRow& row) {
    return row.where != Operation::Where::kGpu || !trace::is_kernel(row.category);
  });
  const std::vector<std::string> longest = largest_of(
      std::move(rows), [](const OperationRow::Figures& kernel) { return kernel.total; }, speech);
  return longest.size() < 3 ? joined(longest) : three_words(longest, speech);
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

// An imported trace of fewer ranks than take part in its collectives.
bool lacks_ranks(const Run& run) {
  return !run.program && analysis::lacks_ranks(*run.trace);
}

// "; the optimizer's take 6.04 ms, and the host is only 378 us ahead": what else an eye is to be
// kept on where kernels take the time.
std::string beside_limits(const Run& run, const Speech& speech) {
  constexpr double kMuch = 0.2, kHardly = 0.05;
  const auto metric = [&](const char* name) { return value_of(run.metrics, name).value_or(0); };
  const double optimizer = metric("time.optimizer"), step = metric("time.step");
  std::string words;
  if (optimizer > kMuch * metric("gpu.busy"))
    words = told(speech, "; the optimizer's take {}", speech.number(format_nanos(optimizer)));
  const auto lead = value_of(run.metrics, "host.lead");
  if (lead && *lead < kHardly * step)
    words += told(speech, "; the host is only {} ahead, and next where kernels get faster",
                  speech.number(format_nanos(*lead)));
  return words;
}

// Next to all of the time is the kernels'.
bool hardly_waits(const Run& run) {
  constexpr double kHardly = 0.05;
  double whole = 0;
  for (const Nanos time : run.facts.partition.time) whole += static_cast<double>(time);
  return whole - static_cast<double>(run.facts.partition[Part::kCompute]) < kHardly * whole;
}

// What limits the kernels of a step: each a share of their time, of which the rest is of kernels
// that nothing is known of. Of a step's overhead only what lies in kernels is theirs: the rest has
// none at work.
struct Limits {
  double compute = 0, memory = 0, latency = 0, overhead = 0;
  double most() const { return std::max({compute, memory, latency, overhead}); }
};

Limits limits_of(const Facts& facts) {
  const Roofline& roofline = facts.roofline;
  const Nanos kernels = facts.measured.kernels.length();
  if (!roofline.known() || !facts.measured.machine || kernels <= 0) return {};
  using machine::Bound;
  const Nanos compute = roofline[Bound::kCompute], memory = roofline[Bound::kMemory],
              latency = roofline[Bound::kLatency];
  const Nanos explained = compute + memory + latency;
  const Nanos unknown = facts.measured.window.end - facts.measured.window.start - explained -
                        roofline[Bound::kOverhead];
  const auto share = [&](Nanos time) {
    return static_cast<double>(std::max<Nanos>(0, time)) / static_cast<double>(kernels);
  };
  return {share(compute), share(memory), share(latency), share(kernels - explained - unknown)};
}

// What limits most of the time, and what there is to try.
std::string limit_words(const Run& run, const Limits& limits, const Speech& speech,
                        std::string& advice) {
  const auto percent = [&] { return fmt::format("{:.0f}", 100 * limits.most()); };
  if (limits.overhead >= limits.most()) {
    advice = idle_units_advice(run, speech);
    return told(speech,
                "{} % of it in kernels too short, or of too few blocks, for arithmetic or memory's "
                "bandwidth to limit them",
                percent());
  }
  if (limits.latency >= limits.most()) {
    advice = latency_advice(run, speech);
    return told(speech,
                "{} % of it in kernels that latency limits: too little is on its way at once to "
                "keep arithmetic or memory busy",
                percent()) +
           in_flight_words(run, speech);
  }
  if (limits.memory >= limits.most()) {
    advice = memory_advice(run, speech);
    return told(speech, "{} % of it in kernels that memory's bandwidth limits", percent());
  }
  advice = arithmetic_advice(run, speech);
  std::string limited = told(speech, "{} % of it in kernels that arithmetic limits", percent());
  if (starves_tensor_cores(run)) {
    const double odd = static_cast<double>(time_of_odd_products(run)) / run.facts.measured.per();
    limited += told(speech,
                    "; products whose rows of {} feed tensor cores badly take {} in all, a part of "
                    "which padding saves",
                    odd_sides(run), speech.number(format_nanos(odd)));
  }
  return limited;
}

std::string compute_why(const Run& run, const Speech& speech, std::string& advice) {
  const Limits limits = limits_of(run.facts);
  if (limits.most() <= 0) {
    const std::string longest = largest_calls(
        run, speech, [](const OperationRow::Figures& call) { return call.self_kernels; });
    const std::string kernels = run.program ? "" : longest_kernels(run, speech);
    advice = speech.say(longest.empty() && kernels.empty()
                            ? "Look under Operations which kernels take it."
                            : "Look under Operations for the rest.");
    if (!longest.empty()) return told(speech, "longest for {}", longest);
    if (!kernels.empty()) return told(speech, "longest in {}", kernels);
    return hardly_waits(run) ? speech.say("work, no waiting") : "";
  }
  const std::string words = limit_words(run, limits, speech, advice);
  advice = uneven_advice(run, speech) + advice;
  return words + uneven_words(run, speech) + beside_limits(run, speech);
}

std::string wait_advice(const Run& run, const std::string& call, const Speech& speech) {
  if (is_set_on(run, "launch.sync_each"))
    return speech.say("Do not synchronise after each launch (launch.sync_each=false).");
  return speech.say(
      call.find("DeviceSynchronize") != std::string::npos
          ? "Look for torch.cuda.synchronize(), and call it only around what you measure."
          : "Look for .item(), .cpu() and print(loss), and do them now and then.");
}

// The host synchronises: which call of it waits longest in these gaps. Where that is why the GPU
// waits for launches, it is said there what to do.
void explain_waiting_host(const Run& run, Finding& finding, const HostCause& host,
                          const Speech& speech) {
  const std::string call = longest_call(run, Part::kIdleSync);
  if (host.kind == HostCause::Kind::kWaits && call == host.name) {
    finding.why =
        speech.say("these waits themselves: until the host has noticed that the GPU is done");
    return;
  }
  finding.why = speech.say("the host waits for the GPU, and then the GPU for the host");
  if (!call.empty()) finding.why += told(speech, ", longest in {}", call);
  finding.advice = wait_advice(run, call, speech);
}

// The GPU waits for a launch.
void explain_launches(const Run& run, Finding& finding, const HostCause& cause,
                      const Speech& speech) {
  if (cause.is_elsewhere()) return explain_other_code(cause, finding, speech);
  if (cause.kind == HostCause::Kind::kWaits) {
    finding.why = told(speech,
                       "the host waits in {} until the GPU has nothing left to do, and launches "
                       "only then",
                       cause.name);
    finding.advice = wait_advice(run, cause.name, speech);
    return;
  }
  if (cause.kind == HostCause::Kind::kUnrecorded) {
    finding.why = speech.say("nothing tells what the host did meanwhile");
    finding.advice = speech.say("Record it too: ProfilerActivity.CPU beside CUDA.");
    return;
  }
  finding.why = launches_words(run, speech) + profiler_words(run, speech);
  if (const auto full = cores_full_of_workers(run.facts.measured))
    finding.why += full_cores_words(*full, speech);
  finding.advice = profiler_advice(run, speech) + launch_advice(run, speech);
}

// How long copies took, by the memory that they pass.
struct CopyTime {
  Nanos on_devices = 0;  // none of the host
  Nanos pinned = 0;
  Nanos others = 0;
};

CopyTime copy_time(const Run& run) {
  CopyTime time;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = run.trace->lanes()[span.lane];
    if (lane.kind != trace::LaneKind::kStream || !run.facts.measured.counts(lane)) return;
    const trace::Detail* detail = run.trace->detail(span);
    const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
    const bool pinned =
        copy && (copy->from == trace::Memory::kPinned || copy->to == trace::Memory::kPinned);
    if (span.category == trace::Category::kCopyD2D) time.on_devices += span.duration;
    if (span.category == trace::Category::kCopyH2D || span.category == trace::Category::kCopyD2H)
      (pinned ? time.pinned : time.others) += span.duration;
  });
  return time;
}

const char* copy_advice(const Run& run) {
  const CopyTime time = copy_time(run);
  if (time.on_devices > time.pinned + time.others)
    return "Try a stream of their own: they pass no memory of the host, and kernels can run beside "
           "them.";
  const bool pinned = run.program ? run.config.flag("transfer.non_blocking")
                                  : time.pinned > time.on_devices + time.others;
  return pinned ? "Try a stream of their own, ahead of the step that needs them."
                : "Try pinned memory with non_blocking=True, and a stream of their own.";
}

}  // namespace

void explain(const Run& run, Finding& finding, const HostCause& host, const Speech& speech) {
  switch (finding.part) {
    case Part::kCompute:
      finding.why = compute_why(run, speech, finding.advice);
      return;
    case Part::kExposedCommunication:
      finding.why = speech.say("collectives with no kernel beside them");
      if (lacks_ranks(run))
        finding.why += speech.say(
            ", in which there may be waits for ranks that this trace does not have: a folder with "
            "the traces of all tells them apart");
      finding.advice = communication_advice(run, speech);
      return;
    case Part::kExposedCopy:
      finding.why = speech.say("copies with no kernel beside them");
      finding.advice = speech.say(copy_advice(run));
      return;
    case Part::kIdleCopy:
      finding.why = speech.say("the host stages pageable memory, chunk by chunk");
      finding.advice = speech.say("Try pin_memory=True with non_blocking=True.");
      return;
    case Part::kIdleData:
      finding.why = speech.say("the next batch is not there");
      if (const auto full = cores_full_of_workers(run.facts.measured))
        finding.why += full_cores_words(*full, speech);
      finding.advice = data_advice(run, speech);
      return;
    case Part::kIdleStream:
      finding.why = speech.say("a stream waits for an event of another one");
      finding.advice = speech.say("Look whether it has to wait there, and for so much.");
      return;
    case Part::kIdleCollective: {
      const double in_turn = sums_in_turn(run);
      finding.why = speech.say("another rank comes later");
      if (in_turn > 0)
        finding.why += told(speech,
                            "; the stages' sums of gradients follow one another, {} of the step: "
                            "each stage sends on its gradient once its sums are done",
                            speech.number(format_nanos(in_turn)));
      finding.advice = waiting_advice(run, in_turn, speech);
      return;
    }
    case Part::kIdleSync:
      explain_waiting_host(run, finding, host, speech);
      return;
    case Part::kIdleLaunch:
      explain_launches(run, finding, host, speech);
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

}  // namespace trainscope::analysis
