#include "train/replay/host_silence.h"

#include <algorithm>
#include <utility>

#include "trace/api_name.h"
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
  std::map<int, std::vector<Stretch>> recorded, memory;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind != LaneKind::kHostThread && lane.kind != LaneKind::kPinThread) return;
    if (is_recorded(trace, span)) recorded[lane.rank].push_back({span.start, span.end()});
    if (span.category == Category::kHostApi && trace::asks_for_memory(trace.name(span)))
      memory[lane.rank].push_back({span.start, span.end()});
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
  for (auto& [rank, spans] : memory) add(rank, std::move(spans));
}

// Of what was added before, none overlaps them.
void HostSilence::add(int rank, std::vector<Stretch> spans) {
  std::ranges::sort(spans, {}, &Stretch::start);
  std::vector<Stretch>& all = of_ranks_[rank];
  Nanos done = 0;
  for (const Stretch& one : spans) {
    if (one.end <= done) continue;
    all.push_back({std::max(one.start, done), one.end});
    done = one.end;
  }
  std::ranges::sort(all, {}, &Stretch::start);
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
