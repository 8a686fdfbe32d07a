// The spans that host threads leave.

#include "sim/host.h"

namespace trainscope::sim {

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
  span.cause_span = state.last_span;
  span.line = command.line;
  state.slowed = false;
  return state.last_span = recorder_.add(span);
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
  return recorder_.add(span);
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
  threads_[thread].last_span = recorder_.add(span);
}

}  // namespace trainscope::sim
