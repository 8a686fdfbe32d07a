// Host's part of copies: the asynchronous call, and the staging of pageable memory.
//
// From pageable memory the call first waits for the work before it on its stream. Then chunk by
// chunk goes through the driver's pinned buffers. Host to device, the call returns once the last
// chunk is staged; device to host, once the last chunk is in place.

#include <algorithm>

#include "sim/host.h"

namespace trainscope::sim {
namespace {

bool is_staged(const program::Copy& copy, const program::Program& program) {
  const auto kind = [&](program::Index buffer) { return program.buffers[buffer].kind; };
  return kind(copy.from) == program::MemoryKind::kPageable ||
         kind(copy.to) == program::MemoryKind::kPageable;
}

}  // namespace

std::int64_t Host::chunk_bytes(const program::Copy& copy, std::int64_t chunk) const {
  const std::int64_t size = machine_.host.staging_chunk_bytes;
  return std::min(size, copy.bytes - chunk * size);
}

bool Host::copy(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const program::Copy& action = *program::copy_of(command.action);
  if (state.stage == 1) {
    if (!operate(now, thread, command)) return false;
    state.call_begun = now;
    state.stage = 2;
  }
  if (state.stage == 2) {
    if (!compute(now, thread, machine_.host.copy_call_ns)) return false;
    if (numbers_) numbers_->copy(action);
    Enqueued tags;
    tags.stream = action.stream;
    tags.name = recorder_.copy_name(action);
    tags.line = command.line;
    tags.correlation = recorder_.next_correlation();
    if (!is_staged(action, program_)) {
      operator_span(now, thread, command, recorder_.name_of(command, "aten::copy_"));
      tags.call = copy_call_span(now, thread, command, tags.correlation);
      reuse_.filled(action.to, device_.enqueue_copy(now, tags, action));
      return true;
    }
    state.staging = {};
    state.staging.correlation = tags.correlation;
    const std::int64_t size = machine_.host.staging_chunk_bytes;
    state.staging.chunks = std::max<std::int64_t>(1, (action.bytes + size - 1) / size);
    state.staging.op = device_.enqueue_staged_copy(now, tags, action, state.staging.chunks);
    reuse_.filled(action.to, state.staging.op);
    state.stage = 3;
  }
  return staged_copy(now, thread, command);
}

trace::SpanId Host::copy_call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                                   std::uint32_t correlation) {
  return threads_[thread].last_span =
             call_span(now, thread, command, recorder_.name("cudaMemcpyAsync"), correlation);
}

bool Host::read_scalar(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  if (!state.scalar_read) {
    if (!copy(now, thread, command)) return false;
    state.scalar_read = true;
    state.stage = 1;
    state.begun = now;
    state.span_before = state.last_span;
    state.waits_since = -1;
  }
  if (!synchronise(now, thread, command)) return false;
  state.scalar_read = false;
  return true;
}

bool Host::staged_copy(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  Staging& staging = state.staging;
  const program::Copy& action = *program::copy_of(command.action);
  if (state.stage == 3) {
    if (!device_.ready(staging.op)) {
      state.waits_since = now;
      device_.wake_when_ready(staging.op, thread);
      state.stage = 4;
      return false;
    }
    state.stage = 4;
  }
  if (state.stage == 4) {
    if (!device_.ready(staging.op)) return false;
    wait_span(state.waits_since, now, thread, command, recorder_.name("waits for the stream"),
              trace::Cause::kDevice, device_.cause_of(staging.op));
    staging.held_since = now;
    state.stage = 5;
  }
  const bool to_device = direction_of(action, program_) == Direction::kH2D;
  if (!(to_device ? stage_h2d(now, thread, action) : stage_d2h(now, thread, action))) return false;
  if (!to_device && !device_.done(staging.op)) return false;
  wait_span(staging.held_since, now, thread, command, recorder_.name("held: staging"),
            trace::Cause::kStaging, staging.last_copy);
  state.slowed = false;
  operator_span(now, thread, command, recorder_.name_of(command, "aten::copy_"));
  device_.set_call(staging.op, copy_call_span(now, thread, command, staging.correlation));
  return true;
}

bool Host::stage_h2d(Nanos now, std::uint32_t thread, const program::Copy& copy) {
  ThreadState& state = threads_[thread];
  Staging& staging = state.staging;
  while (true) {
    if (staging.copying) {
      if (!served(thread)) return false;
      end_staging_copy(now, thread);
      device_.transfer_chunk(now, staging.op, chunk_bytes(copy, staging.copied - 1), thread,
                             staging.last_copy);
    }
    if (staging.copied == staging.chunks) return true;
    const std::int64_t arrived = staging.chunks - device_.transfers_left(staging.op);
    if (staging.copied - arrived >= machine_.host.staging_buffers) return false;
    begin_staging_copy(now, thread, chunk_bytes(copy, staging.copied),
                       machine_.host.memcpy_bytes_per_s);
  }
}

bool Host::stage_d2h(Nanos now, std::uint32_t thread, const program::Copy& copy) {
  ThreadState& state = threads_[thread];
  Staging& staging = state.staging;
  while (true) {
    if (staging.copying && served(thread)) end_staging_copy(now, thread);
    while (staging.requested < staging.chunks &&
           staging.requested - staging.copied < machine_.host.staging_buffers) {
      device_.transfer_chunk(now, staging.op, chunk_bytes(copy, staging.requested), thread,
                             staging.last_copy);
      ++staging.requested;
    }
    if (staging.copying) return false;
    if (staging.copied == staging.chunks) return true;
    const std::int64_t arrived = staging.chunks - device_.transfers_left(staging.op);
    if (staging.copied >= arrived) return false;
    begin_staging_copy(now, thread, chunk_bytes(copy, staging.copied),
                       machine_.host.memcpy_back_bytes_per_s);
  }
}

void Host::begin_staging_copy(Nanos now, std::uint32_t thread, std::int64_t bytes, double rate) {
  threads_[thread].staging.copying = true;
  threads_[thread].staging.copy_begun = now;
  start_memcpy(now, thread, bytes, rate);
}

void Host::end_staging_copy(Nanos now, std::uint32_t thread) {
  Staging& staging = threads_[thread].staging;
  const auto& command = program_.threads[thread].commands[threads_[thread].next];
  const program::Copy& copy = *program::copy_of(command.action);
  trace::Span span;
  span.start = staging.copy_begun;
  span.duration = now - staging.copy_begun;
  span.name = recorder_.transfer_name(chunk_bytes(copy, staging.copied));
  span.lane = recorder_.staging_lane(program_.streams[copy.stream].rank);
  span.category = trace::Category::kStaging;
  span.cause = trace::Cause::kProgram;
  span.cause_span = staging.last_copy;
  span.line = command.line;
  span.correlation = staging.correlation;
  staging.last_copy = recorder_.add(span);
  staging.copying = false;
  ++staging.copied;
}

}  // namespace trainscope::sim
