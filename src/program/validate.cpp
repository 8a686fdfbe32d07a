#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "program/program.h"

namespace trainscope::program {
namespace {

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program) {}

  void operator()(const HostWork& work) const { expect(work.duration >= 0, "a negative duration"); }
  void operator()(const StartWorker&) const {}
  void operator()(const FrameworkCall&) const {}
  void operator()(const HostCopy& copy) const { expect(copy.bytes >= 0, "a negative size"); }
  void operator()(const HostAlloc& alloc) const { expect(alloc.bytes >= 0, "a negative size"); }
  void operator()(const DiskRead& read) const {
    expect(read.bytes >= 0 && read.reads >= 0, "a negative size");
  }
  void operator()(const HostRead& read) const { host_buffer(read.buffer); }
  void operator()(const HostWrite& write) const { host_buffer(write.buffer); }
  void operator()(const LoadBatch& load) const {
    expect(load.x < program_.buffers.size() && load.y < program_.buffers.size(),
           "an unknown buffer");
    expect(load.batch >= 0, "a negative batch");
  }
  void operator()(const Branch& branch) const {
    host_buffer(branch.value);
    expect(command + branch.skipped < thread->commands.size(), "commands past its thread's last");
  }
  void operator()(const LogStep& log) const { stream(log.stream); }
  void operator()(const LogEvaluation& log) const { stream(log.stream); }
  void operator()(const Acquire& action) const { lock(action.lock); }
  void operator()(const Release& action) const { lock(action.lock); }
  void operator()(const Alloc& action) const {
    device_buffer(action.buffer);
    stream(action.stream);
  }
  void operator()(const Free& action) const { device_buffer(action.buffer); }
  void operator()(const RecordStream& action) const {
    device_buffer(action.buffer);
    stream(action.stream);
  }
  void operator()(const Compute& compute) const {
    expect(compute.operation < program_.operations.size(), "an unknown operation");
  }
  void operator()(const View& view) const {
    expect(view.of < program_.buffers.size() && view.view < program_.buffers.size(),
           "an unknown buffer");
    within(view.of, view.begin, program_.buffers[view.view].bytes);
  }
  void operator()(const Launch& launch) const {
    expect(launch.operation < program_.operations.size(), "an unknown operation");
    stream(launch.stream);
    expect(launch.predicate == kNoIndex || launch.predicate < program_.buffers.size(),
           "an unknown buffer");
  }
  void operator()(const Copy& copy) const {
    expect(copy.bytes >= 0, "a negative size");
    stream(copy.stream);
    expect(copy.from < program_.buffers.size() && copy.to < program_.buffers.size(),
           "an unknown buffer");
    within(copy.from, copy.from_begin, copy.bytes);
    within(copy.to, copy.to_begin, copy.bytes);
  }
  void operator()(const ReadScalar& read) const {
    (*this)(read.copy);
    expect(program_.buffers[read.copy.from].kind == MemoryKind::kDevice,
           "a scalar that does not lie on the device");
    host_buffer(read.copy.to);
  }
  void operator()(const BeginCapture& action) const {
    graph(action.graph);
    stream(action.stream);
  }
  void operator()(const EndCapture& action) const { graph(action.graph); }
  void operator()(const GraphInstantiate& action) const { graph(action.graph); }
  void operator()(const GraphLaunch& action) const {
    graph(action.graph);
    stream(action.stream);
  }
  void operator()(const Collective& collective) const {
    expect(collective.communicator < program_.communicators.size(), "an unknown communicator");
    expect(collective.bytes > 0, "no bytes");
    if (collective.kind == CollectiveKind::kSendReceive) {
      expect(program_.communicators[collective.communicator].ranks == 2,
             "a send among more than two ranks");
      expect(collective.send != kNoIndex || collective.receive != kNoIndex,
             "neither a send nor a receive");
    }
    stream(collective.stream);
    if (collective.after != kNoIndex) stream(collective.after);
    for (const Index payload : {collective.send, collective.receive})
      expect(payload == kNoIndex || payload < program_.payloads.size(), "an unknown payload");
  }
  void operator()(const RecordEvent& record) const {
    event(record.event);
    stream(record.stream);
  }
  void operator()(const StreamWait& wait) const {
    event(wait.event);
    stream(wait.stream);
  }
  void operator()(const StreamSync& sync) const { stream(sync.stream); }
  void operator()(const DeviceSync&) const {}
  void operator()(const EmptyCache&) const {}
  void operator()(const EventSync& sync) const { event(sync.event); }
  void operator()(const Push& push) const { queue(push.queue); }
  void operator()(const Pop& pop) const { queue(pop.queue); }
  void operator()(const Take& take) const { queue(take.queue); }
  void operator()(const BeginMark&) const {}
  void operator()(const EndMark&) const {}
  void operator()(const Elapse& one) const { expect(one.duration >= 0, "a negative duration"); }
  void operator()(const BeginRecorded& one) const { recorded(one.span); }
  void operator()(const RecordedCall& call) const {
    if (call.span != trace::kNone) recorded(call.span);
    expect(call.before >= 0 && call.after >= 0, "a negative duration");
    const std::size_t works = program_.recording.works.size();
    expect(call.first <= works && call.count <= works - call.first, "an unknown recorded work");
    if (call.wait == RecordedCall::Wait::kTurn) expect(call.count > 0, "no work of its own");
    if (call.wait == RecordedCall::Wait::kWork)
      expect(call.waits_for < works, "an unknown recorded work");
    if (call.wait == RecordedCall::Wait::kStream) stream(call.waits_for);
    if (call.wait == RecordedCall::Wait::kDevice)
      expect(std::ranges::any_of(
                 program_.streams,
                 [&](const Stream& one) { return one.device == static_cast<int>(call.waits_for); }),
             "a device without streams");
  }

  // The command under check.
  const Thread* thread = nullptr;
  std::size_t command = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("command " + std::to_string(command) + " of thread " + thread->name + what);
  }

 private:
  void recorded(trace::SpanId id) const {
    expect(program_.recording.trace && id < program_.recording.trace->spans().size(),
           "a span that was not recorded");
  }
  void within(Index buffer, std::int64_t begin, std::int64_t bytes) const {
    expect(begin >= 0 && bytes <= program_.buffers[buffer].bytes - begin,
           "more bytes than its buffers hold");
  }
  void graph(Index id) const { expect(id < program_.graphs.size(), "an unknown graph"); }
  void lock(Index id) const { expect(id < program_.locks.size(), "an unknown lock"); }
  void device_buffer(Index id) const {
    expect(id < program_.buffers.size() && program_.buffers[id].kind == MemoryKind::kDevice,
           "a buffer that does not lie on the device");
  }
  void host_buffer(Index id) const {
    expect(id < program_.buffers.size() && program_.buffers[id].kind != MemoryKind::kDevice,
           "a buffer that does not lie on the host");
  }
  void stream(Index id) const { expect(id < program_.streams.size(), "an unknown stream"); }
  void event(Index id) const { expect(id < program_.events, "an unknown event"); }
  void queue(Index id) const { expect(id < program_.queues.size(), "an unknown queue"); }
  void expect(bool right, const char* what) const {
    if (!right) fail(std::string(" names ") + what);
  }

  const Program& program_;
};

// Captures of one thread: begun and ended in turn, and nothing between that a capture forbids
// (CUDA: cudaErrorStreamCaptureUnsupported).
class CaptureChecker {
 public:
  explicit CaptureChecker(const Program& program) : captured_(program.graphs.size(), false) {}

  void check(const Checker& checker, const Action& action) {
    if (const auto* begin = std::get_if<BeginCapture>(&action)) {
      if (capture_) checker.fail(" begins a capture within another");
      capture_ = begin;
    } else if (const auto* end = std::get_if<EndCapture>(&action)) {
      if (!capture_ || capture_->graph != end->graph)
        checker.fail(" ends a capture that it did not begin");
      captured_[end->graph] = true;
      capture_ = nullptr;
    } else if (capture_) {
      check_within(checker, action);
    }
    if (const auto* graph = std::get_if<GraphInstantiate>(&action)) expect(checker, graph->graph);
    if (const auto* graph = std::get_if<GraphLaunch>(&action)) expect(checker, graph->graph);
  }
  bool open() const { return capture_ != nullptr; }

 private:
  void check_within(const Checker& checker, const Action& action) const {
    const auto* sync = std::get_if<StreamSync>(&action);
    const bool waits =
        std::holds_alternative<DeviceSync>(action) || std::holds_alternative<EventSync>(action) ||
        std::holds_alternative<ReadScalar>(action) || (sync && sync->stream == capture_->stream);
    if (waits) checker.fail(" waits for the device while a graph is captured, which CUDA forbids");
    const Copy* copy = copy_of(action);
    if (copy && copy->stream == capture_->stream)
      checker.fail(" copies on a stream that is captured into a graph; copy before the capture");
  }
  void expect(const Checker& checker, Index graph) const {
    if (!captured_[graph]) checker.fail(" uses a graph that its thread has not captured");
  }

  const BeginCapture* capture_ = nullptr;
  std::vector<bool> captured_;
};

void check_locks(const Program& program, const Thread& thread) {
  std::vector<bool> held(program.locks.size(), false);
  for (const Command& command : thread.commands) {
    const auto* acquire = std::get_if<Acquire>(&command.action);
    const auto* release = std::get_if<Release>(&command.action);
    if (!acquire && !release) continue;
    const Index lock = acquire ? acquire->lock : release->lock;
    if (held[lock] == (acquire != nullptr))
      throw InputError(
          "thread " + thread.name +
          (acquire ? " takes a lock that it holds: " : " returns a lock it has not: ") +
          program.locks[lock].name);
    held[lock] = acquire != nullptr;
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i])
      throw InputError("thread " + thread.name + " never returns the lock " +
                       program.locks[i].name);
}

void check_marks(const Thread& thread) {
  int open = 0;
  for (const Command& command : thread.commands) {
    if (std::holds_alternative<BeginMark>(command.action) ||
        std::holds_alternative<BeginRecorded>(command.action))
      ++open;
    if (std::holds_alternative<EndMark>(command.action) && --open < 0)
      throw InputError("thread " + thread.name + " ends a mark that it did not begin");
  }
  if (open != 0) throw InputError("thread " + thread.name + " begins a mark that it does not end");
}

// An event is of the GPU that it is recorded on; recording it on another's stream is an error
// (CUDA: cudaErrorInvalidResourceHandle). Waiting for it is not.
void check_events(const Program& program) {
  constexpr int kNever = -1;
  std::vector<int> gpus(program.events, kNever);
  for (const Thread& thread : program.threads)
    for (const Command& command : thread.commands) {
      const auto* record = std::get_if<RecordEvent>(&command.action);
      if (!record) continue;
      const int gpu = program.streams[record->stream].device;
      if (gpus[record->event] != kNever && gpus[record->event] != gpu)
        throw InputError("thread " + thread.name + " records on GPU " + std::to_string(gpu) +
                         " an event of GPU " + std::to_string(gpus[record->event]));
      gpus[record->event] = gpu;
    }
}

void check_recording(const Program& program) {
  const Recording& recording = program.recording;
  for (std::size_t i = 0; i < recording.works.size(); ++i) {
    const RecordedWork& work = recording.works[i];
    const bool known = recording.trace && work.span < recording.trace->spans().size() &&
                       work.stream < program.streams.size();
    const bool later = std::ranges::any_of(work.after, [&](std::uint32_t one) { return one >= i; });
    const bool alone = work.meeting == RecordedWork::kAlone;
    if (!alone && work.meeting >= recording.meetings.size())
      throw InputError("recorded work " + std::to_string(i) + " is of an unknown meeting");
    if (!known || later || work.duration < 0 || work.latency < 0 || work.gap < 0)
      throw InputError("recorded work " + std::to_string(i) +
                       " names what is not there, or waits for what comes later");
  }
}

}  // namespace

void validate(const Program& program) {
  if (program.threads.empty()) throw InputError("a program needs a thread");
  for (const Queue& queue : program.queues)
    if (queue.capacity < 1) throw InputError("queue " + queue.name + " has no room for any item");
  for (const Communicator& one : program.communicators) {
    if (one.simulated < 1 || one.simulated > one.ranks)
      throw InputError("communicator " + one.name + " has more streams than ranks, or none");
    if (one.groups < 1 || (one.groups > 1 && (one.apart < 1 || one.gpus.empty())))
      throw InputError("communicator " + one.name +
                       " is of several alike, and does not say where the others are");
  }
  for (const std::vector<Index>& payload : program.payloads)
    for (const Index buffer : payload)
      if (buffer >= program.buffers.size())
        throw InputError("a collective sends a buffer that the program does not have");
  check_recording(program);
  Checker check(program);
  for (const Thread& thread : program.threads) {
    check.thread = &thread;
    CaptureChecker captures(program);
    for (check.command = 0; check.command < thread.commands.size(); ++check.command) {
      const Command& command = thread.commands[check.command];
      std::visit(check, command.action);
      captures.check(check, command.action);
      if (command.name != kNoIndex && command.name >= program.names.size())
        check.fail(" names an unknown name");
      if (command.line > program.listing.lines.size())
        check.fail(" cites a line that the listing does not have");
    }
    if (captures.open()) throw InputError("thread " + thread.name + " never ends a capture");
    if (thread.interpreter != kNoIndex && thread.interpreter >= program.locks.size())
      throw InputError("thread " + thread.name + " has an interpreter with an unknown lock");
    check_locks(program, thread);
    check_marks(thread);
  }
  check_events(program);
}

}  // namespace trainscope::program
