// One host thread of a program, carried out by a real one.
#pragma once

#include "cuda/execution.h"

namespace trainscope::cuda {

class ThreadRun {
 public:
  ~ThreadRun();
  ThreadRun(const ThreadRun&) = delete;
  ThreadRun(Execution& run, std::size_t thread)
      : run_(run), device_(run.device_), thread_(thread), log_(run.logs_[thread]) {}

  // All commands. Throws what a command throws.
  void carry_out();
  // Of the command that is under way.
  std::uint16_t line() const { return line_; }

 private:
  using Command = program::Command;

  // thread_commands.cpp: by a function below, of thread_run.cpp.
  void run(const Command& command);
  struct Dispatch;
  void operator_on_host(const Command& command, Nanos duration, bool on_core);
  void host_copy(const Command& command);
  void host_alloc(const Command& command, std::int64_t bytes);
  void load(const program::LoadBatch& load);
  void branch(const program::Branch& branch);
  // A new one, that is not kept yet; kept, it is what the last span put on the device.
  Call call_on(const Command& command, program::Index stream);
  void keep(const Call& call);
  void launch(const Command& command);
  void launch_graph(const Command& command);
  void capture(const program::BeginCapture& begin);
  void end_capture(const program::EndCapture& end);
  void copy(const Command& command, const program::Copy& copy);
  void allocate(const Command& command, const program::Alloc& alloc);
  void empty_cache(const Command& command);
  void collective(const Command& command, const program::Collective& collective);
  bool goes_on_with(const program::Collective& collective) const;
  void synchronise(const Command& command);
  void synchronise_gpu();
  void take(const Command& command, program::Index queue, std::optional<std::int64_t> item);
  void acquire(const Command& command, program::Index lock);
  void begin_mark(const Command& command);
  void end_mark();

  Execution::GraphState* captured(program::Index stream);
  CallId hidden_call(program::Index stream, std::uint16_t line);
  // Calls the device and leaves the span of the call; the index of the span.
  template <typename Body>
  std::int64_t timed(const Command& command, const char* word, const Body& body) {
    HostSpan span;
    span.word = word;
    span.line = command.line;
    span.start = device_.now();
    body();
    span.end = device_.now();
    log_.spans.push_back(span);
    return static_cast<std::int64_t>(log_.spans.size()) - 1;
  }
  StreamHandle handle(program::Index stream) const { return run_.streams_[stream]; }

  struct Mark {
    program::Index name;
    Nanos start;
    std::uint16_t line;
  };

  Execution& run_;
  DeviceCalls& device_;
  std::size_t thread_;
  ThreadLog& log_;
  std::size_t next_ = 0;
  std::uint16_t line_ = 0;
  std::int64_t item_ = 0;        // taken out of a queue last
  std::vector<RankCall> group_;  // calls of the collective that is under way
  std::vector<Mark> marks_;
  std::vector<char> scratch_;       // of copies within host memory
  std::vector<void*> page_locked_;  // by the program, and its own to the end
};

}  // namespace trainscope::cuda
