#include "analysis/collectives.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

// When the host began each call: the operator around it where there is one.
class Calls {
 public:
  explicit Calls(const trace::Trace& trace) {
    std::map<std::pair<trace::LaneId, Nanos>, Nanos> operators;  // by lane and end
    for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
      const Span& span = trace.spans()[i];
      if (trace.lanes()[span.lane].kind != LaneKind::kHostThread) continue;
      if (span.category == Category::kHostWork) {
        const auto [entry, added] = operators.try_emplace({span.lane, span.end()}, span.start);
        if (!added) entry->second = std::min(entry->second, span.start);
      }
    }
    for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
      const Span& span = trace.spans()[i];
      if (span.correlation == 0 || span.category != Category::kHostApi) continue;
      const auto around = operators.find({span.lane, span.end()});
      begun_[span.correlation] =
          around == operators.end() ? span.start : std::min(span.start, around->second);
    }
  }
  Nanos begun(const Span& span) const {
    const auto call = begun_.find(span.correlation);
    return call == begun_.end() ? span.start : std::min(span.start, call->second);
  }

 private:
  std::unordered_map<std::uint32_t, Nanos> begun_;
};

double bus_factor(const std::string& operation, double n) {
  if (operation == "allreduce") return 2 * (n - 1) / n;
  if (operation == "allgather" || operation == "reduce_scatter") return (n - 1) / n;
  return 1;
}

// In the switch, each byte goes up once and the sums come down.
double wire_factor(const std::string& kernel, const std::string& operation, double n) {
  if (kernel.find("NVLS") == std::string::npos) return bus_factor(operation, n);
  return operation == "allreduce" ? (n + 1) / n : 1;
}

}  // namespace

CollectiveTimes collective_times(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  CollectiveTimes times;
  if (measured.collectives.empty()) return times;
  const Calls calls(trace);
  std::vector<Interval> intervals, at_work;
  std::map<std::int32_t, Nanos> waits;  // by GPU
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.end() <= measured.window.start || span.end() > measured.window.end) continue;
    if (span.category == Category::kSync && span.cause == trace::Cause::kPeer)
      waits[lane.device] += span.duration;
    const auto* detail = trace.detail(span);
    const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
    if (span.category != Category::kCollective || lane.device != 0 || !collective) continue;
    const bool after_work = span.cause == trace::Cause::kEvent;
    intervals.push_back({after_work ? span.start : calls.begun(span), span.end()});
    at_work.push_back({span.start, span.end()});
    constexpr double kFloat = 4;
    const double size =
        kFloat * static_cast<double>(std::max(collective->elements_in, collective->elements_out));
    ++times.count;
    if (collective->group_size == 1) continue;  // nothing to move
    const double ranks = std::max(1, collective->group_size);
    times.bytes += size;
    times.bus_bytes += size * bus_factor(collective->operation, ranks);
    times.wire_bytes += size * wire_factor(trace.name(span), collective->operation, ranks);
  }
  for (const auto& [gpu, wait] : waits) times.longest_wait = std::max(times.longest_wait, wait);
  times.intervals = IntervalSet(std::move(intervals));
  times.at_work = IntervalSet(std::move(at_work));
  return times;
}

}  // namespace trainscope::analysis
