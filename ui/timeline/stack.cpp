// Where the sides stand from top to bottom, and how tall their lanes are.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/timeline/canvas.h"
#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

// What a person has folded, but for what a path runs on as long as that is shown.
std::vector<trace::LaneId> folded_lanes(const TimelineSide& side, Side which,
                                        const TimelineState& state) {
  std::vector<trace::LaneId> folded = state.collapsed[number(which)];
  std::erase_if(folded, [&](trace::LaneId lane) { return is_on_path(side, lane); });
  return folded;
}

std::vector<std::string> folded_groups(const TimelineSide& side, Side which,
                                       const TimelineState& state) {
  std::vector<std::string> folded = state.collapsed_groups[number(which)];
  std::erase_if(folded, [&](const std::string& group) { return is_on_path(side, group); });
  return folded;
}

LayoutRequest request_for(const Canvas& canvas, const TimelineSide& side, Side which,
                          const TimelineState& state) {
  const Theme& theme = *canvas.theme;
  const Tuck& tuck = canvas.tucks[number(which)];
  LayoutRequest request;
  request.view_start = canvas.view.start - side.offset;
  request.view_end = canvas.view.end - side.offset;
  request.width = canvas.lanes.width();
  request.lane_height = theme.size.lane;
  request.row_height = theme.px(21);
  request.counter_height = theme.px(48);
  request.group_height = theme.px(24);
  request.min_bar = std::max(2.0F, theme.px(2));
  request.min_label = theme.px(14);
  request.label_pad = theme.px(4);
  request.arrow_room = theme.px(10);
  request.hidden = side.hidden;
  request.headings = !tuck.plain;
  request.hidden.insert(request.hidden.end(), tuck.away.begin(), tuck.away.end());
  request.pinned = side.pinned;
  request.filtered = side.filtered;
  request.measured_from = side.measured_from;
  request.matches = side.matches;
  request.collapsed = folded_lanes(side, which, state);
  request.collapsed.insert(request.collapsed.end(), tuck.in_one_row.begin(), tuck.in_one_row.end());
  request.collapsed_groups = folded_groups(side, which, state);
  return request;
}

// Lanes as low as they may be.
LayoutRequest least_request(const Theme& theme, const TimelineSide& side, Side which,
                            const TimelineState& state) {
  LayoutRequest request;
  request.lane_height = request.counter_height = theme.size.lane_min;
  request.row_height = theme.size.row_min;
  request.group_height = theme.px(24);
  request.hidden = side.hidden;
  request.pinned = side.pinned;
  request.collapsed = folded_lanes(side, which, state);
  request.collapsed_groups = folded_groups(side, which, state);
  return request;
}

float least_height(const Theme& theme, const TimelineSide& side, Side which,
                   const TimelineState& state) {
  if (!is_ready(side)) return 0;
  return lay_out_lanes(*side.trace, *side.draw, least_request(theme, side, which, state)).height;
}

float wanted_height(const TimelineSide& side, const LayoutRequest& request) {
  if (is_ready(side)) return lay_out_lanes(*side.trace, *side.draw, request).height;
  const auto lanes = static_cast<float>(std::max<std::size_t>(side.lane_names.size(), 3));
  return lanes * request.lane_height;
}

// Lanes as tall as they like where there is room, down to a least height where there is not.
void shrink(LayoutRequest& request, const Theme& theme, float share) {
  const auto fit_to = [&](float& height, float least) {
    height = std::max(std::floor(height * std::min(share, 1.15F)), least);
  };
  fit_to(request.lane_height, theme.size.lane_min);
  fit_to(request.row_height, theme.size.row_min);
  fit_to(request.counter_height, theme.size.lane_min);
}

std::vector<LayoutRequest> requests_for(const Canvas& canvas, const TimelineState& state) {
  std::vector<LayoutRequest> requests;
  float wanted = 0, room = canvas.body.height();
  for (std::size_t i = 0; i < canvas.input->sides.size(); ++i) {
    const TimelineSide& side = canvas.input->sides[i];
    requests.push_back(request_for(canvas, side, static_cast<Side>(i), state));
    wanted += wanted_height(side, requests.back());
    room -= canvas.theme->size.strip;
  }
  const float share = room / std::max(wanted, 1.0F);
  for (LayoutRequest& request : requests) shrink(request, *canvas.theme, share);
  // Heights that are least already, and those of rows, do not shrink by the same share.
  for (std::size_t i = 0; i < requests.size(); ++i)
    room -= wanted_height(canvas.input->sides[i], requests[i]);
  if (share < 1 && room < 0)
    for (LayoutRequest& request : requests) shrink(request, *canvas.theme, 0);
  return requests;
}

// Where many are in view they would only cover what they join.
void add_hops(const std::vector<Link>& hops, LayoutRequest& request) {
  constexpr std::ptrdiff_t kMost = 40;
  const auto from = std::ranges::lower_bound(hops, request.view_start, {}, &Link::passed);
  const auto to = std::ranges::upper_bound(hops, request.view_end, {}, &Link::passed);
  if (to - from > kMost) return;
  for (auto hop = from; hop < to; ++hop) request.links.push_back(*hop);
}

void lay_out_side(const Canvas& canvas, SideView& view, LayoutRequest& request,
                  const TimelineState& state) {
  if (!is_ready(*view.side)) return;
  const Theme& theme = *canvas.theme;
  request.visible_top = view.window - view.top;
  request.visible_bottom = view.window_end - view.top;
  request.text_width = [&theme](std::string_view label) {
    return text_size(theme.font.text, theme.size.label, label).x;
  };
  if (state.selected.side == view.which) request.links = state.links;
  if (view.side->chain) {
    add_hops(view.side->chain->hops, request);
    request.rests = view.side->chain->rests;
  }
  view.layout =
      lay_out(*view.side->trace, *view.side->index, *view.side->draw, request, view.side->gaps);
  if (!view.side->notes.empty())
    view.flags = note_flags(view.layout, view.side->notes, request, flag_sizes(theme));
}

// How much of `room` each side gets: what it wants; where that is too much, the one that wants less
// than half of it gets that, and the other the rest. So both are always in sight.
std::vector<float> share_out(const std::vector<float>& wanted, float room) {
  std::vector<float> given = wanted;
  if (wanted.size() == 1) given[0] = std::min(wanted[0], room);
  if (wanted.size() < 2 || wanted[0] + wanted[1] <= room) return given;
  given[0] = std::min(wanted[0], std::max(room / 2, room - wanted[1]));
  given[1] = room - given[0];
  return given;
}

// What is inside of nothing is seen in the one row to which its lane is folded, and what holds the
// thread as well.
bool shows_in_one_row(const Canvas& canvas, const TimelineSide& side, trace::SpanId id) {
  const trace::Span& span = side.trace->spans()[id];
  if (canvas.theme->of(span.category).hatched || span.lane >= side.index->lanes.size()) return true;
  const auto& rows = side.index->lanes[span.lane].rows;
  return !rows.empty() && std::ranges::find(rows.front().spans, id) != rows.front().spans.end();
}

// True: the lane, or its rows, come with the next frame.
bool untuck(const Canvas& canvas, std::size_t i, trace::LaneId lane, trace::SpanId span,
            TimelineState& state) {
  const Tuck& tuck = canvas.tucks[i];
  const auto& folded = tuck.in_one_row;
  if (span != trace::kNone && std::find(folded.begin(), folded.end(), lane) != folded.end() &&
      !shows_in_one_row(canvas, canvas.input->sides[i], span)) {
    state.unfolded[i].push_back(lane);
    return true;
  }
  if (!tuck.is_away(lane)) return false;
  return state.all_lanes[i] = true;
}

// At least `scroll`, so that a lane or heading begins at the top: none is cut through its name. As
// far as `most`, and no further than a lane that is low.
float from_whole_lane(const Theme& theme, const TimelineLayout& layout, float scroll, float most) {
  const float pinned = layout.pinned_bottom - layout.pinned_top;
  float nearest = std::min(most, scroll + 1.5F * theme.size.lane_min);
  const float furthest = nearest;
  bool any = false;
  const auto consider = [&](float y, bool is_pinned) {
    const float at = y - pinned;
    if (is_pinned || at < scroll || at > furthest || at > nearest) return;
    nearest = at;
    any = true;
  };
  for (const LaneBox& box : layout.lanes) consider(box.y, box.pinned);
  for (const GroupBox& group : layout.groups) consider(group.y, group.pinned);
  return any ? nearest : scroll;
}

// From the top of its lane to the bottom of the span's row; of one in a single row, the lane's.
float end_of_row(const TimelineSide& side, const LaneBox& box, trace::SpanId span) {
  const auto& rows = side.index->lanes[box.lane].rows;
  if (span == trace::kNone || box.rows < 2) return box.height;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (std::ranges::find(rows[row].spans, span) != rows[row].spans.end())
      return std::min(box.height, static_cast<float>(row + 1) * box.row_height +
                                      (box.height - static_cast<float>(box.rows) * box.row_height));
  return box.height;
}

// Scrolls to the lane of the span that is to be revealed, and unfolds what hides it. Where a lane
// is taller than what is in sight, its row comes first.
void reveal_lane(const Canvas& canvas, const std::vector<LayoutRequest>& requests,
                 const std::vector<float>& given, TimelineState& state) {
  const SpanRef wanted = std::exchange(state.reveal, {});
  const LaneRef wanted_lane = std::exchange(state.reveal_lane, {});
  const bool by_span = wanted.span != trace::kNone;
  const std::size_t i = number(by_span ? wanted.side : wanted_lane.side);
  if (i >= canvas.input->sides.size()) return;
  const TimelineSide& side = canvas.input->sides[i];
  if (!is_ready(side) || (by_span && wanted.span >= side.trace->spans().size())) return;
  const trace::LaneId lane = by_span ? side.trace->spans()[wanted.span].lane : wanted_lane.lane;
  if (lane >= side.trace->lanes().size()) return;
  if (untuck(canvas, i, lane, wanted.span, state)) {
    state.reveal = wanted;
    state.reveal_lane = wanted_lane;
    return;
  }
  std::erase(state.collapsed_groups[i], side.trace->lanes()[lane].group);
  const TimelineLayout layout = lay_out_lanes(*side.trace, *side.draw, requests[i]);
  const LaneBox* box = lane_box(layout, lane);
  if (!box || box->pinned) return;
  const float below = layout.height - box->y - box->height;
  const float seen = given[i] - below_row(*canvas.theme, given[i], below);
  if (box->y < state.scroll + layout.pinned_bottom)
    state.scroll = box->y - layout.pinned_bottom;
  else if (const float end = box->y + end_of_row(side, *box, wanted.span);
           box->height > seen && end > state.scroll + seen)
    state.scroll = end - seen;
  else if (box->height <= seen && box->y + box->height > state.scroll + seen)
    state.scroll = from_whole_lane(*canvas.theme, layout, box->y + box->height - seen,
                                   box->y - layout.pinned_bottom);
}

float lay_out_pinned(const TimelineSide& side, const LayoutRequest& request) {
  if (!is_ready(side) || side.pinned.empty()) return 0;
  const TimelineLayout layout = lay_out_lanes(*side.trace, *side.draw, request);
  return layout.pinned_bottom - layout.pinned_top;
}

// Pinned lanes stay in sight, as long as they leave room for others.
float stuck(const SideView& view, float pinned) {
  constexpr float kMost = 0.7F;
  return pinned <= (view.window_end - view.window) * kMost ? view.window - view.top : 0;
}

// By side; of one that is not ready there are none.
std::vector<CounterTops> tops_of_all(const TimelineInput& input) {
  std::vector<CounterSide> ready;
  for (const TimelineSide& side : input.sides)
    if (is_ready(side)) ready.push_back({*side.trace, *side.draw, side.limits});
  std::vector<CounterTops> tops = counter_tops(ready);
  for (std::size_t i = 0; i < input.sides.size(); ++i)
    if (!is_ready(input.sides[i])) tops.emplace(tops.begin() + static_cast<std::ptrdiff_t>(i));
  return tops;
}

float left_over(const TimelineSide& side, LayoutRequest request, const Tuck& tuck, float room) {
  request.hidden.insert(request.hidden.end(), tuck.away.begin(), tuck.away.end());
  request.collapsed.insert(request.collapsed.end(), tuck.in_one_row.begin(), tuck.in_one_row.end());
  request.headings = !tuck.plain;
  return lay_out_lanes(*side.trace, *side.draw, request).height - room;
}

// Where lanes are below nevertheless, a row is kept to say so.
Tuck tucked(const Theme& theme, const TimelineSide& side, const LayoutRequest& request,
            const TuckWish& wish, float room) {
  const auto in = [&](float height) {
    return tuck(*side.trace, *side.draw, request, wish, height);
  };
  Tuck tuck = in(room);
  const float row = below_row(theme, room, left_over(side, request, tuck, room));
  return row > 0 ? in(room - row) : tuck;
}

}  // namespace

bool lanes_fit(const Theme& theme, const TimelineInput& input, const TimelineState& state,
               float room) {
  for (std::size_t i = 0; i < input.sides.size(); ++i)
    room -= theme.size.strip + least_height(theme, input.sides[i], static_cast<Side>(i), state);
  return room >= 0;
}

// Half of the room is a side's, and what the other one does not want.
std::vector<Tuck> tucks_for(const Theme& theme, const TimelineInput& input,
                            const TimelineState& state, float room) {
  const std::size_t count = input.sides.size();
  std::vector<Tuck> tucks(count);
  room -= theme.size.strip * static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const TimelineSide& side = input.sides[i];
    if (!is_ready(side)) continue;
    const std::size_t beside = 1 - i;
    const float other =
        count < 2 ? 0 : least_height(theme, input.sides[beside], static_cast<Side>(beside), state);
    const TuckWish wish{
        state.unfolded[i], state.all_lanes[i],
        side.keeps_lanes,  side.told,
        side.ranks,        side.chain ? side.chain->lanes : std::vector<trace::LaneId>(),
    };
    tucks[i] = tucked(theme, side, least_request(theme, side, static_cast<Side>(i), state), wish,
                      std::max(room / 2, room - other));
  }
  return tucks;
}

bool is_ready(const TimelineSide& side) {
  return side.trace && side.index && side.draw;
}

bool is_on_path(const TimelineSide& side, trace::LaneId lane) {
  return side.chain && side.chain->runs_on(lane);
}

bool is_on_path(const TimelineSide& side, const std::string& group) {
  return side.chain && side.trace &&
         std::ranges::any_of(side.chain->lanes, [&](trace::LaneId lane) {
           return side.trace->lanes()[lane].group == group;
         });
}

float below_row(const Theme& theme, float room, float below) {
  constexpr float kLeastLanes = 4, kUnseen = 0.4F;  // a lane of which more is seen needs no words
  const float row = std::ceil(theme.size.label * 1.4F), lane = theme.size.lane_min;
  return below > kUnseen * lane && room - row >= kLeastLanes * lane ? row : 0;
}

void place_sides(Canvas& canvas, TimelineState& state) {
  std::vector<LayoutRequest> requests = requests_for(canvas, state);
  const float strip = canvas.theme->size.strip;
  std::vector<float> wanted;
  for (std::size_t i = 0; i < requests.size(); ++i)
    wanted.push_back(std::ceil(wanted_height(canvas.input->sides[i], requests[i])));
  float room = canvas.body.height() - strip * static_cast<float>(wanted.size()), overflow = 0;
  const std::vector<float> given = share_out(wanted, room);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    overflow = std::max(overflow, wanted[i] - given[i]);
    room -= given[i];
  }
  reveal_lane(canvas, requests, given, state);
  const std::vector<CounterTops> tops = tops_of_all(*canvas.input);
  state.scroll = std::clamp(state.scroll, 0.0F, overflow);
  const float gap = wanted.size() < 2 ? 0 : std::min(std::floor(room / 2), canvas.theme->px(30));
  float y = canvas.body.min.y;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    SideView view;
    view.side = &canvas.input->sides[i];
    view.which = static_cast<Side>(i);
    view.tuck = &canvas.tucks[i];
    view.all_lanes = state.all_lanes[i];
    view.strip = y;
    view.window = y + strip;
    view.top = view.window - std::round(std::min(state.scroll, wanted[i] - given[i]));
    view.bottom = view.top + wanted[i];
    const float end = std::floor(view.window + given[i]);
    if (is_ready(*view.side)) view.below = below_row(*canvas.theme, given[i], view.bottom - end);
    view.window_end = end - view.below;
    requests[i].stuck = stuck(view, lay_out_pinned(*view.side, requests[i]));
    requests[i].counter_tops = &tops[i];
    lay_out_side(canvas, view, requests[i], state);
    y = end + gap;
    canvas.sides.push_back(std::move(view));
  }
}

}  // namespace trainscope::ui
