#include "report/summing_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

std::string_view name_of(const PrintedStep& step) {
  return step.together ? "smaller causes" : analysis::name_of(step.change);
}

PrintedSum printed_sum(double from, double to, const std::vector<analysis::Change>& changes) {
  const double longer = std::max(from, to), least = kLeastPart * longer;
  const SummingTimes times(longer, least);
  PrintedSum sum{times.at(from), times.at(to), {}};
  const auto alone = static_cast<std::size_t>(
      std::ranges::find_if(
          changes, [&](const analysis::Change& change) { return std::abs(change.nanos) < least; }) -
      changes.begin());
  double at = from;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool together = i == alone;
    const double next = together || i + 1 == changes.size() ? to : at + changes[i].nanos;
    std::string time = times.step(at, next);
    if (!time.empty()) sum.steps.push_back({changes[i], together, at, next, std::move(time)});
    if (together) break;
    at = next;
  }
  return sum;
}

}  // namespace trainscope::report
