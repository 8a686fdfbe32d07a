#include "analysis/steps/intervals.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainscope::analysis {

namespace {

constexpr auto starts_before = [](const Interval& a, const Interval& b) {
  return a.start < b.start;
};

// Millions of intervals are kept for as long as the run: not with room for twice as many.
void give_back_room(std::vector<Interval>& intervals) {
  if (intervals.capacity() > 2 * intervals.size()) intervals.shrink_to_fit();
}

}  // namespace

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  // Lanes are written in order: most lists are sorted already.
  if (!std::is_sorted(intervals.begin(), intervals.end(), starts_before))
    std::sort(intervals.begin(), intervals.end(), starts_before);
  std::size_t kept = 0;  // they are joined where they stand
  for (const Interval next : intervals) {
    if (next.end <= next.start) continue;
    if (kept > 0 && next.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  give_back_room(intervals);
  intervals_ = std::move(intervals);
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
  if (empty()) return other;
  if (other.empty()) return *this;
  std::vector<Interval> all;
  all.reserve(intervals_.size() + other.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), other.intervals_.begin(), other.intervals_.end(),
             std::back_inserter(all), starts_before);
  return IntervalSet(std::move(all));
}

IntervalSet IntervalSet::intersected(const IntervalSet& other) const {
  IntervalSet result;
  if (empty() || other.empty()) return result;
  result.intervals_.reserve(intervals_.size() + other.intervals_.size());
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
  give_back_room(result.intervals_);
  return result;
}

IntervalSet IntervalSet::without(const IntervalSet& other) const {
  if (empty() || other.empty()) return *this;
  IntervalSet result;
  result.intervals_.reserve(intervals_.size() + other.intervals_.size());
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
  give_back_room(result.intervals_);
  return result;
}

}  // namespace trainscope::analysis
