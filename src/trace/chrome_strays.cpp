// Events that another clock has stamped: hours away from all others, they would leave those one
// dot on the axis.
#include <algorithm>
#include <limits>

#include "trace/chrome_assemble.h"
#include "trace/hour.h"

namespace trainscope::trace::chrome {
namespace {

constexpr std::size_t kFew = 100;  // at most one time of so many may be a stray
constexpr double kFarther = 10;    // than all that is kept takes

// The times that are kept, ends included.
struct Extent {
  Nanos first = std::numeric_limits<Nanos>::max();
  Nanos last = std::numeric_limits<Nanos>::min();

  void take(Nanos time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  bool holds(Nanos time) const { return first <= time && time <= last; }
  bool holds(const Span& span) const { return holds(span.start) && holds(span.end()); }
  double length() const { return static_cast<double>(last) - static_cast<double>(first); }
};

Extent whole_of(const Collected& collected) {
  Extent extent;
  for (const Span& span : collected.spans) {
    extent.take(span.start);
    extent.take(span.end());
  }
  for (const Sample& sample : collected.samples) extent.take(sample.time);
  return extent;
}

std::vector<Nanos> sorted_times(const Collected& collected) {
  std::vector<Nanos> times;
  times.reserve(2 * collected.spans.size() + collected.samples.size());
  for (const Span& span : collected.spans) {
    times.push_back(span.start);
    times.push_back(span.end());
  }
  for (const Sample& sample : collected.samples) times.push_back(sample.time);
  std::ranges::sort(times);
  return times;
}

// The times from the first on, or up to the last, behind the widest gap, where they are few and
// far.
Extent without_strays(const std::vector<Nanos>& times) {
  std::size_t from = 0, to = times.size() - 1;
  const auto length = [&](std::size_t a, std::size_t b) {
    return static_cast<double>(times[b]) - static_cast<double>(times[a]);
  };
  std::size_t may_go = std::max<std::size_t>(times.size() / kFew, 2);
  while (from < to && length(from, to) > static_cast<double>(kHour)) {
    std::size_t gap = from;
    for (std::size_t i = from; i < to; ++i)
      if (length(i, i + 1) > length(gap, gap + 1)) gap = i;
    const std::size_t before = gap + 1 - from, after = to - gap;
    const bool first_go = before < after;
    const std::size_t going = std::min(before, after);
    const double kept = first_go ? length(gap + 1, to) : length(from, gap);
    if (going > may_go || before == after || length(gap, gap + 1) < kFarther * kept) break;
    may_go -= going;
    (first_go ? from : to) = first_go ? gap + 1 : gap;
  }
  Extent extent;
  extent.take(times[from]);
  extent.take(times[to]);
  return extent;
}

// Flows and launches of spans that go have no span.
void renumber(Collected& collected, const std::vector<SpanId>& place) {
  for (FlowEnds* side : {&collected.flow_starts, &collected.flow_ends})
    for (FlowEnd& end : side->ends)
      if (end.span != kNone) end.span = place[end.span];
  for (Launch& launch : collected.launches) launch.span = place[launch.span];
  std::erase_if(collected.launches, [](const Launch& one) { return one.span == kNone; });
  for (NumberedCall& call : collected.numbered_calls) call.span = place[call.span];
  std::erase_if(collected.numbered_calls,
                [](const NumberedCall& one) { return one.span == kNone; });
}

void keep_within(Collected& collected, const Extent& extent) {
  std::vector<SpanId> place(collected.spans.size(), kNone);
  std::vector<Span> kept;
  for (std::size_t i = 0; i < collected.spans.size(); ++i) {
    if (!extent.holds(collected.spans[i])) continue;
    place[i] = static_cast<SpanId>(kept.size());
    kept.push_back(collected.spans[i]);
  }
  collected.lose(Loss::kStray, static_cast<std::int64_t>(collected.spans.size() - kept.size()));
  collected.spans = std::move(kept);
  renumber(collected, place);
  const auto samples = std::erase_if(
      collected.samples, [&](const Sample& sample) { return !extent.holds(sample.time); });
  collected.lose(Loss::kStrayCounter, static_cast<std::int64_t>(samples));
  std::erase_if(collected.marks, [&](const PhaseMark& mark) {
    return !extent.holds(mark.start) || !extent.holds(mark.end);
  });
}

}  // namespace

void drop_strays(Collected& collected) {
  const Extent whole = whole_of(collected);
  if (whole.length() <= static_cast<double>(kHour)) return;
  const Extent extent = without_strays(sorted_times(collected));
  if (extent.first != whole.first || extent.last != whole.last) keep_within(collected, extent);
}

}  // namespace trainscope::trace::chrome
