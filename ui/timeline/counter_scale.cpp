#include "ui/timeline/counter_scale.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/units.h"
#include "ui/app/views/exact_count.h"

namespace trainscope::ui {
namespace {

using TopsByName = std::map<std::string_view, CounterTop>;

bool has_samples(const CounterSide& side, trace::LaneId lane) {
  return lane < side.draw.counters.size() && !side.draw.counters[lane].samples.empty();
}

void include(TopsByName& tops, const CounterSide& side) {
  for (trace::LaneId lane = 0; lane < side.draw.counters.size(); ++lane) {
    if (!has_samples(side, lane)) continue;
    const CounterTop own = counter_top(side.trace.lanes()[lane], side.draw.counters[lane]);
    CounterTop& top = tops[side.trace.lanes()[lane].name];
    top = {std::max(top.value, own.value), own.is_limit};
  }
}

CounterTops tops_of(const CounterSide& side, const TopsByName& reached) {
  CounterTops tops(side.draw.counters.size());
  for (trace::LaneId lane = 0; lane < tops.size(); ++lane) {
    if (!has_samples(side, lane)) continue;
    const std::string& name = side.trace.lanes()[lane].name;
    const auto limit = std::ranges::find(side.limits, name, &CounterLimit::lane);
    const bool known = limit != side.limits.end() && limit->value >= side.draw.counters[lane].most;
    tops[lane] = known ? CounterTop{limit->value, true} : reached.at(name);
  }
  return tops;
}

std::string amount(double value, bool bytes) {
  return bytes ? format_bytes(value) : exact_count(value);
}

}  // namespace

std::vector<CounterTops> counter_tops(const std::vector<CounterSide>& sides) {
  TopsByName reached;
  for (const CounterSide& side : sides) include(reached, side);
  std::vector<CounterTops> tops;
  for (const CounterSide& side : sides) tops.push_back(tops_of(side, reached));
  return tops;
}

CounterTop counter_top(const trace::Lane& lane, const Counter& counter) {
  // Shares are of 100, whatever they reached.
  if (lane.name.ends_with('%')) return {std::max(counter.most, 100.0), true};
  return {counter.most, false};
}

std::string counter_words(double most, const CounterTop& top) {
  const bool bytes = !top.is_limit && top.value >= 1 << 16;
  if (most >= top.value) return amount(most, bytes);
  return amount(most, bytes) + (top.is_limit ? " of " : ", scale to ") + amount(top.value, bytes);
}

}  // namespace trainscope::ui
