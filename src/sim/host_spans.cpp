// The spans that host threads leave.

#include "sim/host.h"

namespace trainscope::sim {

// What a thread does first with an item that it has taken is joined to what made that.
trace::SpanId Host::add_span(std::uint32_t thread, const trace::Span& span) {
  const trace::SpanId id = recorder_.add(span);
  trace::SpanId& giver = threads_[thread].giver;
  if (giver != trace::kNone) recorder_.trace().add_flow({giver, id, trace::FlowKind::kData});
  giver = trace::kNone;
  return id;
}

trace::SpanId Host::host_span(std::uint32_t thread, const program::Command& command, Nanos start,
                              Nanos end, trace::NameId name, trace::Category category) {
  ThreadState& state = threads_[thread];
  trace::Span span;
  span.start = start;
  span.duration = end - start;
  span.name = name;
  span.lane = recorder_.thread_lane(thread);
  span.category = category;
  span.cause = state.slowed ? trace::Cause::kCore : trace::Cause::kProgram;
  // An operator has spans inside it, as the wait of a copy: it began behind none of these.
  const bool is_inside =
      state.last_span != trace::kNone && recorder_.trace().spans()[state.last_span].end() > start;
  span.cause_span = is_inside ? state.span_before : state.last_span;
  span.line = command.line;
  state.slowed = false;
  return state.last_span = add_span(thread, span);
}

// The call that enqueues device work, from call_begun to now.
trace::SpanId Host::call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                              trace::NameId name, std::uint32_t correlation) {
  trace::Span span;
  span.start = threads_[thread].call_begun;
  span.duration = now - span.start;
  span.name = name;
  span.lane = recorder_.thread_lane(thread);
  span.category = trace::Category::kHostApi;
  span.cause = trace::Cause::kProgram;
  span.line = command.line;
  span.correlation = correlation;
  return add_span(thread, span);
}

void Host::operator_span(Nanos now, std::uint32_t thread, const program::Command& command,
                         trace::NameId name) {
  if (operator_ns_ == 0) return;
  host_span(thread, command, threads_[thread].begun, now, name, trace::Category::kHostWork);
}

void Host::wait_span(Nanos since, Nanos now, std::uint32_t thread, const program::Command& command,
                     trace::NameId name, trace::Cause cause, trace::SpanId cause_span) {
  if (since < 0 || since == now) return;
  trace::Span span;
  span.start = since;
  span.duration = now - since;
  span.name = name;
  span.lane = recorder_.thread_lane(thread);
  span.category = trace::Category::kHeld;
  span.cause = cause;
  span.cause_span = cause_span;
  span.line = command.line;
  threads_[thread].last_span = add_span(thread, span);
}

// A call with a name of its own in which the thread waits for another one: backward().
void Host::call_until_given(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const bool waited = state.waits_since >= 0;
  trace::Span span;
  span.start = state.begun;
  span.duration = now - state.begun;
  span.name = recorder_.name_of(command, "wait");
  span.lane = recorder_.thread_lane(thread);
  span.category = trace::Category::kHostWork;
  span.cause = waited         ? trace::Cause::kData
               : state.slowed ? trace::Cause::kCore
                              : trace::Cause::kProgram;
  span.cause_span = waited ? state.producer : state.last_span;
  span.line = command.line;
  state.slowed = false;
  state.last_span = add_span(thread, span);
}

}  // namespace trainscope::sim
