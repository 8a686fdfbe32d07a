// Collectives on the device: each rank's kernel is placed when its stream lets it, waits there for
// the last rank, and then works together with all others.

#include <algorithm>
#include <set>

#include "sim/device.h"
#include "trace/labels.h"

namespace trainscope::sim {
namespace {

// Something comes to the rank from another: not where it only sends.
bool takes_in(const program::Collective& collective) {
  return collective.kind != program::CollectiveKind::kSendReceive ||
         collective.receive != program::kNoIndex;
}

}  // namespace

const CollectivePlan& Device::plan_of(const program::Collective& collective) {
  const auto key = std::tuple(collective.communicator, collective.kind, collective.bytes);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  return plans_[key] = plan_collective(machine_, program_.communicators[collective.communicator],
                                       collective.kind, collective.bytes);
}

OpId Device::enqueue_collective(Nanos now, const Enqueued& tags,
                                const program::Collective& collective) {
  Op op;
  op.kind = Kind::kCollective;
  op.tags = tags;
  op.collective = &collective;
  op.category = trace::Category::kCollective;
  op.earliest = now + machine_.host.launch_latency_ns;
  if (tags.in_launch_queue) ++streams_[tags.stream].launch_queue;
  return enqueue(now, std::move(op));
}

// Its channels want SMs that have no block, which there are once the blocks of all kernels before
// it are placed and most are done. Those of a rank alone do nothing.
void Device::start_collective(Nanos now, OpId id) {
  if (program_.communicators[ops_[id].collective->communicator].ranks == 1) return arrive(now, id);
  const auto gpu = static_cast<std::uint32_t>(gpu_of(id));
  for_room_[gpu].push_back(id);
  place_collectives(now, gpu);
}

void Device::place_collectives(Nanos now, std::uint32_t gpu) {
  std::deque<OpId>& waiting = for_room_[gpu];
  while (!waiting.empty()) {
    const OpId id = waiting.front();
    const CollectivePlan& plan = plan_of(*ops_[id].collective);
    if (!has_room(gpu, plan)) return;
    waiting.pop_front();
    if (ops_[id].start < now) ops_[id].cause = trace::Cause::kRoom;
    ops_[id].start = now;
    set_aside(now, id, {plan.channels, 0});
    arrive(now, id);
  }
}

// Or no kernel is there: other collectives may go on for as long as this one is not.
bool Device::has_room(std::uint32_t gpu, const CollectivePlan& plan) const {
  const int all = machine_.gpu.sm_count;
  return sms_[gpu].idle() || all - sms_[gpu].busy_sms() >= std::min(plan.channels, all - 1);
}

void Device::arrive(Nanos now, OpId id) {
  const program::Collective& collective = *ops_[id].collective;
  Meeting& meeting = meetings_[{collective.communicator, collective.sequence}];
  meeting.arrived.push_back(id);
  const auto members =
      static_cast<std::size_t>(program_.communicators[collective.communicator].simulated);
  if (meeting.arrived.size() < members) return;
  meeting.at_work = static_cast<std::uint32_t>(members);
  const std::vector<OpId> arrived = meeting.arrived;
  for (const OpId one : arrived) record_wait(one, id);
  const CollectivePlan& plan = plan_of(collective);
  if (sends_chunks(collective, plan)) return start_expanded(now, arrived, plan);
  for (const OpId one : arrived) progress(now, one, plan);
}

bool Device::sends_chunks(const program::Collective& collective, const CollectivePlan& plan) const {
  return traffic_ && program_.communicators[collective.communicator].ranks > 1 &&
         collective.kind != program::CollectiveKind::kSendReceive && has_schedule(plan.algorithm);
}

// The time that a rank's kernel holds its SMs and only looks whether the others are there.
trace::SpanId Device::add_wait(OpId id, Nanos until, trace::NameId name, trace::SpanId last) {
  const Op& op = ops_[id];
  trace::Span span;
  span.start = op.start;
  span.duration = until - op.start;
  span.name = name;
  span.lane = recorder_.stream_lane(op.tags.stream);
  span.category = trace::Category::kSync;
  span.cause = trace::Cause::kPeer;
  span.cause_span = last;
  span.line = op.tags.line;
  span.correlation = op.tags.correlation;
  return recorder_.add(span);
}

void Device::record_wait(OpId id, OpId last) {
  Op& op = ops_[id];
  const Nanos now = ops_[last].start;
  if (op.start == now) return;
  const trace::SpanId call = ops_[last].tags.call;
  const trace::SpanId wait = add_wait(id, now, recorder_.wait_name(ops_[last].tags.stream), call);
  op.start = now;
  op.cause = trace::Cause::kPeer;
  op.cause_span = call == trace::kNone ? wait : call;
}

// Its blocks have their SMs already, and now it needs its share of device memory too. What runs
// beside it has the rest.
void Device::progress(Nanos now, OpId id, const CollectivePlan& plan) {
  ops_[id].parts = 1;
  events_.add(now + plan.duration, EventKind::kKernelFloor, id);
  set_aside(now, id, {sms_of(id), memory_of(plan)});
  if (!takes_in(*ops_[id].collective)) return;
  link_use_.begin(now, gpu_of(id), program_.communicators[ops_[id].collective->communicator], plan);
}

// No rank is done before the last is: the others still wait for its pieces.
void Device::part_of_collective_done(Nanos now, OpId id) {
  const program::Collective& collective = *ops_[id].collective;
  const auto meeting = meetings_.find({collective.communicator, collective.sequence});
  if (--meeting->second.at_work > 0) return;
  const std::vector<OpId> arrived = std::move(meeting->second.arrived);
  meetings_.erase(meeting);
  const CollectivePlan& plan = plan_of(collective);
  const bool counted = !sends_chunks(collective, plan);
  for (const OpId one : arrived) {
    set_aside(now, one, {});
    place_collectives(now, static_cast<std::uint32_t>(gpu_of(one)));
    if (counted && takes_in(*ops_[one].collective))
      link_use_.end(now, gpu_of(one), program_.communicators[collective.communicator], plan);
    complete(now, one);
  }
}

// Of groups that wait for one another's ranks, the one that waits for a rank that waits nowhere.
Device::Meetings::const_iterator Device::root_of_standstill() const {
  std::set<int> waiting;
  for (const auto& [key, meeting] : meetings_)
    for (const OpId id : meeting.arrived) waiting.insert(gpu_of(id));
  const auto misses_one = [&](const auto& entry) {
    const program::Communicator& group = program_.communicators[entry.first.first];
    for (int rank = 0; rank < group.ranks; ++rank)
      if (!waiting.contains(group.gpu_of(rank))) return true;
    return false;
  };
  const auto found = std::ranges::find_if(meetings_, misses_one);
  return found == meetings_.end() ? meetings_.begin() : found;
}

std::optional<Deadlock> Device::standstill(Nanos now) {
  if (meetings_.empty()) return std::nullopt;
  const auto& [key, meeting] = *root_of_standstill();
  const Op& first = ops_[meeting.arrived.front()];
  Deadlock why;
  why.line = first.tags.line;
  why.collective = program::name_of(first.collective->kind);
  why.group = program_.communicators[key.first].name;
  why.sequence = key.second;
  std::set<int> here;
  for (const OpId id : meeting.arrived) {
    here.insert(program_.streams[ops_[id].tags.stream].device);
    why.time = std::max(why.time, ops_[id].start);
    add_wait(id, now + now / 10, recorder_.name(trace::kEndlessWait), trace::kNone);
  }
  const program::Communicator& group = program_.communicators[key.first];
  for (int rank = 0; rank < group.ranks; ++rank) {
    const int gpu = group.gpu_of(rank);
    (here.contains(gpu) ? why.waiting : why.missing).push_back(gpu);
  }
  return why;
}

}  // namespace trainscope::sim
