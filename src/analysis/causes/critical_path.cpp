#include "analysis/causes/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/causes/host_order.h"
#include "analysis/causes/work_order.h"
#include "analysis/steps/lane_kinds.h"
#include "analysis/views/operations.h"
#include "base/stopped.h"
#include "base/text.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneId;
using trace::LaneKind;
using trace::Span;
using trace::SpanId;

// From the end of what was waited for to the beginning of what waited.
PathPart part_between(Awaited::As as) {
  if (as == Awaited::As::kUntold) return PathPart::kUntold;
  return as == Awaited::As::kCall ? PathPart::kLatency : PathPart::kGaps;
}

// Of a thread that waited, where the trace does not say for which span.
PathPart part_of_wait(trace::Cause cause) {
  if (cause == trace::Cause::kData) return PathPart::kLoading;
  return cause == trace::Cause::kLock ? PathPart::kHost : PathPart::kUntold;
}

class Walk {
 public:
  Walk(const Measured& measured, const WorkOrder& works, const HostOrder& host)
      : measured_(measured),
        trace_(*measured.trace),
        works_(works),
        host_(host),
        window_(measured.first_window()),
        at_(window_.end) {}

  // The pieces from the last to the first; none once `stopped` says so.
  std::vector<PathPiece> pieces(const Stopped& stopped) {
    begin();
    // Each step goes back in time, or from the GPU to a thread or from that to the GPU: one that
    // does neither goes round in a ring of waits, of which nothing can be told.
    constexpr int kMostInPlace = 64;
    int in_place = 0;
    constexpr std::size_t kStepsUnasked = 4096;  // a millisecond of them
    std::size_t steps = 0;
    while (at_ > window_.start && in_place < kMostInPlace) {
      if (++steps % kStepsUnasked == 0 && stopped()) return {};
      const Nanos before = at_;
      if (work_ != trace::kNone) {
        pass_work();
      } else if (thread_ != trace::kNone) {
        pass_thread();
      } else {
        break;
      }
      in_place = at_ < before ? 0 : in_place + 1;
    }
    add(window_.start, trace::kNone, trace::kNone, PathPart::kUntold);
    return std::move(pieces_);
  }

 private:
  void begin();
  void pass_work();
  void pass_thread();
  void go_to(SpanId awaited, Nanos by);
  void add(Nanos start, SpanId span, LaneId lane, PathPart part);
  bool is_work_of_gpu(SpanId id) const { return trace::is_gpu_work(trace_.spans()[id].category); }
  PathPart part_of_work(SpanId work) const;
  PathPart part_on_thread(const HostOrder::Told& told) const;

  const Measured& measured_;
  const trace::Trace& trace_;
  const WorkOrder& works_;
  const HostOrder& host_;
  std::vector<PathPiece> pieces_;
  Interval window_;
  Nanos at_ = 0;
  SpanId work_ = trace::kNone;    // the path is at this work,
  LaneId thread_ = trace::kNone;  // else on this thread
};

// The work that ends with the window, else the training thread; where the trace has none, the work
// that ends last.
void Walk::begin() {
  thread_ = host_.first_main();
  SpanId last = trace::kNone;
  for (SpanId id = 0, n = trace_.spans().size(); id < n; ++id) {
    const Span& span = trace_.spans()[id];
    const bool is_work =
        trace_.lanes()[span.lane].kind == LaneKind::kStream && trace::is_gpu_work(span.category);
    if (!is_work || span.end() > at_) continue;
    if (last == trace::kNone || span.end() >= trace_.spans()[last].end()) last = id;
  }
  if (last == trace::kNone) return;
  const Nanos end = trace_.spans()[last].end();
  if (end < at_ && thread_ != trace::kNone) return;
  add(end, trace::kNone, trace::kNone, PathPart::kUntold);
  work_ = last;
}

// From `at_` back to `start`, or to where the window begins.
void Walk::add(Nanos start, SpanId span, LaneId lane, PathPart part) {
  const Nanos from = std::max(start, window_.start);
  if (from >= at_) return;
  pieces_.push_back({from, at_, span, lane, part});
  at_ = from;
}

void Walk::go_to(SpanId awaited, Nanos by) {
  const Span& span = trace_.spans()[awaited];
  const bool on_thread = is_on_host(trace_.lanes()[span.lane].kind);
  thread_ = on_thread ? span.lane : trace::kNone;
  work_ = on_thread ? trace::kNone : works_.transfer_of(awaited, by);
}

PathPart Walk::part_of_work(SpanId work) const {
  const Category category = trace_.spans()[work].category;
  if (category == Category::kCollective) return PathPart::kCommunication;
  if (category == Category::kStaging || works_.is_with_its_staging(work)) return PathPart::kStaging;
  return trace::is_kernel(category) ? PathPart::kKernels : PathPart::kCopies;
}

void Walk::pass_work() {
  const SpanId work = works_.transfer_of(work_, at_);
  const Span& span = trace_.spans()[work];
  add(span.start + works_.wait_for_absent(work), work, span.lane, part_of_work(work));
  add(span.start, work, span.lane, PathPart::kAbsent);
  const SpanId last = works_.last_to_come(work);
  if (last != work) add(trace_.spans()[last].start, last, span.lane, PathPart::kCommunication);
  const Awaited awaited = works_.before(last);
  work_ = thread_ = trace::kNone;
  if (awaited.span == trace::kNone) return;
  const Span& before = trace_.spans()[awaited.span];
  if (awaited.as != Awaited::As::kRoom)
    add(before.end(), trace::kNone, trace::kNone, part_between(awaited.as));
  go_to(awaited.span, at_);
}

PathPart Walk::part_on_thread(const HostOrder::Told& told) const {
  const Span* span = told.span == trace::kNone ? nullptr : &trace_.spans()[told.span];
  if (span && span->category == Category::kHeld && span->cause == trace::Cause::kStaging)
    return PathPart::kStaging;
  if (told.awaited == trace::kNone && told.is_wait) return part_of_wait(span->cause);
  if (told.awaited != trace::kNone && is_work_of_gpu(told.awaited)) return PathPart::kWakeUps;
  const bool loads =
      span && (span->category == Category::kLoader || span->category == Category::kPin);
  return loads || trace_.lanes()[thread_].kind != LaneKind::kHostThread ? PathPart::kLoading
                                                                        : PathPart::kHost;
}

void Walk::pass_thread() {
  const HostOrder::Told told = host_.before(thread_, at_);
  add(told.since, told.span, thread_, part_on_thread(told));
  thread_ = told.thread;
  if (told.awaited != trace::kNone) go_to(told.awaited, at_);
}

// Each of its parts takes a second of a trace of millions of spans.
std::vector<PathPiece> find_pieces(const Measured& measured, const Stopped& stopped) {
  const trace::Trace& trace = *measured.trace;
  if (stopped()) return {};
  const std::vector<train::HostTrack> tracks = train::host_tracks(trace);
  if (stopped()) return {};
  const WorkOrder works(trace, tracks);
  if (stopped()) return {};
  const HostOrder host(trace, tracks, works);
  if (stopped()) return {};
  return Walk(measured, works, host).pieces(stopped);
}

}  // namespace

std::string_view name_of(PathPart part) {
  switch (part) {
    case PathPart::kKernels:
      return "kernels";
    case PathPart::kCommunication:
      return "communication";
    case PathPart::kCopies:
      return "copies";
    case PathPart::kStaging:
      return "staging";
    case PathPart::kHost:
      return "host";
    case PathPart::kLoading:
      return "loading data";
    case PathPart::kLatency:
      return "launch latency";
    case PathPart::kGaps:
      return "between kernels";
    case PathPart::kWakeUps:
      return "waking up";
    case PathPart::kAbsent:
      return "waiting for absent ranks";
    case PathPart::kUntold:
      return "not told";
  }
  return "";
}

CriticalPath critical_path(const Measured& measured, const Stopped& stopped) {
  CriticalPath path;
  path.steps = measured.per();
  // Of a device's own trace events are not told of.
  path.is_inferred = measured.trace->origin().kind != trace::OriginKind::kSimulated;
  const Interval window = measured.first_window();
  if (window.end <= window.start) return path;
  path.pieces = find_pieces(measured, [&] { return stopped && stopped(); });
  std::ranges::reverse(path.pieces);
  for (const PathPiece& piece : path.pieces)
    path.time[static_cast<std::size_t>(piece.part)] += piece.end - piece.start;
  return path;
}

std::vector<OnPath> longest_on_path(const CriticalPath& path, const trace::Trace& trace,
                                    std::size_t most) {
  std::map<std::string, Nanos> times;
  for (const PathPiece& piece : path.pieces)
    if (piece.span != trace::kNone)
      times[operation_name(trace, trace.spans()[piece.span])] += piece.end - piece.start;
  std::vector<OnPath> longest;
  for (const auto& [name, time] : times) longest.push_back({name, time});
  std::ranges::stable_sort(longest, std::ranges::greater{}, &OnPath::time);
  longest.resize(std::min(longest.size(), most));
  return longest;
}

std::string shares_in_words(const CriticalPath& path, const Speech& speech) {
  const auto is_told = [](const PathPiece& piece) { return piece.span != trace::kNone; };
  if (std::ranges::none_of(path.pieces, is_told)) return "";
  Nanos whole = 0;
  std::vector<std::pair<Nanos, PathPart>> parts;
  for (std::size_t i = 0; i < kPathPartCount; ++i) {
    whole += path.time[i];
    parts.emplace_back(path.time[i], static_cast<PathPart>(i));
  }
  std::ranges::stable_sort(parts, std::ranges::greater{},
                           [](const auto& one) { return one.first; });
  std::string words;
  for (const auto& [time, part] : parts) {
    const double share = whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : 0;
    if (share < 0.01) continue;
    add_to_list(words, fmt::format("{} {:.0f} %", speech.say(name_of(part)), 100 * share));
  }
  return words;
}

}  // namespace trainscope::analysis
