// How the view of a timeline moves. Every move is an animation towards a target; a new one starts
// from the target of the last, so that quick turns of the wheel add up.
#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {
namespace {

constexpr Nanos kLeastSpan = kMicrosecond;
constexpr double kSeconds = 0.22;

bool is_empty(const TimeRange& range) {
  return range.end <= range.start;
}

Nanos span_of(const TimeRange& range) {
  return range.end - range.start;
}

Nanos scaled(Nanos time, double factor) {
  return static_cast<Nanos>(std::llround(static_cast<double>(time) * factor));
}

void go_to(TimelineState& state, TimeRange target) {
  if (span_of(target) < kLeastSpan) {
    const Nanos middle = target.start + span_of(target) / 2;
    target = {middle - kLeastSpan / 2, middle + kLeastSpan / 2};
  }
  state.target = target;
  if (is_empty(state.view)) {
    state.view = target;
    state.progress = 1;
    return;
  }
  state.from = state.view;
  state.progress = 0;
}

}  // namespace

const TimeRange& destination(const TimelineState& state) {
  return state.progress < 1 ? state.target : state.view;
}

TimeRange fitting_range(TimeRange axis) {
  const Nanos margin = std::max<Nanos>(span_of(axis) / 20, kLeastSpan);
  return {axis.start, axis.end + margin};
}

TimeRange axis_range(const TimelineInput& input) {
  TimeRange axis{0, input.axis_end};
  Nanos first = INT64_MAX;
  for (const TimelineSide& side : input.sides) {
    if (!side.trace) continue;
    if (input.axis_end == 0)
      axis.end = std::max(axis.end, end_of(*side.trace, side.index) + side.offset);
    if (side.index && side.index->span_count > 0)
      first = std::min(first, side.index->start + side.offset);
  }
  if (axis.end <= 0) axis.end = kMillisecond;
  // A recording that begins long after its clock's zero is shown from its first span on.
  if (first != INT64_MAX && (first < 0 || first > axis.end / 20)) axis.start = first;
  return axis;
}

void fit(TimelineState& state, TimeRange axis) {
  go_to(state, fitting_range(axis));
  state.fitted = true;
}

void zoom(TimelineState& state, double factor, Nanos anchor) {
  const Nanos span = std::max(scaled(span_of(destination(state)), factor), kLeastSpan);
  const double share = static_cast<double>(anchor - state.view.start) /
                       static_cast<double>(std::max<Nanos>(span_of(state.view), 1));
  const Nanos start = anchor - scaled(span, share);
  go_to(state, {start, start + span});
  state.fitted = false;
}

void pan(TimelineState& state, double views) {
  TimeRange target = destination(state);
  const Nanos shift = scaled(span_of(target), views);
  go_to(state, {target.start + shift, target.end + shift});
  state.fitted = false;
}

void show_range(TimelineState& state, TimeRange range, double margin) {
  const Nanos extra = scaled(std::max(span_of(range), kLeastSpan), margin);
  // Before time 0 there is nothing to see.
  const Nanos start = std::max(range.start - extra, std::min<Nanos>(range.start, 0) - extra / 20);
  go_to(state, {start, range.end + extra});
  state.fitted = false;
}

void bring_into_view(TimelineState& state, TimeRange range) {
  constexpr Nanos kLeastShare = 250;  // of the view: less is hard to see
  constexpr double kShare = 20;
  const TimeRange view = destination(state);
  const Nanos span = span_of(view);
  if (is_empty(view)) return;
  if (span_of(range) < span / kLeastShare && span / kLeastShare > kLeastSpan)
    return show_range(state, range, kShare / 2);
  if (span_of(range) > span) return show_range(state, range);
  const Nanos edge = span / 10;
  if (range.start >= view.start && range.end <= view.end) return;
  const Nanos start = range.start < view.start ? range.start - edge : range.end + edge - span;
  go_to(state, {start, start + span});
  state.fitted = false;
}

void move_at_once(TimelineState& state, Nanos shift) {
  const TimeRange view = destination(state);
  state.view = state.target = {view.start + shift, view.end + shift};
  state.progress = 1;
  state.fitted = false;
}

void keep_in_reach(TimeRange& range, TimeRange axis) {
  const Nanos longest = 4 * span_of(fitting_range(axis));
  if (span_of(range) > longest) {
    const Nanos middle = range.start + span_of(range) / 2;
    range = {middle - longest / 2, middle + longest / 2};
  }
  // Some of the run always stays in sight.
  const Nanos span = span_of(range), edge = span / 5;
  const Nanos start = std::clamp(range.start, std::min(axis.start - span + edge, axis.end - edge),
                                 std::max(axis.end - edge, axis.start));
  range = {start, start + span};
}

bool advance_view(TimelineState& state, TimeRange axis, double seconds) {
  if (is_empty(state.view)) {
    state.view = {};
    fit(state, axis);
  } else if (state.fitted && state.target != fitting_range(axis)) {
    fit(state, axis);
  }
  if (state.progress >= 1) return false;
  if (!state.fitted) keep_in_reach(state.target, axis);
  state.progress = std::min(1.0, state.progress + seconds / kSeconds);
  const double left = 1 - state.progress;
  const double eased = 1 - left * left * left;
  state.view.start = state.from.start + scaled(state.target.start - state.from.start, eased);
  state.view.end = state.from.end + scaled(state.target.end - state.from.end, eased);
  return state.progress < 1;
}

}  // namespace trainscope::ui
