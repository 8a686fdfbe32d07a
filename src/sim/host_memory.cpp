// Device memory on host time: what an allocation, a free and a full device cost the thread.
//
// Memory that is cached costs nothing. Without it cudaMalloc is called; without room, all that the
// device has to do is waited for, every segment that is free goes back by a cudaFree, and
// cudaMalloc is called once more. Memory changes hands when a call begins.

#include <fmt/format.h>

#include <algorithm>

#include "sim/host.h"

namespace trainscope::sim {

bool Host::allocate(Nanos now, std::uint32_t thread, const program::Command& command) {
  enum Stage { kFind = 1, kMalloc, kFailedMalloc, kGiveBack, kRetry, kLast, kFull };
  ThreadState& state = threads_[thread];
  const auto& action = std::get<program::Alloc>(command.action);
  const int gpu = program_.buffers[action.buffer].device;
  const auto done = [this](OpId op) { return device_.done(op); };
  if (state.stage == kFind) {
    const Memory::Found found = device_memory_.allocate(now, action, done);
    if (found != Memory::Found::kNothing) watch_allocation(action);
    if (found == Memory::Found::kCached) return true;
    state.call_begun = now;
    state.stage = found == Memory::Found::kSegment ? kMalloc : kFailedMalloc;
  }
  if (state.stage == kMalloc) return malloc_call(now, thread, command);
  if (state.stage == kFailedMalloc) {
    if (!malloc_call(now, thread, command)) return false;
    state.stage = device_memory_.has_cache(gpu) ? kGiveBack : kRetry;
  }
  if (state.stage == kGiveBack) {
    if (!give_back(now, thread, command, gpu)) return false;
    state.stage = kRetry;
  }
  if (state.stage == kRetry) {
    state.stage = device_memory_.retry(now, action) ? kLast : kFull;
    if (state.stage == kLast) watch_allocation(action);
  }
  if (!malloc_call(now, thread, command)) return false;
  if (state.stage == kLast) return true;
  run_out_of_memory(now, thread, command);
  return false;
}

void Host::watch_allocation(const program::Alloc& action) {
  reuse_.allocated(action.buffer, action.stream, device_memory_.place_of(action.buffer));
}

bool Host::empty_cache(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const int gpu = program_.threads[thread].device;
  if (state.stage == 1) {
    if (!device_memory_.has_cache(gpu)) return true;
    state.call_begun = now;
    state.stage = 2;
  }
  return give_back(now, thread, command, gpu);
}

// Waits for the device and gives back all segments that are free. True once that is done.
bool Host::give_back(Nanos now, std::uint32_t thread, const program::Command& command, int gpu) {
  enum Step { kWait, kCount, kFree };
  ThreadState& state = threads_[thread];
  if (state.giving_back == kWait) {
    if (!wait_for_device(now, thread, gpu)) return false;
    state.giving_back = kCount;
  }
  if (state.giving_back == kCount) {
    if (state.waits_since >= 0 && !rest(now, thread, machine_.host.wake_ns)) return false;
    const auto done = [this](OpId op) { return device_.done(op); };
    state.calls_left = device_memory_.empty_cache(now, gpu, done);
    if (state.calls_left == 0) end_free_call(now, thread, command, "cudaEventSynchronize");
    state.giving_back = kFree;
  }
  for (; state.calls_left > 0; --state.calls_left) {
    if (!compute(now, thread, machine_.host.free_call_ns)) return false;
    end_free_call(now, thread, command, "cudaFree");
  }
  state.giving_back = kWait;
  return true;
}

// True once the call is over.
bool Host::malloc_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!compute(now, thread, machine_.host.malloc_call_ns)) return false;
  ThreadState& state = threads_[thread];
  host_span(thread, command, state.call_begun, now, recorder_.name("cudaMalloc"),
            trace::Category::kHostApi);
  state.call_begun = now;
  return true;
}

// True once all that the GPU was given is done.
bool Host::wait_for_device(Nanos now, std::uint32_t thread, int gpu) {
  const OpId last = device_tail(now, gpu);
  if (device_.done(last)) return true;
  ThreadState& state = threads_[thread];
  if (state.waits_since < 0) state.waits_since = now;
  state.waits_for = last;
  device_.wake_when_done(last, thread);
  return false;
}

// The call that the device was waited for in, or one after it.
void Host::end_free_call(Nanos now, std::uint32_t thread, const program::Command& command,
                         std::string_view name) {
  ThreadState& state = threads_[thread];
  if (state.waits_since >= 0) {
    wait_span(state.call_begun, now, thread, command, recorder_.name(name), trace::Cause::kDevice,
              device_.span_of(state.waits_for));
  } else if (now > state.call_begun) {
    host_span(thread, command, state.call_begun, now, recorder_.name(name),
              trace::Category::kHostApi);
  }
  state.waits_since = -1;
  state.call_begun = now;
}

// The run ends here: no thread goes on. What the device has been given it still does.
void Host::run_out_of_memory(Nanos now, std::uint32_t thread, const program::Command& command) {
  stopped_ = true;
  device_memory_.end_at(now, command.line);
  const std::string what = "out of memory: " + device_memory_.out_of_memory()->buffer;
  host_span(thread, command, now, now, recorder_.name(std::string_view(what)),
            trace::Category::kOther);
}

// An event on each of the other streams that use the buffer.
bool Host::free(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const program::Index buffer = std::get<program::Free>(command.action).buffer;
  const auto& streams = device_memory_.other_streams(buffer);
  if (state.stage == 1) {
    state.call_begun = now;
    state.calls_left = static_cast<std::int64_t>(streams.size());
    state.stage = 2;
  }
  for (; state.calls_left > 0; --state.calls_left) {
    if (!compute(now, thread, machine_.host.event_call_ns)) return false;
    host_span(thread, command, state.call_begun, now, recorder_.name("cudaEventRecord"),
              trace::Category::kHostApi);
    state.call_begun = now;
  }
  std::vector<OpId> events;
  for (const program::Index stream : streams) events.push_back(device_.tail(now, stream));
  reuse_.freed(buffer, device_memory_.place_of(buffer));
  device_memory_.free(now, buffer, events);
  return true;
}

void Host::record_overwritten() {
  trace::LaneId lane = trace::kNone;
  const trace::Trace& trace = recorder_.trace();
  for (const ReuseWatch::Suspect& suspect : reuse_.take_suspects()) {
    const trace::SpanId copy = device_.span_of(suspect.copy);
    const trace::SpanId reader = device_.span_of(suspect.reader);
    if (copy == trace::kNone || reader == trace::kNone) continue;
    const trace::Span& written = trace.spans()[copy];
    const trace::Span& read = trace.spans()[reader];
    if (written.start >= read.end()) continue;
    if (lane == trace::kNone) lane = recorder_.add_overwritten_lane();
    trace::Span span;
    span.start = written.start;
    span.duration = std::min(written.end(), read.end()) - written.start;
    span.name = recorder_.name(std::string_view(fmt::format("{}: overwritten before {} has read it",
                                                            program_.buffers[suspect.buffer].name,
                                                            trace.name(read.name))));
    span.lane = lane;
    span.cause = trace::Cause::kProgram;
    span.cause_span = copy;
    span.line = written.line;
    recorder_.add(span);
  }
}

}  // namespace trainscope::sim
