#include "ui/timeline/lane_filter.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

bool contains(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::string lane_key(const trace::Lane& lane) {
  return lane.group + '\n' + lane.name;
}

std::vector<trace::LaneId> lanes_with(const trace::Trace& trace,
                                      const std::vector<std::string>& keys) {
  std::vector<trace::LaneId> lanes;
  if (keys.empty()) return lanes;
  for (trace::LaneId lane = 0, n = trace.lanes().size(); lane < n; ++lane)
    if (contains(keys, lane_key(trace.lanes()[lane]))) lanes.push_back(lane);
  return lanes;
}

void toggle_pin(LaneFilter& filter, const trace::Lane& lane) {
  const std::string key = lane_key(lane);
  if (std::erase(filter.pinned, key) == 0) filter.pinned.push_back(key);
}

void hide(LaneFilter& filter, const trace::Lane& lane) {
  const std::string key = lane_key(lane);
  std::erase(filter.pinned, key);
  if (!contains(filter.hidden, key)) filter.hidden.push_back(key);
}

void hide_others(LaneFilter& filter, const trace::Trace& trace, const trace::Lane& lane) {
  for (trace::LaneId other = 0, n = trace.lanes().size(); other < n; ++other) {
    const std::string key = lane_key(trace.lanes()[other]);
    if (key != lane_key(lane) && !contains(filter.pinned, key)) hide(filter, trace.lanes()[other]);
  }
}

}  // namespace trainscope::ui
