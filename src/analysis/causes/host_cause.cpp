#include "analysis/causes/host_cause.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/caveats/recorded_operators.h"
#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/intervals.h"
#include "trace/python_frame.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::Span;
using Kind = HostCause::Kind;

// Its gaps of one cause.
IntervalSet gaps_of(const Run& run, Part cause) {
  std::vector<Interval> gaps;
  for (const IdleGap& gap : run.gaps)
    if (gap.cause == cause) gaps.push_back({gap.start, gap.end});
  return IntervalSet(std::move(gaps));
}

struct Longest {
  std::string name;
  Nanos time = 0;
};

Longest longest_of(const Run& run, const std::map<trace::NameId, Nanos>& sums) {
  Longest longest;
  for (const auto& [name, time] : sums)
    if (time > longest.time) longest = {run.trace->name(name), time};
  return longest;
}

// Within a call that waits for the GPU.
bool is_wait(const trace::Trace& trace, const Span& span) {
  return span.category == Category::kHeld && is_call_of_runtime(trace.name(span)) &&
         trace.name(span).find("Synchronize") != std::string::npos;
}

// But for launches, and where it is so asked for waits.
Longest longest_call_within(const Run& run, const IntervalSet& gaps, bool with_waits) {
  std::map<trace::NameId, Nanos> sums;
  trace::for_each(run.trace->spans(), [&](const Span& span, trace::SpanId) {
    if (span.category != Category::kHostApi && span.category != Category::kHeld) return;
    if (!run.facts.measured.counts(run.trace->lanes()[span.lane])) return;
    if (is_launch(run.trace->name(span))) return;
    if (!with_waits && is_wait(*run.trace, span)) return;
    sums[span.name] += gaps.length_within({span.start, span.end()});
  });
  return longest_of(run, sums);
}

// The call that waits for the GPU as most of the gaps begin, and how long those are.
Longest wait_before(const Run& run, const IntervalSet& gaps) {
  std::map<trace::NameId, Nanos> sums;
  trace::for_each(run.trace->spans(), [&](const Span& span, trace::SpanId) {
    if (!is_wait(*run.trace, span) || !run.facts.measured.counts(run.trace->lanes()[span.lane]))
      return;
    const std::vector<Interval>& all = gaps.intervals();
    auto gap = std::ranges::lower_bound(all, span.start, {}, &Interval::start);
    for (; gap != all.end() && gap->start < span.end(); ++gap)
      sums[span.name] += gap->end - gap->start;
  });
  return longest_of(run, sums);
}

bool is_frame(const trace::Trace& trace, const Span& span) {
  return span.category == Category::kHostWork && trace::is_python_frame(trace.name(span));
}

// The measured host threads that launch something. Others may wait for good: a progress bar's.
class LaunchingThreads {
 public:
  explicit LaunchingThreads(const Run& run) : run_(run) {
    trace::for_each(run.trace->spans(), [&](const Span& span, trace::SpanId) {
      const bool is_call = span.category == Category::kHostApi || span.category == Category::kHeld;
      if (is_call && is_measured(span.lane) && is_launch(run.trace->name(span)))
        lanes_.insert(span.lane);
    });
  }

  // Of a kind that `takes` says, by lane: those that hold others before them.
  template <typename Takes>
  std::map<trace::LaneId, std::vector<Span>> spans(const Takes& takes) const {
    std::map<trace::LaneId, std::vector<Span>> found;
    trace::for_each(run_.trace->spans(), [&](const Span& span, trace::SpanId) {
      if (lanes_.contains(span.lane) && takes(span)) found[span.lane].push_back(span);
    });
    for (auto& [lane, spans] : found)
      std::ranges::stable_sort(
          spans, {}, [](const Span& span) { return std::pair(span.start, -span.duration); });
    return found;
  }

  // What of them PyTorch, or the driver, is at: neither marks nor frames.
  IntervalSet calls() const {
    std::vector<Interval> calls;
    trace::for_each(run_.trace->spans(), [&](const Span& span, trace::SpanId) {
      if (is_measured(span.lane) && span.category != Category::kAnnotation &&
          !is_frame(*run_.trace, span))
        calls.push_back({span.start, span.end()});
    });
    return IntervalSet(std::move(calls));
  }

 private:
  bool is_measured(trace::LaneId id) const {
    const trace::Lane& lane = run_.trace->lanes()[id];
    return lane.kind == trace::LaneKind::kHostThread && run_.facts.measured.counts(lane);
  }

  const Run& run_;
  std::set<trace::LaneId> lanes_;
};

// The outermost frames in which no thread calls anything: what PyTorch's frames around its own
// calls take counts for those.
HostCause longest_frame(const Run& run, const LaunchingThreads& threads, const IntervalSet& calls,
                        const IntervalSet& gaps) {
  const trace::Trace& trace = *run.trace;
  std::map<trace::NameId, Nanos> sums;
  std::map<trace::NameId, trace::NameId> callers;
  for (const auto& [lane, frames] :
       threads.spans([&](const Span& span) { return is_frame(trace, span); })) {
    std::vector<Span> open;
    Nanos done = std::numeric_limits<Nanos>::min();
    for (const Span& frame : frames) {
      while (!open.empty() && open.back().end() <= frame.start) open.pop_back();
      if (frame.start < done) continue;
      if (calls.length_within({frame.start, frame.end()}) == 0) {
        done = frame.end();
        sums[frame.name] += gaps.length_within({frame.start, frame.end()});
        const auto around = std::find_if(open.rbegin(), open.rend(), [&](const Span& one) {
          return trace::is_frame_of_file(trace.name(one));
        });
        if (around != open.rend()) callers.try_emplace(frame.name, around->name);
      }
      open.push_back(frame);
    }
  }
  HostCause cause{Kind::kFrame};
  Nanos longest = 0;
  for (const auto& [name, time] : sums) {
    if (time <= longest) continue;
    longest = time;
    cause.name = trace.name(name);
    const auto caller = callers.find(name);
    const bool has_file = trace::is_frame_of_file(cause.name);
    cause.caller = has_file || caller == callers.end() ? "" : trace.name(caller->second);
  }
  cause.nanos = static_cast<double>(longest);
  return cause;
}

// Of what no call tells: the innermost marks of a program that it lies in.
HostCause longest_mark(const Run& run, const LaunchingThreads& threads, const IntervalSet& untold) {
  std::map<trace::NameId, Nanos> sums;
  for (const auto& [lane, marks] :
       threads.spans([](const Span& span) { return span.category == Category::kAnnotation; })) {
    std::vector<Span> open;
    for (const Span& mark : marks) {
      while (!open.empty() && open.back().end() <= mark.start) open.pop_back();
      const Nanos within = untold.length_within({mark.start, mark.end()});
      sums[mark.name] += within;
      if (!open.empty()) sums[open.back().name] -= within;
      open.push_back(mark);
    }
  }
  const Longest longest = longest_of(run, sums);
  return {Kind::kMark, static_cast<double>(longest.time), longest.name, ""};
}

}  // namespace

std::string longest_call(const Run& run, Part cause) {
  return longest_call_within(run, gaps_of(run, cause), true).name;
}

HostCause host_cause(const Run& run, double idle, double per) {
  constexpr double kNamed = 0.4, kMostOfIt = 0.5;
  const IntervalSet gaps = gaps_of(run, Part::kIdleLaunch);
  const auto a_step = [per](HostCause cause) {
    cause.nanos /= per;
    return cause;
  };
  const double least = kNamed * idle * per;
  const Longest call = longest_call_within(run, gaps, false);
  if (call.time > 0 && static_cast<double>(call.time) >= least)
    return a_step({Kind::kCall, static_cast<double>(call.time), call.name, ""});
  if (run.program) {
    const Longest wait = wait_before(run, gaps);
    if (wait.time == 0 || 2 * wait.time < gaps.length()) return {};
    return a_step({Kind::kWaits, static_cast<double>(wait.time), wait.name, ""});
  }
  if (!has_operators(*run.trace)) return {Kind::kUnrecorded};
  const LaunchingThreads threads(run);
  const IntervalSet calls = threads.calls();
  const HostCause frame = longest_frame(run, threads, calls, gaps);
  if (frame.nanos > 0 && frame.nanos >= least) return a_step(frame);
  const bool has_frames =
      !threads.spans([&](const Span& span) { return is_frame(*run.trace, span); }).empty();
  const IntervalSet untold = gaps.without(calls);
  const auto all = static_cast<double>(untold.length());
  if (has_frames || all <= kMostOfIt * idle * per) return {};
  const HostCause mark = longest_mark(run, threads, untold);
  if (mark.nanos > 0 && mark.nanos >= least) return a_step(mark);
  return a_step({Kind::kUntold, all});
}

}  // namespace trainscope::analysis
