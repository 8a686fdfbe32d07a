#include "analysis/steps/validating.h"

#include <algorithm>

#include "analysis/steps/step_marks.h"
#include "analysis/views/memory_history.h"

namespace trainscope::analysis {
namespace {

std::vector<Interval> marks_of(const trace::Trace& trace) {
  return first_validations(trace, marks_by_rank(trace));
}

double allocated_at(const MemoryHistory& history, Nanos time) {
  const MemoryHistory::Moment* moment = history.at(time);
  return moment ? moment->allocated : 0;
}

double peak_within(const MemoryHistory& history, const Interval& time) {
  double peak = allocated_at(history, time.start);
  for (const MemoryHistory::Moment& moment : history.moments())
    if (moment.time >= time.start && moment.time <= time.end)
      peak = std::max(peak, moment.allocated);
  return peak;
}

}  // namespace

std::optional<Validating> validating(const trace::Trace& trace) {
  const std::vector<Interval> all = marks_of(trace);
  if (all.empty()) return std::nullopt;
  Validating found;
  const MemoryHistory history(trace);
  if (!history.empty())
    for (const Interval& one : all)
      found.peak = std::max(found.peak.value_or(0), peak_within(history, one));
  double left = 0;
  for (const Interval& one : all) {
    found.time += static_cast<double>(one.end - one.start) / static_cast<double>(all.size());
    left += allocated_at(history, one.end) - allocated_at(history, one.start);
  }
  if (!history.empty()) found.left = left / static_cast<double>(all.size());
  return found;
}

}  // namespace trainscope::analysis
