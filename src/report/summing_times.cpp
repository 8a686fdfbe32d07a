#include "report/summing_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace trainscope::report {
namespace {

struct Unit {
  const char* name;
  double nanos;
  int decimals;  // down to a nanosecond
};
constexpr std::array kUnits{Unit{"ns", 1, 0}, Unit{"us", 1e3, 3}, Unit{"ms", 1e6, 6},
                            Unit{"s", 1e9, 9}};
constexpr double kTicks = 1e3;  // the longest has at least as many: four digits

const Unit& unit_of(double longest) {
  const Unit* unit = &kUnits.front();
  for (const Unit& one : kUnits)
    if (longest >= one.nanos) unit = &one;
  return *unit;
}

}  // namespace

SummingTimes::SummingTimes(double longest, double least) {
  const Unit& unit = unit_of(longest);
  unit_ = unit.name;
  tick_ = unit.nanos;
  while (decimals_ < unit.decimals && (longest < kTicks * tick_ || least < tick_)) {
    ++decimals_;
    tick_ = unit.nanos / std::pow(10, decimals_);
  }
}

std::int64_t SummingTimes::ticks(double nanos) const {
  return std::llround(nanos / tick_);
}

std::string SummingTimes::text_of(std::int64_t ticks) const {
  return fmt::format("{:.{}f} {}", static_cast<double>(ticks) / std::pow(10, decimals_), decimals_,
                     unit_);
}

std::string SummingTimes::at(double nanos) const {
  return text_of(ticks(nanos));
}

std::string SummingTimes::step(double from, double to) const {
  const std::int64_t change = ticks(to) - ticks(from);
  if (change == 0) return "";
  return (change > 0 ? "+" : "") + text_of(change);
}

PrintedSum printed_sum(double from, double to, const std::vector<analysis::Change>& changes) {
  double least = std::numeric_limits<double>::infinity();
  for (const analysis::Change& change : changes)
    if (std::abs(change.nanos) >= 1) least = std::min(least, std::abs(change.nanos));
  const SummingTimes times(std::max(from, to), least);
  PrintedSum sum{times.at(from), times.at(to), {}};
  double at = from;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const double next = i + 1 < changes.size() ? at + changes[i].nanos : to;
    std::string time = times.step(at, next);
    if (!time.empty()) sum.steps.push_back({changes[i], at, next, std::move(time)});
    at = next;
  }
  return sum;
}

}  // namespace trainscope::report
