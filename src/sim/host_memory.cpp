// Device memory on host time: what an allocation, a free and a full device cost the thread.
//
// Memory that is cached costs nothing. Without it cudaMalloc is called; without room, all that the
// device has to do is waited for, every segment that is free goes back by a cudaFree, and
// cudaMalloc is called once more. Memory changes hands when a call begins.

#include "sim/host.h"

namespace trainscope::sim {

bool Host::allocate(Nanos now, std::uint32_t thread, const program::Command& command) {
  enum Stage { kFind = 1, kMalloc, kFailedMalloc, kWait, kEmptyCache, kFree, kRetry, kLast, kFull };
  ThreadState& state = threads_[thread];
  const auto& action = std::get<program::Alloc>(command.action);
  const int gpu = program_.buffers[action.buffer].device;
  const auto done = [this](OpId op) { return device_.done(op); };
  if (state.stage == kFind) {
    const Memory::Found found = device_memory_.allocate(now, action, done);
    if (found == Memory::Found::kCached) return true;
    state.call_begun = now;
    state.stage = found == Memory::Found::kSegment ? kMalloc : kFailedMalloc;
  }
  if (state.stage == kMalloc) return malloc_call(now, thread, command);
  if (state.stage == kFailedMalloc) {
    if (!malloc_call(now, thread, command)) return false;
    state.stage = device_memory_.has_cache(gpu) ? kWait : kRetry;
  }
  if (state.stage == kWait) {
    if (!wait_for_device(now, thread, gpu)) return false;
    state.stage = kEmptyCache;
  }
  if (state.stage == kEmptyCache) {
    if (state.waits_since >= 0 && !rest(now, thread, machine_.host.wake_ns)) return false;
    state.calls_left = device_memory_.empty_cache(now, gpu, done);
    if (state.calls_left == 0) end_free_call(now, thread, command, "cudaEventSynchronize");
    state.stage = kFree;
  }
  if (state.stage == kFree) {
    for (; state.calls_left > 0; --state.calls_left) {
      if (!compute(now, thread, machine_.host.free_call_ns)) return false;
      end_free_call(now, thread, command, "cudaFree");
    }
    state.stage = kRetry;
  }
  if (state.stage == kRetry) state.stage = device_memory_.retry(now, action) ? kLast : kFull;
  if (!malloc_call(now, thread, command)) return false;
  if (state.stage == kLast) return true;
  run_out_of_memory(now, thread, command);
  return false;
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
  device_memory_.free(now, buffer, events);
  return true;
}

}  // namespace trainscope::sim
