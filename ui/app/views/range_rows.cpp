#include "ui/app/views/range_rows.h"

#include <algorithm>

#include "base/units.h"

namespace trainscope::ui {
namespace {

using analysis::LaneUse;
using analysis::RangeUse;

bool is_shown(const TimelineSide& side, trace::LaneId lane) {
  return std::find(side.hidden.begin(), side.hidden.end(), lane) == side.hidden.end() &&
         side.trace->lanes()[lane].kind != trace::LaneKind::kSteps;
}

RangeCell cell_of(const RangeUse& use, const LaneUse& lane) {
  RangeCell cell;
  cell.share = use.share(lane);
  cell.busy = format_nanos(static_cast<double>(lane.busy));
  cell.spans = std::to_string(lane.spans);
  if (lane.bytes > 0) cell.bytes = format_bytes(lane.bytes);
  return cell;
}

// Lanes of several ranks or GPUs have their heading's name before their own.
std::string name_of(const trace::Lane& lane, bool several_groups) {
  return several_groups && !lane.group.empty() ? lane.group + ": " + lane.name : lane.name;
}

bool has_several_groups(const TimelineInput& input) {
  for (const TimelineSide& side : input.sides) {
    std::vector<std::string> groups;
    for (std::uint32_t i = 0; side.trace && i < side.trace->lanes().size(); ++i) {
      const std::string& group = side.trace->lanes()[i].group;
      if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    }
    if (groups.size() > 2) return true;
  }
  return false;
}

RangeRow& row_named(std::vector<RangeRow>& rows, const std::string& name, std::size_t side) {
  for (RangeRow& row : rows)
    if (row.lane == name && !row.cells[side]) return row;
  rows.emplace_back().lane = name;
  return rows.back();
}

bool did_nothing(const RangeRow& row) {
  const auto idle = [](const std::optional<RangeCell>& cell) {
    return !cell || cell->spans == "0";
  };
  return idle(row.cells[0]) && idle(row.cells[1]);
}

}  // namespace

std::vector<RangeRow> range_rows(const TimelineInput& input, const TimeRange& range) {
  std::vector<RangeRow> rows;
  const bool several = has_several_groups(input);
  for (std::size_t i = 0; i < std::min<std::size_t>(input.sides.size(), 2); ++i) {
    const TimelineSide& side = input.sides[i];
    if (!side.trace || !side.index) continue;
    const RangeUse use = analysis::use_within(*side.trace, *side.index,
                                              {range.start - side.offset, range.end - side.offset});
    for (const LaneUse& lane : use.lanes) {
      if (!is_shown(side, lane.lane) || side.index->lanes[lane.lane].span_count == 0) continue;
      const std::string name = name_of(side.trace->lanes()[lane.lane], several);
      row_named(rows, name, i).cells[i] = cell_of(use, lane);
    }
  }
  std::erase_if(rows, did_nothing);
  return rows;
}

std::string range_words(const TimeRange& range) {
  return format_nanos(static_cast<double>(range.start)) + " to " +
         format_nanos(static_cast<double>(range.end));
}

}  // namespace trainscope::ui
