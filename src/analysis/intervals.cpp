#include "analysis/intervals.h"

#include <algorithm>
#include <iterator>

namespace trainscope::analysis {

namespace {

bool starts_before(const Interval& a, const Interval& b) {
  return a.start < b.start;
}

}  // namespace

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  // Lanes are written in order: most lists are sorted already.
  if (!std::is_sorted(intervals.begin(), intervals.end(), starts_before))
    std::sort(intervals.begin(), intervals.end(), starts_before);
  for (const Interval& next : intervals) {
    if (next.end <= next.start) continue;
    if (!intervals_.empty() && next.start <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, next.end);
    } else {
      intervals_.push_back(next);
    }
  }
}

Nanos IntervalSet::length() const {
  Nanos sum = 0;
  for (const Interval& one : intervals_) sum += one.end - one.start;
  return sum;
}

Nanos IntervalSet::length_within(const Interval& range) const {
  auto one = std::lower_bound(intervals_.begin(), intervals_.end(), range.start,
                              [](const Interval& a, Nanos start) { return a.end <= start; });
  Nanos sum = 0;
  for (; one != intervals_.end() && one->start < range.end; ++one)
    sum += std::min(one->end, range.end) - std::max(one->start, range.start);
  return sum;
}

IntervalSet IntervalSet::united(const IntervalSet& other) const {
  std::vector<Interval> all;
  all.reserve(intervals_.size() + other.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), other.intervals_.begin(), other.intervals_.end(),
             std::back_inserter(all), starts_before);
  return IntervalSet(std::move(all));
}

IntervalSet IntervalSet::intersected(const IntervalSet& other) const {
  IntervalSet result;
  std::size_t i = 0, j = 0;
  while (i < intervals_.size() && j < other.intervals_.size()) {
    const Interval &a = intervals_[i], &b = other.intervals_[j];
    const Interval both{std::max(a.start, b.start), std::min(a.end, b.end)};
    if (both.start < both.end) result.intervals_.push_back(both);
    if (a.end < b.end) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

IntervalSet IntervalSet::without(const IntervalSet& other) const {
  IntervalSet result;
  std::size_t j = 0;
  for (const Interval& one : intervals_) {
    Nanos from = one.start;
    while (j < other.intervals_.size() && other.intervals_[j].end <= from) ++j;
    for (std::size_t k = j; k < other.intervals_.size() && other.intervals_[k].start < one.end;
         ++k) {
      if (other.intervals_[k].start > from)
        result.intervals_.push_back({from, other.intervals_[k].start});
      from = std::max(from, other.intervals_[k].end);
    }
    if (from < one.end) result.intervals_.push_back({from, one.end});
  }
  return result;
}

}  // namespace trainscope::analysis
