// What two runs amount to, side by side: which is faster, and where the difference went.
#pragma once

#include <string>
#include <vector>

#include "analysis/run.h"

namespace trainscope::report {

// Which of two runs have step marks; times "a step" mean something only where both do or none does.
enum class Steps { kNone, kOne, kBoth };

struct Comparison {
  Steps steps = Steps::kNone;
  double time_a = 0;  // nanoseconds, a step where there are steps
  double time_b = 0;
  std::vector<analysis::Change> changes;  // with time_a they sum to time_b; empty for kOne
};
Comparison compare_times(const analysis::Run& a, const analysis::Run& b);

// Whether two runs may be called faster and slower: both of one workload. A trace that was read
// does not say what it is of; who puts it beside another takes them to be of the same.
bool same_work(const analysis::Run& a, const analysis::Run& b);

// "B is 1.39x faster", "A and B do different work"; empty when there is no time to compare.
std::string headline(const analysis::Run& a, const analysis::Run& b);

// The time of the measured window, a step where there are steps.
double window_time(const analysis::Run& run);

// "time.step", or "time.total" where there are no steps; null: neither.
const analysis::MetricValue* main_time(const analysis::Run& run);

}  // namespace trainscope::report
