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
  if (span.category == trace::Category::kHeld) mark.cause = span.cause;
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
    begin_wait(now, thread, call);
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

// What other threads enqueue from here on is not waited for.
void Host::begin_wait(Nanos now, std::uint32_t thread, const program::RecordedCall& call) {
  std::vector<OpId>& awaited = threads_[thread].awaited;
  awaited.clear();
  if (call.wait == Wait::kWork) awaited.push_back(device_.recorded(call.waits_for));
  if (call.wait == Wait::kStream) awaited.push_back(device_.tail(now, call.waits_for));
  if (call.wait == Wait::kDevice)
    for (const program::Index stream : streams_of_[call.waits_for])
      awaited.push_back(device_.tail(now, stream));
}

bool Host::wait_in_call(Nanos now, std::uint32_t thread, const program::RecordedCall& call) {
  ThreadState& state = threads_[thread];
  if (call.wait == Wait::kTurn) {
    const OpId last = device_.recorded(call.first + call.count - 1);
    if (device_.ready(last)) return true;
    if (state.waits_since < 0) state.waits_since = now;
    device_.wake_when_ready(last, thread);
    return false;
  }
  for (const OpId target : state.awaited) {
    if (device_.done(target)) continue;
    if (state.waits_since < 0) state.waits_since = now;
    state.waits_for = target;
    device_.wake_when_done(target, thread);
    return false;
  }
  return true;
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
    const bool was_staged = one.cause == trace::Cause::kStaging;
    span.category = call.staged  ? trace::Category::kHeld
                    : was_staged ? trace::Category::kHostApi
                                 : one.category;
    const bool waited = state.waits_since >= 0;
    span.cause = waited ? trace::Cause::kDevice : trace::Cause::kProgram;
    if (waited)
      span.cause_span = call.wait == Wait::kTurn
                            ? device_.cause_of(device_.recorded(call.first + call.count - 1))
                            : device_.span_of(state.waits_for);
    if (call.staged) span.cause = trace::Cause::kStaging;
    span.correlation = state.correlation;
    span.line = command.line;
    written = state.last_span = add_span(thread, span);
  }
  for (std::uint32_t i = 0; i < call.count; ++i)
    device_.set_call(state.first_recorded + i, written);
}

}  // namespace trainscope::sim
