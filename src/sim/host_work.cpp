// What a host thread does without the device: work, copies within host memory, reads from the disk,
// looks at its buffers; and the marks.

#include <cmath>
#include <string>

#include "sim/cpu_model.h"
#include "sim/host.h"

namespace trainscope::sim {

bool Host::work(Nanos now, std::uint32_t thread, const program::Command& command, Nanos duration) {
  const auto& action = std::get<program::HostWork>(command.action);
  if (!(action.needs_core ? compute(now, thread, duration) : rest(now, thread, duration)))
    return false;
  const bool loads = action.loads_data;
  host_span(thread, command, threads_[thread].begun, now,
            recorder_.name_of(command, loads ? "load" : "work"),
            loads ? trace::Category::kLoader : trace::Category::kHostWork);
  return true;
}

bool Host::start_worker(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!compute(now, thread, machine_.host.worker_start_ns)) return false;
  host_span(thread, command, threads_[thread].begun, now, recorder_.name("start worker"),
            trace::Category::kHostWork);
  return true;
}

bool Host::framework_call(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!operate(now, thread, command)) return false;
  operator_span(now, thread, command, recorder_.name_of(command, "call"));
  return true;
}

bool Host::calculate(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const program::Index id = std::get<program::Compute>(command.action).operation;
  if (state.stage == 1) {
    if (!operate(now, thread, command)) return false;
    compute_numbers(id);
    state.stage = 2;
  }
  if (!compute(now, thread, cpu_time(program_.operations[id], machine_.host))) return false;
  host_span(thread, command, state.begun, now, recorder_.launch_names(id).framework,
            trace::Category::kHostWork);
  return true;
}

bool Host::host_copy(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  if (state.stage == 1) {
    start_memcpy(now, thread, std::get<program::HostCopy>(command.action).bytes,
                 machine_.host.memcpy_bytes_per_s);
    state.stage = 2;
  }
  if (!served(thread)) return false;
  host_span(thread, command, state.begun, now, recorder_.name_of(command, "pin"),
            trace::Category::kPin);
  return true;
}

// Pages are given out, cleared and locked by the kernel in the thread's name: a core is at work.
bool Host::host_alloc(Nanos now, std::uint32_t thread, const program::Command& command,
                      std::int64_t bytes) {
  const double seconds = static_cast<double>(bytes) / machine_.host.page_lock_bytes_per_s;
  if (!compute(now, thread, std::llround(seconds * kSecond))) return false;
  host_span(thread, command, threads_[thread].begun, now, recorder_.name("cudaHostAlloc"),
            trace::Category::kHostApi);
  return true;
}

bool Host::disk_read(Nanos now, std::uint32_t thread, const program::Command& command) {
  ThreadState& state = threads_[thread];
  const auto& read = std::get<program::DiskRead>(command.action);
  if (state.stage == 1) {
    if (!rest(now, thread, read.reads * machine_.host.disk_latency_ns)) return false;
    const double rate = machine_.host.disk_bytes_per_s * 1e-9;
    serve(now, kDisk, thread, static_cast<double>(read.bytes), rate);
    state.stage = 2;
  }
  if (!served(thread)) return false;
  host_span(thread, command, state.begun, now, recorder_.name_of(command, "read"),
            trace::Category::kLoader);
  return true;
}

// Leaves a mark where the values are wrong because a copy is still under way.
void Host::touch(Nanos now, std::uint32_t thread, const program::Command& command) {
  const auto* read = std::get_if<program::HostRead>(&command.action);
  const program::Index buffer =
      read ? read->buffer : std::get<program::HostWrite>(command.action).buffer;
  const bool filled = device_.filling(buffer) != kNoOp;
  const bool wrong = read ? filled : filled || device_.reading(buffer) != kNoOp;
  if (!wrong) return;
  const std::string what = std::string("too early: ") + (read ? "reads " : "writes ");
  host_span(thread, command, now, now, recorder_.name(what + program_.buffers[buffer].name),
            trace::Category::kOther);
}

void Host::begin_mark(Nanos now, std::uint32_t thread, const program::Command& command) {
  threads_[thread].marks.push_back({recorder_.name_of(command, "mark"), now, command.line});
}

void Host::end_mark(Nanos now, std::uint32_t thread) {
  const Mark mark = threads_[thread].marks.back();
  threads_[thread].marks.pop_back();
  trace::Span span;
  span.start = mark.start;
  span.duration = now - mark.start;
  span.name = mark.name;
  span.lane = mark.on_thread ? recorder_.thread_lane(thread) : recorder_.marks_lane(thread);
  span.category = mark.category;
  span.cause = mark.cause;
  span.line = mark.line;
  recorder_.add(span);
}

}  // namespace trainscope::sim
