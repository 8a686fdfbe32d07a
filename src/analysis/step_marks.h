// A trace's marks of steps, by rank.
#pragma once

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

// Of each rank, those that for the most part lie in the measured steps.
RankMarks marks_within(RankMarks ranks, const std::vector<Interval>& measured);

}  // namespace trainscope::analysis
