// Sets of time, as sorted intervals that neither overlap nor touch.
#pragma once

#include <vector>

#include "base/time.h"

namespace trainscope::analysis {

struct Interval {
  Nanos start = 0;
  Nanos end = 0;
  bool operator==(const Interval&) const = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;
  // Any intervals in any order; empty ones are left out.
  explicit IntervalSet(std::vector<Interval> intervals);

  const std::vector<Interval>& intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  Nanos length() const;
  // The length inside one interval; logarithmic where few intervals lie in it.
  Nanos length_within(const Interval& range) const;

  IntervalSet united(const IntervalSet& other) const;
  IntervalSet intersected(const IntervalSet& other) const;
  IntervalSet without(const IntervalSet& other) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace trainscope::analysis
