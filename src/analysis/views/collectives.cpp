#include "analysis/views/collectives.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/causes/stream_order.h"
#include "analysis/caveats/collective_caveat.h"
#include "base/text.h"
#include "machine/topology.h"
#include "sim/collectives/collective_model.h"
#include "trace/same_collectives.h"

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

// Bytes of an element, by PyTorch's name of the type (c10/core/ScalarType.h); 0: not known.
std::int64_t size_of(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
      {"Float", 4},  {"Half", 2},        {"BFloat16", 2},     {"Double", 8},
      {"Long", 8},   {"Int", 4},         {"Short", 2},        {"Byte", 1},
      {"Char", 1},   {"Bool", 1},        {"UInt16", 2},       {"UInt32", 4},
      {"UInt64", 8}, {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  if (type.starts_with("Float8_")) return 1;  // Float8_e4m3fn, Float8_e5m2 and others
  for (const auto& [name, bytes] : kSizes)
    if (name == type) return bytes;
  return 0;
}

// A switch's sums cross the links less often; a ring's and a tree's as often as each other's.
sim::Algorithm algorithm_of(const CollectiveWay& way) {
  return way.algorithm == "NVLS" ? sim::Algorithm::kNvls : sim::Algorithm::kRing;
}

// Of a list of ranks, "[0, 8]" or "[0, 1, ..., 15]", the first and the last.
std::optional<std::pair<int, int>> ends_of(std::string_view members) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t first = members.find_first_of(kDigits), last = members.find_last_of(kDigits);
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t begin = members.substr(0, last).find_last_not_of(kDigits) + 1;
  std::pair<int, int> ends;
  std::from_chars(members.data() + first, members.data() + members.size(), ends.first);
  std::from_chars(members.data() + begin, members.data() + members.size(), ends.second);
  return ends;
}

// Of a group, the GPUs that it has in each of its nodes; 0: it is within one.
double gpus_of_each_node(const trace::CollectiveDetail& collective, int gpus_of_node) {
  const auto ends = ends_of(collective.members);
  if (!ends) return collective.group_size > gpus_of_node ? gpus_of_node : 0;
  const int nodes = ends->second / gpus_of_node - ends->first / gpus_of_node + 1;
  return nodes > 1 ? static_cast<double>(collective.group_size) / nodes : 0;
}

// What the links that a GPU's collectives use carry in one direction.
class Links {
 public:
  explicit Links(const Measured& measured) : machine_(measured.machine) {
    if (!machine_) return;
    const program::Program* program = measured.program;
    const bool have_peers = !program || std::ranges::all_of(program->communicators,
                                                            &program::Communicator::peer_to_peer);
    const bool cut = machine_->gpu_link.is_nvlink() && !have_peers;
    between_gpus_ =
        (cut ? machine::link_without_nvlinks(*machine_) : machine_->gpu_link).bytes_per_s;
    in_stages_ = program && program->stages > 1;
  }

  // Stages do other things than one another: of a node's network all of its GPUs tell, else one.
  bool are_told_by(const trace::Lane& lane, bool is_first) const {
    return in_stages_ && machine_ ? lane.rank < machine_->gpu_count : is_first;
  }

  // Of what a GPU sends, what its node sends to others. Each ring leaves a node once, so a node
  // sends as much as each of its GPUs, and those of other groups as much again.
  double to_other_nodes(const trace::CollectiveDetail& collective, double wire_bytes) const {
    if (!machine_ || between_gpus_ <= 0 || machine_->network.bytes_per_s <= 0) return 0;
    const double node = machine_->gpu_count,
                 gpus = gpus_of_each_node(collective, machine_->gpu_count);
    if (gpus <= 0) return 0;
    return wire_bytes * (in_stages_ ? 1 / gpus : std::max(1.0, node / gpus));
  }

  void add(CollectiveTimes& times, const trace::CollectiveDetail& collective,
           double wire_bytes) const {
    if (!machine_ || between_gpus_ <= 0) return;
    const double node = machine_->gpu_count,
                 gpus = gpus_of_each_node(collective, machine_->gpu_count);
    double rate = between_gpus_;
    // Groups share what a node has; stages have what they reach of it in turn.
    if (gpus > 0 && machine_->network.bytes_per_s > 0) {
      const double adapters = std::max(1, machine_->network.adapters);
      const double reached = gpus * std::max(1.0, std::floor(adapters / node)) / adapters;
      rate = std::min(
          rate, machine_->network.bytes_per_s * std::min(1.0, in_stages_ ? reached : gpus / node));
    }
    times.on_links += wire_bytes / rate * 1e9;
  }

 private:
  const machine::Machine* machine_;
  double between_gpus_ = 0;  // bytes a second
  bool in_stages_ = false;
};

struct Moved {
  double bytes = 0;      // of the buffers
  double bus_bytes = 0;  // times the traffic factor
  double sent = 0;       // by this GPU
};

// Nothing where the trace does not tell.
std::optional<Moved> moved_by(const trace::CollectiveDetail& collective, const CollectiveWay& way) {
  const bool is_barrier = collective.operation.find("barrier") != std::string::npos;
  if (collective.group_size == 1 || is_barrier) return Moved{};  // nothing to move
  const std::optional<trace::CollectiveKind> told = trace::kind_of(collective.operation);
  const auto element = static_cast<double>(size_of(collective.type));
  if (!told || element == 0 || collective.group_size < 1) return std::nullopt;
  const CollectiveKind kind = traffic_of(*told);
  const double bytes =
      element * static_cast<double>(std::max(collective.elements_in, collective.elements_out));
  Moved moved{bytes, bytes * sim::bus_factor(kind, collective.group_size), 0};
  // Of a receive it is the other rank that sends.
  if (kind != CollectiveKind::kSendReceive ||
      collective.operation.find("send") != std::string::npos)
    moved.sent = bytes * sim::wire_factor(algorithm_of(way), kind, collective.group_size);
  return moved;
}

void add(CollectiveTimes& times, const Moved& moved, const trace::CollectiveDetail& collective,
         const Links& links) {
  times.bytes += moved.bytes;
  times.bus_bytes += moved.bus_bytes;
  if (moved.sent > 0) links.add(times, collective, moved.sent);
}

// What each GPU sent: the ends of a pipeline send other amounts than its middle.
class Sent {
 public:
  void add(const trace::Lane& lane, double bytes) { by_gpu_[{lane.rank, lane.device}] += bytes; }
  double most() const {
    double most = 0;
    for (const auto& [gpu, bytes] : by_gpu_) most = std::max(most, bytes);
    return most;
  }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, double> by_gpu_;  // by rank and device
};

}  // namespace

CollectiveKind traffic_of(trace::CollectiveKind kind) {
  switch (kind) {
    case trace::CollectiveKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    case trace::CollectiveKind::kAllGather:
    case trace::CollectiveKind::kAllToAll:
      return CollectiveKind::kAllGather;
    case trace::CollectiveKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case trace::CollectiveKind::kBroadcast:
      return CollectiveKind::kBroadcast;
    case trace::CollectiveKind::kReduce:
      return CollectiveKind::kReduce;
    case trace::CollectiveKind::kSendReceive:
      break;
  }
  return CollectiveKind::kSendReceive;
}

namespace {

// Of the name of its kernel; empty: it does not tell.
std::string_view algorithm_in(std::string_view kernel, bool simulated) {
  if (contains(kernel, "_NVLS")) return "NVLS";
  if (contains(kernel, "_TREE_")) return "tree";
  if (simulated || contains(kernel, "LL128") || contains(kernel, "_SIMPLE")) return "ring";
  return "";
}

std::string_view protocol_in(std::string_view kernel, bool simulated) {
  if (contains(kernel, "LL128")) return "LL128";
  if (contains(kernel, "_SIMPLE")) return "Simple";
  return simulated && contains(kernel, "_LL") ? "LL" : "";
}

}  // namespace

CollectiveWay way_of(const trace::Trace& trace, const Span& span) {
  const auto* detail = trace::collective_of(trace, span);
  if (detail && !(detail->algorithm.empty() && detail->protocol.empty()))
    return {detail->algorithm, detail->protocol};
  const std::string& kernel = trace.name(span);
  const bool simulated = trace.origin().kind == trace::OriginKind::kSimulated;
  return {std::string(algorithm_in(kernel, simulated)),
          std::string(protocol_in(kernel, simulated))};
}

bool is_told(const trace::CollectiveDetail& collective) {
  return moved_by(collective, {}).has_value();
}

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
  const Links links(measured);
  std::vector<Interval> intervals, at_work;
  std::map<std::int32_t, Nanos> waits;  // by GPU
  Sent sent;
  std::optional<std::int32_t>
      gpu;  // the first that takes part: a rank's own trace has one, of any number
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    const bool is_wait = is_peer_wait(span);
    if (!is_wait && span.category != Category::kCollective) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    const Interval window = measured.window_of(lane.rank);
    if (span.end() <= window.start || span.end() > window.end) return;
    if (is_wait) waits[lane.device] += span.duration;
    if (span.category != Category::kCollective) return;
    const auto* detail = trace.detail(span);
    const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
    if (!collective) return;
    const auto moved = moved_by(*collective, way_of(trace, span));
    if (moved) sent.add(lane, moved->sent);
    const bool is_first = lane.device == gpu.value_or(lane.device);
    if (moved && links.are_told_by(lane, is_first))
      times.network_bytes += links.to_other_nodes(*collective, moved->sent);
    if (!is_first) return;
    gpu = lane.device;
    at_work.push_back({span.start, span.end()});
    ++times.count;
    if (!moved || moved->bytes <= 0) return;  // a barrier waits
    intervals.push_back({begun.of(span), span.end()});
    times.work_of_all += span.duration;
    add(times, *moved, *collective, links);
  });
  times.wire_bytes = sent.most();
  for (const auto& [device, wait] : waits) times.longest_wait = std::max(times.longest_wait, wait);
  times.intervals = IntervalSet(std::move(intervals));
  times.at_work = IntervalSet(std::move(at_work));
  return times;
}

}  // namespace trainscope::analysis
