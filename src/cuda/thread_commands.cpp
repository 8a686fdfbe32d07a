// A command of a host thread, carried out by what its action asks for.
#include <optional>
#include <variant>

#include "cuda/thread_run.h"

namespace trainscope::cuda {

struct ThreadRun::Dispatch {
  ThreadRun& thread;
  const Command& command;

  // the host
  void operator()(const program::HostWork& action) {
    if (!action.is_framework) thread.operator_on_host(command, action.duration, action.needs_core);
  }
  void operator()(const program::HostCopy&) { thread.host_copy(command); }
  void operator()(const program::HostAlloc& action) { thread.host_alloc(command, action.bytes); }
  void operator()(const program::LoadBatch& action) { thread.load(action); }
  void operator()(const program::Branch& action) { thread.branch(action); }
  void operator()(const program::LogStep& action) {
    thread.run_.steps_->end_step(action.step, thread.handle(action.stream),
                                 thread.hidden_call(action.stream, command.line));
  }
  void operator()(const program::LogEvaluation& action) {
    thread.run_.steps_->note_evaluation(action.step, thread.handle(action.stream),
                                        thread.hidden_call(action.stream, command.line));
  }

  // memory
  void operator()(const program::Alloc& action) { thread.allocate(command, action); }
  void operator()(const program::Free& action) { thread.run_.buffers_->free(action.buffer); }
  void operator()(const program::EmptyCache&) { thread.empty_cache(command); }
  void operator()(const program::RecordStream& action) {
    thread.run_.buffers_->record_stream(action);
  }
  void operator()(const program::View& action) { thread.run_.buffers_->view(action); }

  // the device
  void operator()(const program::Launch&) { thread.launch(command); }
  void operator()(const program::Collective& action) { thread.collective(command, action); }
  void operator()(const program::Copy& action) { thread.copy(command, action); }
  void operator()(const program::ReadScalar& action) {
    thread.copy(command, action.copy);
    thread.synchronise(command);
  }
  void operator()(const program::BeginCapture& action) { thread.capture(action); }
  void operator()(const program::EndCapture& action) { thread.end_capture(action); }
  void operator()(const program::GraphInstantiate& action) {
    thread.timed(command, "cudaGraphInstantiate",
                 [&] { thread.device_.instantiate(thread.run_.graphs_[action.graph].handle); });
  }
  void operator()(const program::GraphLaunch&) { thread.launch_graph(command); }
  void operator()(const program::RecordEvent& action) {
    thread.timed(command, "cudaEventRecord", [&] {
      thread.device_.record(thread.run_.events_[action.event], thread.handle(action.stream));
    });
  }
  void operator()(const program::StreamWait& action) {
    thread.timed(command, "cudaStreamWaitEvent", [&] {
      thread.device_.wait(thread.handle(action.stream), thread.run_.events_[action.event]);
    });
  }
  void operator()(const program::StreamSync&) { thread.synchronise(command); }
  void operator()(const program::DeviceSync&) { thread.synchronise(command); }
  void operator()(const program::EventSync&) { thread.synchronise(command); }

  // other threads
  void operator()(const program::Acquire& action) { thread.acquire(command, action.lock); }
  void operator()(const program::Release& action) { thread.run_.waits_.release(action.lock); }
  void operator()(const program::Push& action) {
    thread.run_.waits_.push(action.queue,
                            action.item == program::Push::kFromPop ? thread.item_ : action.item);
  }
  void operator()(const program::Pop& action) { thread.take(command, action.queue, std::nullopt); }
  void operator()(const program::Take& action) { thread.take(command, action.queue, action.item); }

  // marks
  void operator()(const program::BeginMark&) { thread.begin_mark(command); }
  void operator()(const program::EndMark&) { thread.end_mark(); }

  // Nothing is there to do for what costs a framework or a loader time, or looks at memory.
  void operator()(const program::StartWorker&) {}
  void operator()(const program::FrameworkCall&) {}
  void operator()(const program::DiskRead&) {}
  void operator()(const program::HostRead&) {}
  void operator()(const program::HostWrite&) {}

  // What computes on the CPU or replays a trace is refused before (refusal_of).
  void operator()(const program::Compute&) {}
  void operator()(const program::Elapse&) {}
  void operator()(const program::BeginRecorded&) {}
  void operator()(const program::RecordedCall&) {}
};

void ThreadRun::run(const Command& command) {
  std::visit(Dispatch{*this, command}, command.action);
}

}  // namespace trainscope::cuda
