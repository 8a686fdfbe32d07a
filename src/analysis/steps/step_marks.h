// A trace's marks of steps, by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// "ProfilerStep#4" on the host.
struct StepMark {
  Interval time;
  std::int64_t number = -1;  // -1: its name has none
};

// Those of each rank by start; of several processes or threads in one file those of the lane that
// has most. A step is one of the first rank's marks.
using RankMarks = std::map<std::int32_t, std::vector<StepMark>>;
RankMarks marks_by_rank(const trace::Trace& trace);

// Of each rank its marks of some steps; none where its file does not hold them.
using OwnMarks = std::map<std::int32_t, std::vector<Interval>>;

std::vector<std::int32_t> ranks_of(const RankMarks& ranks);

// The marks of one of them.
struct StepMarks {
  std::vector<Interval> marks;
  std::int32_t rank = 0;
};
StepMarks marks_of(const RankMarks& ranks, std::int32_t rank);
// Where several ranks have marks, the first one's; none where none has.
StepMarks first_marks(const RankMarks& ranks);

// Of each rank its marks of the steps from `first` to before `end`: those of their numbers, for a
// host may be steps ahead of another. Where a rank has a number twice, or none, those that for the
// most part lie in these steps.
OwnMarks marks_of_steps(const RankMarks& ranks, std::size_t first, std::size_t end);

// The same of each step.
std::vector<OwnMarks> marks_by_step(const RankMarks& ranks);

// Of each rank the marks of what lies between two steps and belongs to neither, by start: the
// program's validations, or a user's record_function of the same name. None for a rank that has
// none of them.
std::map<std::int32_t, std::vector<Interval>> validations(const trace::Trace& trace,
                                                          const RankMarks& ranks);
// Those of the first rank.
std::vector<Interval> first_validations(const trace::Trace& trace, const RankMarks& ranks);

// Between marks of one rank whose numbers leave some out: the profiler rested from one of its
// cycles to the next, or a mark is missing. By start.
std::vector<Interval> pauses(const std::vector<StepMark>& marks);

// What lies between two steps and belongs to neither: validations, and such pauses; by rank, by
// start. None for a rank that has none of them.
std::map<std::int32_t, std::vector<Interval>> times_apart(const trace::Trace& trace,
                                                          const RankMarks& ranks);
// Those of the first rank.
std::vector<Interval> first_times_apart(const trace::Trace& trace, const RankMarks& ranks);

// The steps from `first` on between which nothing is apart: the longest run of them, of several as
// long the first. `marks` has more than `first`.
struct StepRun {
  std::size_t first = 0;
  std::size_t end = 0;  // past the last one
};
StepRun undisturbed(const std::vector<Interval>& marks, std::size_t first,
                    const std::vector<Interval>& apart);

}  // namespace trainscope::analysis
