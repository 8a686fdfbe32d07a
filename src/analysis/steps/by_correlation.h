// What is known of host calls, by the correlation that joins a call to its work on the device.
//
// Correlations mostly count up from 1: those stand in a list by number, at a fraction of what a
// hash map costs. A file may number as it likes: what lies far out stands in a map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

// A host call that work on the device may belong to, whether it returned at once or held its
// thread.
inline bool is_joined_call(const trace::Span& span) {
  return span.correlation != 0 &&
         (span.category == trace::Category::kHostApi || span.category == trace::Category::kHeld);
}

template <typename T>
class ByCorrelation {
 public:
  // `absent` is a value that no entry ever has.
  ByCorrelation(const trace::Trace& trace, T absent)
      : absent_(absent), most_near_(std::size_t{2} * trace.spans().size() + 1024) {}

  // Null where there is no entry.
  const T* find(std::uint32_t correlation) const {
    if (correlation < near_.size())
      return near_[correlation] == absent_ ? nullptr : &near_[correlation];
    if (far_.empty()) return nullptr;
    const auto found = far_.find(correlation);
    return found == far_.end() ? nullptr : &found->second;
  }

  // The last one counts.
  void set(std::uint32_t correlation, const T& value) { place(correlation) = value; }

  // The first one counts.
  void add(std::uint32_t correlation, const T& value) {
    T& entry = place(correlation);
    if (entry == absent_) entry = value;
  }

 private:
  T& place(std::uint32_t correlation) {
    if (correlation < near_.size()) return near_[correlation];
    if (correlation >= most_near_) return far_.try_emplace(correlation, absent_).first->second;
    near_.resize(std::min(most_near_, 2 * std::size_t{correlation} + 64), absent_);
    return near_[correlation];
  }

  T absent_;
  std::size_t most_near_;
  std::vector<T> near_;
  std::unordered_map<std::uint32_t, T> far_;
};

}  // namespace trainscope::analysis
