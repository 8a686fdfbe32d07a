#include "ui/app/views/timeline_search.h"

#include "base/time_ends.h"
#include "base/units.h"

namespace trainscope::ui {
namespace {

// A match of either side: sides share the axis.
struct Found {
  Nanos time = 0;
  SpanRef span;
  friend bool operator<(const Found& a, const Found& b) {
    return a.time != b.time ? a.time < b.time : a.span.side < b.span.side;
  }
};

bool is_ready(const TimelineInput& input, std::size_t side) {
  return side < input.sides.size() && input.sides[side].trace && input.sides[side].index;
}

bool has_selection(const TimelineInput& input, const TimelineState& state) {
  const auto side = static_cast<std::size_t>(state.selected.side);
  return is_ready(input, side) && state.selected.span < input.sides[side].index->span_count;
}

// Where a side is searched from. On the selected span's own side that is the span itself; on the
// other, all that starts with it comes after A's and before B's.
MatchPlace place_on(std::size_t side, const TimelineInput& input, const TimelineState& state,
                    bool forward) {
  const TimelineSide& own = input.sides[side];
  if (!has_selection(input, state))
    return {forward ? state.view.start - own.offset - 1 : state.view.end - own.offset, 0, 0, 0};
  const auto selected = static_cast<std::size_t>(state.selected.side);
  const TimelineSide& there = input.sides[selected];
  const MatchPlace place = place_of(*there.trace, *there.index, state.selected.span);
  if (selected == side) return place;
  const Nanos time = place.time + there.offset - own.offset;
  return selected < side ? MatchPlace{time - 1, trace::kNone, UINT32_MAX, UINT32_MAX}
                         : MatchPlace{time, trace::kNone, UINT32_MAX, UINT32_MAX};
}

std::optional<Found> nearest(const TimelineSearch& search, const TimelineInput& input,
                             const std::array<MatchPlace, 2>& from, bool forward) {
  std::optional<Found> best;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_ready(input, i)) continue;
    const TimelineSide& side = input.sides[i];
    const trace::SpanId id = forward
                                 ? match_after(*side.trace, *side.index, search.found[i], from[i])
                                 : match_before(*side.trace, *side.index, search.found[i], from[i]);
    if (id == trace::kNone) continue;
    const Found found{side.trace->spans()[id].start + side.offset, {static_cast<Side>(i), id}};
    if (!best || (forward ? found < *best : *best < found)) best = found;
  }
  return best;
}

bool is_match(const TimelineSearch& search, const TimelineInput& input, const SpanRef& span) {
  const auto i = static_cast<std::size_t>(span.side);
  const TimelineSide& side = input.sides[i];
  const MatchPlace place = place_of(*side.trace, *side.index, span.span);
  return search.found[i].among(place.lane, place.row, place.at, 1) > 0;
}

}  // namespace

const Matches* TimelineSearch::matches(std::size_t side) const {
  return open && !words.empty() && side < found.size() ? &found[side] : nullptr;
}

std::size_t TimelineSearch::count() const {
  return found[0].count + found[1].count;
}

void refresh(TimelineSearch& search, const TimelineInput& input) {
  for (std::size_t i = 0; i < 2; ++i) {
    TimelineSearch::Source source;
    if (search.open && is_ready(input, i))
      source = {search.words, input.sides[i].index, input.sides[i].hidden};
    if (source == search.sources[i]) continue;
    search.sources[i] = source;
    search.found[i] = source.index ? find_matches(*input.sides[i].trace, *source.index,
                                                  search.words, source.hidden)
                                   : Matches{};
  }
}

std::optional<SpanRef> next_match(const TimelineSearch& search, const TimelineInput& input,
                                  const TimelineState& state, bool forward) {
  if (search.count() == 0) return std::nullopt;
  std::array<MatchPlace, 2> from;
  for (std::size_t i = 0; i < 2; ++i)
    if (is_ready(input, i)) from[i] = place_on(i, input, state, forward);
  auto found = nearest(search, input, from, forward);
  if (!found) {
    from.fill({forward ? kBeforeAll : kEndless, 0, 0, 0});
    found = nearest(search, input, from, forward);
  }
  return found ? std::optional(found->span) : std::nullopt;
}

std::string count_words(const TimelineSearch& search, const TimelineInput& input,
                        const TimelineState& state) {
  const std::size_t count = search.count();
  if (search.words.empty()) return "";
  if (count == 0) return "nothing found";
  if (!has_selection(input, state) || !is_match(search, input, state.selected))
    return counted(count, "span");
  std::size_t before = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_ready(input, i)) continue;
    const TimelineSide& side = input.sides[i];
    MatchPlace place = place_on(i, input, state, true);
    // Those of the other side that start with the selected span count where they come before it.
    if (static_cast<std::size_t>(state.selected.side) != i) place = {place.time + 1, 0, 0, 0};
    before += matches_before(*side.trace, *side.index, search.found[i], place);
  }
  return std::to_string(before + 1) + " of " + std::to_string(count);
}

}  // namespace trainscope::ui
