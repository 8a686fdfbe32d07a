// A trace's marks of steps, by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// Those of each rank by start; of several processes or threads in one file those of the lane that
// has most.
using RankMarks = std::map<std::int32_t, std::vector<Interval>>;
RankMarks marks_by_rank(const trace::Trace& trace);

// Where several ranks have marks, the first one's.
struct StepMarks {
  std::vector<Interval> marks;
  std::int32_t rank = 0;
};
StepMarks first_marks(const RankMarks& ranks);

// The marks of what lies between two steps of that rank and belongs to neither, by start: the
// program's validations, or a user's record_function of the same name.
std::vector<Interval> validations(const trace::Trace& trace, const StepMarks& steps);

// The steps from `first` on between which there is no validation: the longest run of them, of
// several as long the first. `marks` has more than `first`.
struct StepRun {
  std::size_t first = 0;
  std::size_t end = 0;  // past the last one
};
StepRun undisturbed(const std::vector<Interval>& marks, std::size_t first,
                    const std::vector<Interval>& validations);

// Of each rank, those that for the most part lie in the measured steps.
RankMarks marks_within(RankMarks ranks, const std::vector<Interval>& measured);

}  // namespace trainscope::analysis
