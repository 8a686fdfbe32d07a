#include "analysis/collectives.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/stream_order.h"
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
  explicit Calls(const trace::Trace& trace) : trace_(trace) {
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (span.category == Category::kCollective && span.correlation != 0)
        calls_.try_emplace(span.correlation, trace::kNone);
    });
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId id) {
      if (span.correlation == 0 || span.category != Category::kHostApi) return;
      if (const auto call = calls_.find(span.correlation); call != calls_.end()) call->second = id;
    });
    find_operators();
  }
  Nanos begun(const Span& span) const {
    const auto found = calls_.find(span.correlation);
    if (found == calls_.end() || found->second == trace::kNone) return span.start;
    const Span& call = trace_.spans()[found->second];
    return std::min({span.start, call.start, begun_.at({call.lane, call.end()})});
  }

 private:
  void find_operators() {
    for (const auto& [correlation, id] : calls_) {
      if (id == trace::kNone) continue;
      const Span& call = trace_.spans()[id];
      begun_.try_emplace({call.lane, call.end()}, std::numeric_limits<Nanos>::max());
    }
    trace::for_each(trace_.spans(), [&](const Span& span, trace::SpanId) {
      if (span.category != Category::kHostWork) return;
      if (trace_.lanes()[span.lane].kind != LaneKind::kHostThread) return;
      if (const auto ended = begun_.find({span.lane, span.end()}); ended != begun_.end())
        ended->second = std::min(ended->second, span.start);
    });
  }

  const trace::Trace& trace_;
  std::unordered_map<std::uint32_t, trace::SpanId> calls_;  // of collectives, by correlation
  std::map<std::pair<trace::LaneId, Nanos>, Nanos> begun_;  // operators, by a call's lane and end
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
  if (has("send") || has("recv")) return CollectiveKind::kSendReceive;
  return std::nullopt;
}

// Bytes of an element, by PyTorch's name of the type; 0: not known.
std::int64_t size_of(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
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
  const auto element = static_cast<double>(size_of(collective.type));
  if (!kind || element == 0 || collective.group_size < 1) return false;
  const double bytes =
      element * static_cast<double>(std::max(collective.elements_in, collective.elements_out));
  times.bytes += bytes;
  times.bus_bytes += bytes * sim::bus_factor(*kind, collective.group_size);
  // Of a receive it is the other rank that sends.
  if (*kind == CollectiveKind::kSendReceive &&
      collective.operation.find("send") == std::string::npos)
    return true;
  times.wire_bytes += bytes * sim::wire_factor(algorithm_of(kernel), *kind, collective.group_size);
  return true;
}

}  // namespace

std::int64_t bytes_of(const trace::CollectiveDetail& collective) {
  constexpr std::int64_t kUsual = 4;
  const std::int64_t known = size_of(collective.type);
  return std::max<std::int64_t>({0, collective.elements_in, collective.elements_out}) *
         (known > 0 ? known : kUsual);
}

namespace {

int stuck_gpus(const trace::Trace& trace) {
  std::set<std::int32_t> stuck;
  for (const trace::SpanId wait : endless_waits(trace))
    stuck.insert(trace.lanes()[trace.spans()[wait].lane].device);
  return static_cast<int>(stuck.size());
}

// When the time of a collective begins: with its call; but where its GPU was at work after that,
// and so may have been what it waited for, with its kernel. Neither that wait nor the one for other
// ranks behind it is the collective.
class Begun {
 public:
  explicit Begun(const trace::Trace& trace)
      : calls_(trace), order_(trace, Category::kCollective, StreamOrder::Of::kDevice) {
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (is_peer_wait(span)) there_[span.correlation] = span.start;
    });
  }
  Nanos of(const Span& span) const {
    const auto wait = there_.find(span.correlation);
    const Nanos there = wait == there_.end() || span.correlation == 0 ? span.start : wait->second;
    const Nanos call = calls_.begun(span);
    return order_.free_before(span, there) > call ? span.start : call;
  }

 private:
  Calls calls_;
  StreamOrder order_;
  std::unordered_map<std::uint32_t, Nanos> there_;  // when a wait for others began, by correlation
};

bool tells_waits(const trace::Trace& trace) {
  if (trace.origin().kind != trace::OriginKind::kImported) return true;
  bool any = false;
  trace::for_each(trace.spans(),
                  [&](const Span& span, trace::SpanId) { any = any || is_peer_wait(span); });
  return any;
}

}  // namespace

CollectiveTimes collective_times(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  CollectiveTimes times;
  if (measured.collectives.empty()) return times;
  times.tells_waits = tells_waits(trace);
  times.stuck = stuck_gpus(trace);
  const Begun begun(trace);
  std::vector<Interval> intervals, at_work;
  std::map<std::int32_t, Nanos> waits;  // by GPU
  bool all_known = true;
  std::optional<std::int32_t>
      gpu;  // the first that takes part: a rank's own trace has one, of any number
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.end() <= measured.window.start || span.end() > measured.window.end) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (is_peer_wait(span)) waits[lane.device] += span.duration;
    if (span.category != Category::kCollective) return;
    const auto* detail = trace.detail(span);
    const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
    if (!collective || lane.device != gpu.value_or(lane.device)) return;
    gpu = lane.device;
    intervals.push_back({begun.of(span), span.end()});
    at_work.push_back({span.start, span.end()});
    ++times.count;
    all_known &= add_bytes(times, *collective, trace.name(span.name));
  });
  if (!all_known) times.bytes = times.bus_bytes = times.wire_bytes = 0;
  for (const auto& [device, wait] : waits) times.longest_wait = std::max(times.longest_wait, wait);
  times.intervals = IntervalSet(std::move(intervals));
  times.at_work = IntervalSet(std::move(at_work));
  return times;
}

}  // namespace trainscope::analysis
