// What two runs amount to, side by side: which is faster, and where the difference went.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::report {

// Which of two runs have step marks; times "a step" mean something only where both do or none does.
enum class Steps { kNone, kOne, kBoth };

struct Comparison {
  Steps steps = Steps::kNone;
  double time_a = 0;  // nanoseconds, a step where there are steps
  double time_b = 0;
  bool whole = true;  // neither run ended before its program did
  // With time_a they sum to time_b; empty for kOne, and where a time is not whole.
  std::vector<analysis::Change> changes;
};
Comparison compare_times(const analysis::Run& a, const analysis::Run& b);

// Whether there is a difference to explain: the times, or what they are spent on, differ by more
// than half a percent of a step.
bool is_worth_explaining(const Comparison& comparison);

// What stands in an explanation's place where there is none.
inline constexpr const char* kNothingToExplain =
    "Nothing to explain: no part differs by half a percent.";

// Whether two runs may be called faster and slower: both of one workload. A trace that was read
// does not say what it is of; who puts it beside another takes them to be of the same.
bool same_work(const analysis::Run& a, const analysis::Run& b);

// Whether both runs were carried out to the end of their programs.
bool has_whole_times(const analysis::Run& a, const analysis::Run& b);

// Whether the run that takes less time is the faster one: both ended, and train as much a step at
// the same work: as many tokens where both read them, since sequences differ in length, else
// samples.
bool less_is_faster(const analysis::Run& a, const analysis::Run& b);

// Whether two times or rates are too close to call one the larger: within half a percent.
bool are_alike(double a, double b);

// "B is 1.39x faster", "A and B do different work", "B never ends: deadlock"; where steps are of
// different sizes "B trains 6.64x as many samples a second; its step takes 154x as long", of models
// that read tokens so many tokens. Empty when there is nothing to compare.
std::string headline(const analysis::Run& a, const analysis::Run& b, const Speech& speech = {});

// A run's figure as tables print it: in brackets where the run ended before its program did, since
// it is of what was carried out up to there, which may be a warm-up step alone.
std::string shown(const analysis::Run& run, const analysis::Metric& metric, double value);

// What stands where brackets do.
inline constexpr const char* kInBrackets =
    "In brackets: up to where a run ended, not what it would have taken.";

// What stands beside the headline of two simulated runs that are too close: "closer than the
// simulator's error for FSDP, …" (analysis/runs/published_errors.h). Empty where that says nothing.
std::string closeness(const analysis::Run& a, const analysis::Run& b, const Speech& speech = {});

// The time of the measured window, a step where there are steps.
double window_time(const analysis::Run& run);

// "time.step", or "time.total" where there are no steps; null: neither.
const analysis::MetricValue* main_time(const analysis::Run& run);

}  // namespace trainscope::report
