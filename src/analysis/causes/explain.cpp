#include "analysis/causes/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/advice/advice.h"
#include "analysis/caveats/profiler_words.h"
#include "analysis/caveats/rank_caveat.h"
#include "analysis/caveats/recorded_operators.h"
#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/intervals.h"
#include "analysis/views/operations.h"
#include "base/units.h"

namespace trainscope::analysis {
namespace {

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
  // What loads batches does not launch.
  std::erase_if(rows, [figure](const OperationRow& row) {
    return figure(row.a) <= 0 || row.where != Operation::Where::kHost ||
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
  double compute = 0, memory = 0, overhead = 0;
};

Limits limits_of(const Facts& facts) {
  const Roofline& roofline = facts.roofline;
  const Nanos kernels = facts.measured.kernels.length();
  if (!roofline.known() || !facts.measured.machine || kernels <= 0) return {};
  using machine::Bound;
  const Nanos compute = roofline[Bound::kCompute], memory = roofline[Bound::kMemory];
  const Nanos unknown = facts.measured.window.end - facts.measured.window.start - compute - memory -
                        roofline[Bound::kOverhead];
  const auto share = [&](Nanos time) {
    return static_cast<double>(std::max<Nanos>(0, time)) / static_cast<double>(kernels);
  };
  return {share(compute), share(memory), share(kernels - compute - memory - unknown)};
}

std::string compute_why(const Run& run, const Speech& speech, std::string& advice) {
  const auto [compute, memory, overhead] = limits_of(run.facts);
  const auto percent = [](double part) { return fmt::format("{:.0f}", 100 * part); };
  if (compute + memory + overhead <= 0) {
    const std::string longest = largest_calls(
        run, speech, [](const OperationRow::Figures& call) { return call.self_kernels; });
    advice = speech.say(longest.empty() ? "Look under Operations which kernels take it."
                                        : "Look under Operations for the rest.");
    if (!longest.empty()) return told(speech, "longest for {}", longest);
    return hardly_waits(run) ? speech.say("work, no waiting") : "";
  }
  if (overhead >= compute && overhead >= memory) {
    advice = idle_units_advice(run, speech);
    return told(speech,
                "{} % of it in kernels too short, or of too few blocks, for arithmetic or memory's "
                "bandwidth to limit them",
                percent(overhead)) +
           beside_limits(run, speech);
  }
  if (memory >= compute) {
    advice = memory_advice(run, speech);
    return told(speech, "{} % of it in kernels that memory's bandwidth limits", percent(memory)) +
           beside_limits(run, speech);
  }
  advice = arithmetic_advice(run, speech);
  std::string limited =
      told(speech, "{} % of it in kernels that arithmetic limits", percent(compute));
  if (starves_tensor_cores(run)) {
    const double odd = static_cast<double>(time_of_odd_products(run)) / run.facts.measured.per();
    limited += told(speech, "; products whose rows of {} feed tensor cores badly take {}",
                    odd_sides(run), speech.number(format_nanos(odd)));
  }
  return limited + beside_limits(run, speech);
}

// The host synchronises: which call of it waits longest in these gaps.
void explain_waiting_host(const Run& run, Finding& finding, const Speech& speech) {
  const Calls calls = calls_within(run, gaps_of(run, Part::kIdleSync));
  const std::string call = calls.empty() ? "" : calls.front().first;
  finding.why = speech.say("the host waits for the GPU, and then the GPU for the host");
  if (!call.empty()) finding.why += told(speech, ", longest in {}", call);
  finding.advice = speech.say(
      call.find("DeviceSynchronize") != std::string::npos
          ? "Look for torch.cuda.synchronize(), and call it only around what you measure."
          : "Look for .item(), .cpu() and print(loss), and do them now and then.");
}

// How long of these gaps the measured host threads are in no span at all: in code between calls.
Nanos untold_within(const Run& run, const std::vector<IdleGap>& gaps) {
  std::vector<Interval> calls, idle;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
    const trace::Lane& lane = run.trace->lanes()[span.lane];
    if (lane.kind == trace::LaneKind::kHostThread && run.facts.measured.counts(lane) &&
        span.category != trace::Category::kAnnotation)
      calls.push_back({span.start, span.end()});
  });
  for (const IdleGap& gap : gaps) idle.push_back({gap.start, gap.end});
  return IntervalSet(std::move(idle)).without(IntervalSet(std::move(calls))).length();
}

// The GPU waits for a launch.
void explain_launches(const Run& run, Finding& finding, double per, const Speech& speech) {
  if (const auto by_call = explained_by_a_call(run, finding, per, speech)) {
    finding = *by_call;
    return;
  }
  if (!run.program && !has_operators(*run.trace)) {
    finding.why = speech.say("nothing tells what the host did meanwhile");
    finding.advice = speech.say("Record it too: ProfilerActivity.CPU beside CUDA.");
    return;
  }
  constexpr double kMostOfIt = 0.5;
  const double untold =
      run.program ? 0
                  : static_cast<double>(untold_within(run, gaps_of(run, Part::kIdleLaunch))) / per;
  if (untold > kMostOfIt * finding.nanos) {
    finding.why = told(speech, "{} of it the host is in no call that was recorded",
                       speech.number(format_nanos(untold)));
    finding.advice = speech.say(
        "Look what your program does between its calls: record_function() around its parts, or "
        "with_stack=True, tells.");
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
      explain_waiting_host(run, finding, speech);
      return;
    case Part::kIdleLaunch:
      explain_launches(run, finding, per, speech);
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
