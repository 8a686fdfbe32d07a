#include "ui/timeline/place.h"

#include <algorithm>
#include <cmath>

namespace trainscope::ui {
namespace {

using trace::LaneId;
using trace::Trace;

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

struct Group {
  std::string name;
  std::vector<LaneId> lanes;
  bool pinned = false;
};

// The lanes that are shown, under their headings, both in order of first appearance.
std::vector<Group> groups_of(const Trace& trace, const LayoutRequest& request) {
  std::vector<Group> groups;
  for (LaneId lane = 0, count = trace.lanes().size(); lane < count; ++lane) {
    if (contains(request.hidden, lane) || contains(request.pinned, lane)) continue;
    const std::string& name = trace.lanes()[lane].group;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{name, {}, false});
    group->lanes.push_back(lane);
  }
  return groups;
}

std::vector<LaneId> pinned_lanes(const Trace& trace, const LayoutRequest& request) {
  std::vector<LaneId> lanes;
  for (const LaneId lane : request.pinned)
    if (lane < trace.lanes().size() && !contains(request.hidden, lane)) lanes.push_back(lane);
  return lanes;
}

// One process and one GPU need no headings: their lanes name themselves.
bool needs_headings(const std::vector<Group>& groups) {
  const auto named = std::count_if(groups.begin(), groups.end(),
                                   [](const Group& group) { return !group.name.empty(); });
  return named > 2;
}

bool is_counter(const Trace& trace, const DrawIndex& draw, LaneId lane) {
  return trace.lanes()[lane].kind == trace::LaneKind::kCounter ||
         (lane < draw.counters.size() && !draw.counters[lane].samples.empty());
}

// Many rows get thinner ones, so that one lane does not fill the screen.
float height_of_rows(const LayoutRequest& request, std::size_t rows) {
  constexpr float kRowsAtFullHeight = 12;
  const float share = kRowsAtFullHeight / static_cast<float>(rows);
  return std::round(std::max(request.row_height * std::min(1.0F, share), request.row_height / 3));
}

LaneBox place_lane(const Trace& trace, const DrawIndex& draw, const LayoutRequest& request,
                   LaneId lane, float y) {
  LaneBox box;
  box.lane = lane;
  box.y = y;
  const std::size_t rows = lane < draw.rows.size() ? draw.rows[lane].size() : 0;
  box.all_rows = std::max<std::size_t>(rows, 1);
  box.collapsed = box.all_rows > 1 && contains(request.collapsed, lane);
  box.rows = box.collapsed ? 1 : box.all_rows;
  if (rows == 0 && is_counter(trace, draw, lane)) {
    box.row_height = box.height = request.counter_height;
  } else if (box.rows == 1) {
    box.row_height = box.height = request.lane_height;
  } else {
    box.row_height = height_of_rows(request, box.rows);
    box.height = box.row_height * static_cast<float>(box.rows) + request.lane_height / 6;
  }
  return box;
}

// Stacks groups from `y` on and returns where they end.
float stack(const Trace& trace, const DrawIndex& draw, const LayoutRequest& request,
            const std::vector<Group>& groups, bool headings, float y, TimelineLayout& layout) {
  for (const Group& group : groups) {
    const bool collapsed =
        headings && !group.pinned && contains(request.collapsed_groups, group.name);
    if (headings) {
      layout.groups.push_back(
          {group.name, y, request.group_height, collapsed, group.lanes.size(), group.pinned});
      y += request.group_height;
    }
    if (collapsed) continue;
    for (const LaneId lane : group.lanes) {
      layout.lanes.push_back(place_lane(trace, draw, request, lane, y));
      layout.lanes.back().pinned = group.pinned;
      y += layout.lanes.back().height;
    }
  }
  return y;
}

}  // namespace

TimelineLayout lay_out_lanes(const Trace& trace, const DrawIndex& draw,
                             const LayoutRequest& request) {
  TimelineLayout layout;
  const std::vector<Group> groups = groups_of(trace, request);
  const bool headings = request.headings && needs_headings(groups);
  const Group pinned{"pinned", pinned_lanes(trace, request), true};
  if (!pinned.lanes.empty()) {
    layout.pinned_top = request.stuck;
    layout.pinned_bottom =
        stack(trace, draw, request, {pinned}, headings, layout.pinned_top, layout);
  }
  const float top = layout.pinned_bottom - layout.pinned_top;
  layout.height = stack(trace, draw, request, groups, headings, top, layout);
  if (request.filtered > 0) {
    layout.footer = layout.height;
    layout.height += request.group_height;
  }
  return layout;
}

Strip strip_of(const LaneBox& box, std::size_t row) {
  if (box.rows == 1) {
    const float inset = std::max(1.0F, std::round(box.height * 0.07F));
    return {box.y + inset, box.height - 2 * inset};
  }
  const float spare = box.height - box.row_height * static_cast<float>(box.rows);
  return {box.y + std::round(spare / 2) + box.row_height * static_cast<float>(row),
          box.row_height - 1};
}

const LaneBox* lane_box(const TimelineLayout& layout, LaneId lane) {
  for (const LaneBox& box : layout.lanes)
    if (box.lane == lane) return &box;
  return nullptr;
}

std::optional<std::size_t> row_of(const Trace& trace, const trace::LaneIndex& lane,
                                  trace::SpanId span) {
  const Nanos start = trace.spans()[span].start;
  for (std::size_t row = 0; row < lane.rows.size(); ++row) {
    const auto& ids = lane.rows[row].spans;
    auto at = std::partition_point(
        ids.begin(), ids.end(), [&](trace::SpanId id) { return trace.spans()[id].start < start; });
    for (; at != ids.end() && trace.spans()[*at].start == start; ++at)
      if (*at == span) return row;
  }
  return std::nullopt;
}

}  // namespace trainscope::ui
