#include "sim/device.h"

#include <algorithm>

#include "base/memory.h"
#include "sim/block_cost.h"
#include "sim/lone_runs.h"
#include "sim/peer_link.h"

namespace trainscope::sim {

Device::Device(const program::Program& program, const machine::Machine& machine, bool expanded,
               EventQueue& events, Recorder& recorder)
    : program_(program),
      machine_(machine),
      events_(events),
      recorder_(recorder),
      streams_(program.streams.size()),
      uses_(program.buffers.size()),
      event_ops_(program.events, kNoOp),
      recorded_(program.recording.works.size(), kNoOp),
      gathered_(program.recording.meetings.size()),
      link_use_(program, machine, recorder) {
  std::size_t commands = 0;
  for (const program::Thread& thread : program.threads) commands += thread.commands.size();
  ops_.reserve(commands);  // seldom more; memory that is not used is not touched
  expect_to_fill(ops_.data(), commands * sizeof(Op));
  const auto known = std::make_shared<LoneRuns>();
  for (int gpu = 0, gpus = gpus_to_the_last(program); gpu < gpus; ++gpu) {
    rates_.emplace_back(1.0);  // copies within the device: ns of work at the full rate
    rates_.emplace_back(machine.pcie.both_bytes_per_s * kPerNs);
    rates_.emplace_back(peer_port_rate(machine) * kPerNs);
    engines_.resize(engines_.size() + 2);
    sms_.emplace_back(sm_limits(machine.gpu), known);
    l2_.emplace_back(program, machine.gpu);
  }
  aside_.resize(sms_.size());
  for_room_.resize(sms_.size());
  for (const program::Operation& operation : program.operations)
    block_costs_.emplace(&operation, Cost{block_cost(operation, machine.gpu)});
  if (expanded) traffic_ = std::make_unique<ChunkTraffic>(machine);
  order_streams();
}

// The legacy default stream and blocking streams of a GPU wait for one another, in both directions.
void Device::order_streams() {
  using program::StreamKind;
  std::map<int, std::vector<program::Index>> of_gpu;
  for (program::Index i = 0; i < program_.streams.size(); ++i)
    of_gpu[program_.streams[i].device].push_back(i);
  for (program::Index i = 0; i < program_.streams.size(); ++i)
    for (const program::Index other : of_gpu[program_.streams[i].device]) {
      const StreamKind a = program_.streams[i].kind, b = program_.streams[other].kind;
      if ((a == StreamKind::kLegacyDefault && b == StreamKind::kBlocking) ||
          (a == StreamKind::kBlocking && b == StreamKind::kLegacyDefault))
        streams_[i].ordered_with.push_back(other);
    }
}

// ---- Enqueueing --------------------------------------------------------------------------------

OpId Device::enqueue_kernel(Nanos now, const Enqueued& tags, const program::Operation& operation,
                            program::Phase phase) {
  Op op;
  op.kind = Kind::kKernel;
  op.tags = tags;
  op.operation = &operation;
  op.category = category_of(phase);
  op.earliest = now + machine_.host.launch_latency_ns;
  if (tags.in_launch_queue) ++streams_[tags.stream].launch_queue;
  return enqueue(now, std::move(op));
}

OpId Device::enqueue_copy(Nanos now, const Enqueued& tags, const program::Copy& copy) {
  Op op;
  op.kind = Kind::kCopy;
  op.tags = tags;
  op.copy = &copy;
  op.direction = direction_of(copy, program_);
  op.category = category_of(op.direction);
  op.parts = 1;
  op.earliest = now;
  return enqueue(now, std::move(op));
}

OpId Device::enqueue_staged_copy(Nanos now, const Enqueued& tags, const program::Copy& copy,
                                 std::int64_t chunks) {
  Op op;
  op.kind = Kind::kStagedCopy;
  op.tags = tags;
  op.copy = &copy;
  op.direction = direction_of(copy, program_);
  op.category = category_of(op.direction);
  op.parts = static_cast<std::uint32_t>(chunks);
  op.earliest = now;
  return enqueue(now, std::move(op));
}

OpId Device::enqueue(Nanos now, Op op) {
  const program::Index stream = op.tags.stream;
  const auto id = static_cast<OpId>(ops_.size());
  ops_.push_back(std::move(op));
  depend(id, streams_[stream].last, trace::Cause::kStream);
  for (const OpId on : streams_[stream].extra) depend(id, on, trace::Cause::kEvent);
  streams_[stream].extra.clear();
  for (const program::Index other : streams_[stream].ordered_with)
    depend(id, streams_[other].last, trace::Cause::kStream);
  streams_[stream].last = id;
  if (const program::Copy* copy = ops_[id].copy) {
    uses_[copy->to].filled_by = id;
    uses_[copy->from].read_by = id;
  }
  if (ops_[id].waits_for == 0) become_ready(now, id);
  return id;
}

void Device::depend(OpId op, OpId on, trace::Cause cause) {
  if (on == kNoOp || on == op) return;
  if (ops_[on].done) {
    if (ops_[op].cause_op == kNoOp || ops_[ops_[op].cause_op].end < ops_[on].end)
      ops_[op].cause_op = on;
    return;
  }
  ++ops_[op].waits_for;
  if (cause == trace::Cause::kEvent) ops_[op].cause = cause;
  if (ops_[on].follower == kNoOp) {
    ops_[on].follower = op;
  } else {
    ops_[on].more_followers.push_back(op);
  }
}

OpId Device::enqueue_join(Nanos now, program::Index stream) {
  Op op;
  op.tags.stream = stream;
  op.earliest = now;
  return enqueue(now, std::move(op));
}

OpId Device::tail(Nanos now, program::Index stream) {
  return streams_[stream].extra.empty() ? streams_[stream].last : enqueue_join(now, stream);
}

trace::SpanId Device::span_of(OpId op) const {
  while (op != kNoOp && ops_[op].kind == Kind::kJoin) op = ops_[op].cause_op;
  return op == kNoOp ? trace::kNone : ops_[op].span;
}

void Device::record_event(Nanos now, program::Index event, program::Index stream) {
  event_ops_[event] = tail(now, stream);
}

void Device::wait_event(program::Index stream, program::Index event) {
  const OpId on = event_ops_[event];
  if (on != kNoOp && !ops_[on].done) streams_[stream].extra.push_back(on);
}

void Device::wait_stream(Nanos now, program::Index stream, program::Index on) {
  const OpId last = tail(now, on);
  if (last != kNoOp && !ops_[last].done) streams_[stream].extra.push_back(last);
}

void Device::set_call(OpId op, trace::SpanId call) {
  ops_[op].tags.call = call;
  ops_[op].call_returned = true;
  if (ops_[op].done && ops_[op].span == trace::kNone) record(op);
}

// ---- Starting ----------------------------------------------------------------------------------

void Device::dependency_done(Nanos now, OpId op, OpId on) {
  // Decides the cause: the last to be done wins.
  const bool other_stream = ops_[on].tags.stream != ops_[op].tags.stream;
  ops_[op].cause = other_stream ? trace::Cause::kEvent : trace::Cause::kStream;
  ops_[op].cause_op = on;
  if (--ops_[op].waits_for == 0) become_ready(now, op);
}

void Device::become_ready(Nanos now, OpId id) {
  Op& op = ops_[id];
  Nanos earliest = op.earliest;
  if (op.kind == Kind::kKernel && op.cause_op != kNoOp && ops_[op.cause_op].kind == Kind::kKernel)
    earliest = std::max(earliest, ops_[op.cause_op].end + machine_.gpu.kernel_gap_ns);
  if (op.kind == Kind::kRecorded && op.cause_op != kNoOp)
    earliest = std::max(earliest, ops_[op.cause_op].end + op.recorded->gap);
  if (op.cause_op == kNoOp || ops_[op.cause_op].end < op.earliest) op.cause = trace::Cause::kLaunch;
  if (op.wake_ready != kNoThread) events_.add(now, EventKind::kThread, op.wake_ready);
  if (op.kind == Kind::kStagedCopy) return;  // the host starts it
  if (earliest > now) {
    events_.add(earliest, EventKind::kStart, id);
  } else {
    on_start(now, id);
  }
}

void Device::on_start(Nanos now, OpId id) {
  Op& op = ops_[id];
  op.started = true;
  op.start = now;
  switch (op.kind) {
    case Kind::kKernel:
      start_kernel(now, id);
      break;
    case Kind::kCopy:
      start_copy(now, id);
      break;
    case Kind::kStagedCopy:
      break;
    case Kind::kCollective:
      start_collective(now, id);
      break;
    case Kind::kRecorded:
      start_recorded(now, id);
      break;
    case Kind::kJoin:
      complete(now, id);
      break;
  }
}

// ---- Finishing ---------------------------------------------------------------------------------

void Device::appoint(Nanos now, std::uint32_t rate) {
  if (rate % kRates == kPort)
    link_use_.copies(now, static_cast<int>(rate / kRates), rates_[rate].in_use());
  if (rates_[rate].idle() || rates_[rate].next_finish() >= SharedRate::kNever) return;
  events_.add(rates_[rate].next_finish(), EventKind::kRate, rate, rates_[rate].version());
}

void Device::on_rate(Nanos now, std::uint32_t rate, std::uint64_t version) {
  if (rates_[rate].version() != version) return;
  for (const std::uint32_t id : rates_[rate].finish(now)) {
    if (rate % kRates == kLink) {
      end_transfer(now, id);
    } else {
      part_done(now, id);
    }
  }
  if (rates_[rate].version() != version) appoint(now, rate);
}

void Device::on_kernel_floor(Nanos now, OpId op) {
  part_done(now, op);
}

void Device::part_done(Nanos now, OpId op) {
  if (--ops_[op].parts > 0) return;
  if (ops_[op].kind == Kind::kCollective) return part_of_collective_done(now, op);
  complete(now, op);
}

void Device::complete(Nanos now, OpId id) {
  ops_[id].done = true;
  ++completed_;
  ops_[id].end = now;
  if (ops_[id].tags.in_launch_queue) leave_launch_queue(now, ops_[id].tags.stream);
  // A staged copy's call may still be under way; its span follows then.
  const bool call_known = ops_[id].kind == Kind::kRecorded ? ops_[id].call_returned
                                                           : ops_[id].tags.call != trace::kNone ||
                                                                 ops_[id].kind != Kind::kStagedCopy;
  if (ops_[id].kind != Kind::kJoin && call_known) record(id);
  for (const std::uint32_t thread : ops_[id].wake_done)
    events_.add(now, EventKind::kThread, thread);
  if (ops_[id].has_followup) follow_up(now, id);
  if (ops_[id].follower == kNoOp) return;
  const std::vector<OpId> more = std::move(ops_[id].more_followers);
  dependency_done(now, ops_[id].follower, id);
  for (const OpId follower : more) dependency_done(now, follower, id);
}

void Device::when_done(Nanos now, OpId op, std::function<void(Nanos)> then) {
  if (done(op)) return then(now);
  ops_[op].has_followup = true;
  followups_.emplace(op, std::move(then));
}

void Device::follow_up(Nanos now, OpId op) {
  const auto [first, last] = followups_.equal_range(op);
  for (auto entry = first; entry != last; ++entry) entry->second(now);
  followups_.erase(first, last);
}

void Device::leave_launch_queue(Nanos now, program::Index stream) {
  --streams_[stream].launch_queue;
  std::vector<std::uint32_t>& waiting = streams_[stream].wake_room;
  for (const std::uint32_t thread : waiting) events_.add(now, EventKind::kThread, thread);
  waiting.clear();
}

void Device::record(OpId id) {
  Op& op = ops_[id];
  trace::Span span;
  span.start = op.start;
  span.duration = op.end - op.start;
  span.name = op.tags.name;
  span.lane = recorder_.stream_lane(op.tags.stream);
  span.category = op.category;
  span.correlation = op.tags.correlation;
  span.line = op.tags.line;
  span.cause = op.cause;
  span.cause_span = op.cause_span;
  if (op.cause == trace::Cause::kLaunch) span.cause_span = op.tags.call;
  if (span.cause_span == trace::kNone) span.cause_span = span_of(op.cause_op);
  span.detail = op.kind == Kind::kRecorded ? recorder_.recorded_detail(op.recorded->span)
                : op.kind == Kind::kKernel ? recorder_.kernel_detail(*op.operation, op.tags.stream)
                : op.kind == Kind::kCollective
                    ? recorder_.collective_detail(*op.collective, plan_of(*op.collective))
                    : recorder_.copy_detail(*op.copy, op.copy->bytes);
  op.span = recorder_.add(span);
  if (op.tags.call != trace::kNone)
    recorder_.trace().add_flow({op.tags.call, op.span, trace::FlowKind::kLaunch});
  if (op.cause == trace::Cause::kEvent && span.cause_span != trace::kNone)
    recorder_.trace().add_flow({span.cause_span, op.span, trace::FlowKind::kEvent});
}

}  // namespace trainscope::sim
