// Times that stand under one another and add up: in one unit, with as many decimals. What is
// printed sums as the times do, to the last digit; of times that are rounded one by one three
// digits each miss their sum by as much as the longest is rounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/causes/partition.h"

namespace trainscope::report {

class SummingTimes {
 public:
  // In the unit of the longest of them, with four digits of that, and more where `least`, the
  // shortest that is to be seen, has its first digit further behind; none is finer than a
  // nanosecond. Both in nanoseconds.
  SummingTimes(double longest, double least);

  // "83.52 ms".
  std::string at(double nanos) const;

  // What leads from one time to another: "+1.20 ms", "-0.17 ms"; empty where that is less than is
  // printed. It is the difference of what `at` says of both.
  std::string step(double from, double to) const;

 private:
  std::int64_t ticks(double nanos) const;
  std::string text_of(std::int64_t ticks) const;

  std::string unit_;
  double tick_ = 1;   // in nanoseconds
  int decimals_ = 0;  // of the unit
};

// A waterfall as it is printed: from a time, by changes, to another one.
inline constexpr double kLeastPart = 0.001;  // of the longer time: what is less is told together
struct PrintedStep {
  analysis::Change change;  // of several that are told together, the largest
  bool together = false;
  double from = 0;  // nanoseconds
  double to = 0;
  std::string time;
};
struct PrintedSum {
  std::string from, to;
  std::vector<PrintedStep> steps;  // but what is less than is printed
};
// "kernels", or "smaller causes".
std::string_view name_of(const PrintedStep& step);

// With `from` the changes, largest first, sum to `to`.
PrintedSum printed_sum(double from, double to, const std::vector<analysis::Change>& changes);

}  // namespace trainscope::report
