#include "program/program.h"

#include <algorithm>

#include "base/error.h"

namespace trainscope::program {
namespace {

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program) {}

  void operator()(const HostWork& work) const { expect(work.duration >= 0, "a negative duration"); }
  void operator()(const FrameworkCall&) const {}
  void operator()(const HostCopy& copy) const { expect(copy.bytes >= 0, "a negative size"); }
  void operator()(const Launch& launch) const {
    expect(launch.operation < program_.operations.size(), "an unknown operation");
    stream(launch.stream);
  }
  void operator()(const Copy& copy) const {
    expect(copy.bytes >= 0, "a negative size");
    stream(copy.stream);
    expect(copy.from < program_.buffers.size() && copy.to < program_.buffers.size(),
           "an unknown buffer");
    expect(copy.bytes <= program_.buffers[copy.from].bytes &&
               copy.bytes <= program_.buffers[copy.to].bytes,
           "more bytes than its buffers hold");
  }
  void operator()(const GraphInstantiate& action) const { graph(action.graph); }
  void operator()(const GraphLaunch& action) const {
    graph(action.graph);
    stream(action.stream);
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
  void operator()(const EventSync& sync) const { event(sync.event); }
  void operator()(const Push& push) const { queue(push.queue); }
  void operator()(const Pop& pop) const { queue(pop.queue); }
  void operator()(const Take& take) const { queue(take.queue); }
  void operator()(const BeginMark&) const {}
  void operator()(const EndMark&) const {}

  // The command under check.
  const Thread* thread = nullptr;
  std::size_t command = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("command " + std::to_string(command) + " of thread " + thread->name + what);
  }

 private:
  void graph(Index id) const {
    expect(id < program_.graphs.size(), "an unknown graph");
    for (const Index operation : program_.graphs[id].operations)
      expect(operation < program_.operations.size(), "a graph with an unknown operation");
  }
  void stream(Index id) const { expect(id < program_.streams.size(), "an unknown stream"); }
  void event(Index id) const { expect(id < program_.events, "an unknown event"); }
  void queue(Index id) const { expect(id < program_.queues.size(), "an unknown queue"); }
  void expect(bool right, const char* what) const {
    if (!right) fail(std::string(" names ") + what);
  }

  const Program& program_;
};

void check_marks(const Thread& thread) {
  int open = 0;
  for (const Command& command : thread.commands) {
    if (std::holds_alternative<BeginMark>(command.action)) ++open;
    if (std::holds_alternative<EndMark>(command.action) && --open < 0)
      throw InputError("thread " + thread.name + " ends a mark that it did not begin");
  }
  if (open != 0) throw InputError("thread " + thread.name + " begins a mark that it does not end");
}

}  // namespace

Index Program::intern(std::string_view name) {
  const auto [entry, added] =
      name_ids_.try_emplace(std::string(name), static_cast<Index>(names.size()));
  if (added) names.emplace_back(name);
  return entry->second;
}

void validate(const Program& program) {
  if (program.threads.empty()) throw InputError("a program needs a thread");
  for (const Queue& queue : program.queues)
    if (queue.capacity < 1) throw InputError("queue " + queue.name + " has no room for any item");
  Checker check(program);
  for (const Thread& thread : program.threads) {
    check.thread = &thread;
    for (check.command = 0; check.command < thread.commands.size(); ++check.command) {
      const Command& command = thread.commands[check.command];
      std::visit(check, command.action);
      if (command.name != kNoIndex && command.name >= program.names.size())
        check.fail(" names an unknown name");
      if (command.line > program.listing.lines.size())
        check.fail(" cites a line that the listing does not have");
    }
    check_marks(thread);
  }
}

}  // namespace trainscope::program
