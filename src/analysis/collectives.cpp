#include "analysis/collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/collectives/collective_model.h"

namespace trainscope::analysis {
namespace {

using program::CollectiveKind;
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

// As PyTorch's profiler names them; variants of one kind share its name ("_allgather_base",
// "allreduce_coalesced").
std::optional<CollectiveKind> kind_of(std::string_view operation) {
  const auto has = [&](std::string_view name) {
    return operation.find(name) != std::string_view::npos;
  };
  if (has("allreduce")) return CollectiveKind::kAllReduce;
  if (has("allgather")) return CollectiveKind::kAllGather;
  if (has("reduce_scatter")) return CollectiveKind::kReduceScatter;
  if (has("broadcast")) return CollectiveKind::kBroadcast;
  if (has("reduce")) return CollectiveKind::kReduce;
  return std::nullopt;
}

// Bytes of an element, by PyTorch's name of the type; 0: not known.
double size_of(std::string_view type) {
  constexpr std::pair<std::string_view, double> kSizes[] = {
      {"Float", 4}, {"Half", 2}, {"BFloat16", 2}, {"Double", 8}, {"Long", 8},
      {"Int", 4},   {"Byte", 1}, {"Char", 1},     {"Bool", 1}};
  for (const auto& [name, bytes] : kSizes)
    if (name == type) return bytes;
  return 0;
}

sim::Algorithm algorithm_of(std::string_view kernel) {
  const bool in_switch = kernel.find("NVLS") != std::string_view::npos;
  return in_switch ? sim::Algorithm::kNvls : sim::Algorithm::kRing;
}

// Adds what the collective moved; false where the trace does not tell.
bool add_bytes(CollectiveTimes& times, const trace::CollectiveDetail& collective,
               std::string_view kernel) {
  if (collective.group_size == 1) return true;  // nothing to move
  const std::optional<CollectiveKind> kind = kind_of(collective.operation);
  const double element = size_of(collective.type);
  if (!kind || element == 0 || collective.group_size < 1) return false;
  const double bytes =
      element * static_cast<double>(std::max(collective.elements_in, collective.elements_out));
  times.bytes += bytes;
  times.bus_bytes += bytes * sim::bus_factor(*kind, collective.group_size);
  times.wire_bytes += bytes * sim::wire_factor(algorithm_of(kernel), *kind, collective.group_size);
  return true;
}

}  // namespace

namespace {

int stuck_gpus(const trace::Trace& trace) {
  std::set<std::int32_t> stuck;
  for (const trace::SpanId wait : endless_waits(trace))
    stuck.insert(trace.lanes()[trace.spans()[wait].lane].device);
  return static_cast<int>(stuck.size());
}

}  // namespace

CollectiveTimes collective_times(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  CollectiveTimes times;
  if (measured.collectives.empty()) return times;
  times.stuck = stuck_gpus(trace);
  const Calls calls(trace);
  std::vector<Interval> intervals, at_work;
  std::map<std::int32_t, Nanos> waits;  // by GPU
  bool all_known = true;
  std::optional<std::int32_t>
      gpu;  // the first that takes part: a rank's own trace has one, of any number
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.end() <= measured.window.start || span.end() > measured.window.end) continue;
    if (span.category == Category::kSync && span.cause == trace::Cause::kPeer)
      waits[lane.device] += span.duration;
    const auto* detail = trace.detail(span);
    const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
    if (span.category != Category::kCollective || !collective) continue;
    if (lane.device != gpu.value_or(lane.device)) continue;
    gpu = lane.device;
    const bool after_work = span.cause == trace::Cause::kEvent;
    intervals.push_back({after_work ? span.start : calls.begun(span), span.end()});
    at_work.push_back({span.start, span.end()});
    ++times.count;
    all_known &= add_bytes(times, *collective, trace.name(span.name));
  }
  if (!all_known) times.bytes = times.bus_bytes = times.wire_bytes = 0;
  for (const auto& [device, wait] : waits) times.longest_wait = std::max(times.longest_wait, wait);
  times.intervals = IntervalSet(std::move(intervals));
  times.at_work = IntervalSet(std::move(at_work));
  return times;
}

}  // namespace trainscope::analysis
