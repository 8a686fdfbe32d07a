// A command of a host thread, carried out by what its action asks for.
#include <optional>
#include <variant>

#include "sim/host.h"

namespace trainscope::sim {

// Each tells whether the command is over; one that is not is carried on with later.
struct Host::Dispatch {
  Host& host;
  Nanos now;
  std::uint32_t thread;
  const program::Command& command;

  // time
  bool operator()(const program::HostWork& action) {
    return host.work(now, thread, command, action.duration);
  }
  bool operator()(const program::StartWorker&) { return host.start_worker(now, thread, command); }
  bool operator()(const program::FrameworkCall&) {
    return host.framework_call(now, thread, command);
  }
  bool operator()(const program::Compute&) { return host.calculate(now, thread, command); }
  bool operator()(const program::DiskRead&) { return host.disk_read(now, thread, command); }
  bool operator()(const program::Elapse& action) {
    return host.elapse(now, thread, action.duration);
  }
  bool operator()(const program::BeginRecorded&) { return at_once(&Host::begin_recorded); }
  bool operator()(const program::RecordedCall&) { return host.recorded_call(now, thread, command); }

  // memory
  bool operator()(const program::HostCopy&) { return host.host_copy(now, thread, command); }
  bool operator()(const program::HostAlloc& action) {
    return host.host_alloc(now, thread, command, action.bytes);
  }
  bool operator()(const program::HostRead&) { return at_once(&Host::touch); }
  bool operator()(const program::HostWrite&) { return at_once(&Host::touch); }
  bool operator()(const program::Alloc&) { return host.allocate(now, thread, command); }
  bool operator()(const program::Free&) { return host.free(now, thread, command); }
  bool operator()(const program::EmptyCache&) { return host.empty_cache(now, thread, command); }
  bool operator()(const program::RecordStream& action) {
    host.device_memory_.record_stream(action);
    return true;
  }

  // numbers
  bool operator()(const program::LoadBatch& action) {
    if (host.numbers_) host.numbers_->load(action);
    return true;
  }
  bool operator()(const program::View& action) {
    if (host.numbers_) host.numbers_->view(action);
    return true;
  }
  bool operator()(const program::Branch& action) {
    host.branch(thread, action);
    return true;
  }
  bool operator()(const program::LogStep&) {
    host.log_step(now, thread, command);
    return !host.stopped_;
  }
  bool operator()(const program::LogEvaluation& action) {
    host.log_evaluation(now, action);
    return true;
  }

  // other threads
  bool operator()(const program::Acquire& action) {
    return host.acquire(now, thread, command, action.lock);
  }
  bool operator()(const program::Release& action) {
    host.release(now, thread, action.lock);
    return true;
  }
  bool operator()(const program::Push& action) { return host.push(now, thread, action); }
  bool operator()(const program::Pop& action) {
    return host.take(now, thread, command, action.queue, std::nullopt);
  }
  bool operator()(const program::Take& action) {
    return host.take(now, thread, command, action.queue, action.item);
  }

  // the device
  bool operator()(const program::Launch&) { return host.launch(now, thread, command); }
  bool operator()(const program::Copy&) { return host.copy(now, thread, command); }
  bool operator()(const program::ReadScalar&) { return host.read_scalar(now, thread, command); }
  bool operator()(const program::Collective&) { return host.collective(now, thread, command); }
  bool operator()(const program::BeginCapture& action) {
    host.begin_capture(thread, action);
    return true;
  }
  bool operator()(const program::EndCapture& action) {
    host.graphs_[action.graph].captured_by = kNoThread;
    return true;
  }
  bool operator()(const program::GraphInstantiate&) {
    return host.instantiate_graph(now, thread, command);
  }
  bool operator()(const program::GraphLaunch&) { return host.launch_graph(now, thread, command); }
  bool operator()(const program::RecordEvent&) { return host.event_call(now, thread, command); }
  bool operator()(const program::StreamWait&) { return host.event_call(now, thread, command); }
  bool operator()(const program::StreamSync&) { return host.synchronise(now, thread, command); }
  bool operator()(const program::DeviceSync&) { return host.synchronise(now, thread, command); }
  bool operator()(const program::EventSync&) { return host.synchronise(now, thread, command); }

  // marks
  bool operator()(const program::BeginMark&) { return at_once(&Host::begin_mark); }
  bool operator()(const program::EndMark&) {
    host.end_mark(now, thread);
    return true;
  }

  bool at_once(void (Host::*what)(Nanos, std::uint32_t, const program::Command&)) {
    (host.*what)(now, thread, command);
    return true;
  }
};

bool Host::run(Nanos now, std::uint32_t thread, const program::Command& command) {
  return std::visit(Dispatch{*this, now, thread, command}, command.action);
}

}  // namespace trainscope::sim
