// What a host thread does as a recording says.

#include "sim/host.h"

namespace trainscope::sim {

using Wait = program::RecordedCall::Wait;

bool Host::elapse(Nanos now, std::uint32_t thread, Nanos duration) {
  return compute(now, thread, duration);
}

void Host::begin_recorded(Nanos now, std::uint32_t thread, const program::Command& command) {
  const trace::Trace& recorded = *program_.recording.trace;
  const auto& action = std::get<program::BeginRecorded>(command.action);
  const trace::Span& span = recorded.spans()[action.span];
  Mark mark{recorder_.name(std::string_view(recorded.name(span))), now, command.line};
  mark.category = span.category;
  mark.on_thread = recorded.lanes()[span.lane].kind != trace::LaneKind::kSteps;
  threads_[thread].marks.push_back(mark);
}

// Its work is enqueued as it begins: the time to reach the device is counted from there.
bool Host::recorded_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const auto& call = std::get<program::RecordedCall>(command.action);
  if (state.stage == 1) {
    state.correlation = recorder_.next_correlation();
    state.first_recorded = kNoOp;
    for (std::uint32_t i = 0; i < call.count; ++i) {
      const OpId op =
          device_.enqueue_recorded(now, call.first + i, state.correlation, command.line);
      if (i == 0) state.first_recorded = op;
    }
    state.stage = 2;
  }
  if (state.stage == 2) {
    if (!compute(now, thread, call.before)) return false;
    state.stage = 3;
  }
  if (state.stage == 3) {
    if (!wait_in_call(now, thread, call)) return false;
    state.stage = 4;
  }
  if (!rest(now, thread, call.after)) return false;
  end_recorded_call(now, thread, command);
  return true;
}

bool Host::wait_in_call(Nanos now, std::uint32_t thread, const program::RecordedCall& call) {
  if (call.wait == Wait::kNothing) return true;
  if (call.wait == Wait::kTurn) {
    const OpId last = device_.recorded(call.first + call.count - 1);
    if (device_.ready(last)) return true;
    threads_[thread].waits_for = last;
    device_.wake_when_ready(last, thread);
    return false;
  }
  const OpId target = call.wait == Wait::kWork ? device_.recorded(call.waits_for)
                      : call.wait == Wait::kStream
                          ? device_.tail(now, call.waits_for)
                          : device_tail(now, program_.threads[thread].device);
  if (device_.done(target)) return true;
  threads_[thread].waits_since = now;
  threads_[thread].waits_for = target;
  device_.wake_when_done(target, thread);
  return false;
}

void Host::end_recorded_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const trace::Trace& recorded = *program_.recording.trace;
  const auto& call = std::get<program::RecordedCall>(command.action);
  trace::SpanId written = trace::kNone;
  if (call.span != trace::kNone) {
    const trace::Span& one = recorded.spans()[call.span];
    trace::Span span;
    span.start = state.begun;
    span.duration = now - state.begun;
    span.name = recorder_.name(std::string_view(recorded.name(one)));
    span.lane = recorder_.thread_lane(thread);
    span.category = one.category;
    const bool waited = state.waits_since >= 0;
    span.cause = waited ? trace::Cause::kDevice : trace::Cause::kProgram;
    span.cause_span = waited ? device_.span_of(state.waits_for) : trace::kNone;
    if (one.cause == trace::Cause::kStaging) span.cause = one.cause;
    span.correlation = state.correlation;
    span.line = command.line;
    written = state.last_span = recorder_.add(span);
  }
  for (std::uint32_t i = 0; i < call.count; ++i)
    device_.set_call(state.first_recorded + i, written);
}

}  // namespace trainscope::sim
