#include "train/replay/host_silence.h"

#include <algorithm>

#include "trace/python_frame.h"

namespace trainscope::train {
namespace {

using trace::Category;
using trace::LaneKind;

// A frame of Python's says where a program is, as a mark does.
bool is_recorded(const trace::Trace& trace, const trace::Span& span) {
  if (span.category == Category::kHostWork) return !trace::is_python_frame(trace.name(span));
  return span.category != Category::kAnnotation && span.category != Category::kOther &&
         span.category != Category::kSync;
}

}  // namespace

HostSilence::HostSilence(const trace::Trace& trace) {
  std::map<int, std::vector<Stretch>> recorded;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind != LaneKind::kHostThread && lane.kind != LaneKind::kPinThread) return;
    if (is_recorded(trace, span)) recorded[lane.rank].push_back({span.start, span.end()});
  });
  for (auto& [rank, spans] : recorded) {
    std::ranges::sort(spans, {}, &Stretch::start);
    Nanos done = 0;
    for (const Stretch& one : spans) {
      if (one.start - done > kLongestOfOperator) of_ranks_[rank].push_back({done, one.start});
      done = std::max(done, one.end);
    }
    if (trace.end() - done > kLongestOfOperator) of_ranks_[rank].push_back({done, trace.end()});
  }
}

Nanos HostSilence::within(int rank, Nanos from, Nanos to) const {
  const auto found = of_ranks_.find(rank);
  if (found == of_ranks_.end()) return 0;
  Nanos sum = 0;
  for (auto one = std::ranges::upper_bound(found->second, from, {}, &Stretch::end);
       one != found->second.end() && one->start < to; ++one)
    sum += std::min(one->end, to) - std::max(one->start, from);
  return sum;
}

}  // namespace trainscope::train
