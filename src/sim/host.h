// The simulated host: threads that carry out their commands in order, the queues and locks between
// them, and what they share: cores, memory bandwidth, the disk.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "program/numbers.h"
#include "program/program.h"
#include "sim/device.h"
#include "sim/ending.h"
#include "sim/event_queue.h"
#include "sim/host_thread.h"
#include "sim/memory.h"
#include "sim/recorder.h"
#include "sim/reuse_watch.h"
#include "sim/shared_rate.h"

namespace trainscope::sim {

class Host {
 public:
  // `profile` is the knob host.profile.
  Host(const program::Program& program, const machine::Machine& machine, const std::string& profile,
       EventQueue& events, Recorder& recorder, Device& device, program::Numbers* numbers);

  // Makes every thread run at time 0, if what is on the device from the start fits.
  void start();
  // Lets a thread go on until it has to wait.
  void on_thread(Nanos now, std::uint32_t thread);
  // The shared rates: kRates of each node, node after node.
  void on_rate(Nanos now, std::uint32_t rate, std::uint64_t version);
  static constexpr std::uint32_t kRates = 3;

  bool finished() const { return running_ == 0; }
  // Once all work is done: what was overwritten while it was still read, as a lane of its own.
  void record_overwritten();
  // The device's memory ran out, or training diverged, and no thread goes on.
  bool stopped() const { return stopped_; }
  // Why it did; nothing when it did not.
  const std::optional<OutOfMemory>& out_of_memory() const { return device_memory_.out_of_memory(); }
  const std::optional<Diverged>& diverged() const { return diverged_; }
  std::uint64_t commands_done() const { return commands_done_; }
  // The line at which a rank's training thread stands; 0: it is done.
  std::uint16_t line_of(int rank) const;
  // Why a run that cannot go on cannot: who waits for whom, with the lines.
  std::string waiting() const;

 private:
  struct Item {
    std::int64_t value = 0;
    trace::SpanId producer = trace::kNone;
  };
  struct QueueState {
    std::deque<Item> items;
    std::vector<std::uint32_t> waiting;
  };
  struct LockState {
    std::uint32_t owner = kNoThread;
    trace::SpanId last_span = trace::kNone;  // of the last owner
    std::deque<std::uint32_t> waiting;
    trace::NameId wait_name = 0;  // of the spans of those who wait
    bool shared = false;          // threads may have to wait for it
  };
  struct GraphState {
    std::vector<program::Index> operations;
    // While it is captured: the stream, and the thread whose launches there are written down.
    program::Index captured_on = program::kNoIndex;
    std::uint32_t captured_by = kNoThread;
  };

  // One function a command; each returns true when the command is done and false when the thread
  // has to wait (its wake-up is arranged).
  bool run(Nanos now, std::uint32_t thread, const program::Command& command);
  struct Dispatch;  // host_commands.cpp

  // host_work.cpp
  bool work(Nanos now, std::uint32_t thread, const program::Command& command, Nanos duration);
  bool start_worker(Nanos now, std::uint32_t thread, const program::Command& command);
  bool framework_call(Nanos now, std::uint32_t thread, const program::Command& command);
  bool calculate(Nanos now, std::uint32_t thread, const program::Command& command);
  bool host_copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool host_alloc(Nanos now, std::uint32_t thread, const program::Command& command,
                  std::int64_t bytes);
  bool disk_read(Nanos now, std::uint32_t thread, const program::Command& command);
  void touch(Nanos now, std::uint32_t thread, const program::Command& command);
  void begin_mark(Nanos now, std::uint32_t thread, const program::Command& command);
  void end_mark(Nanos now, std::uint32_t thread);

  // host_numbers.cpp: what is computed beside virtual time
  bool is_skipped(const program::Launch& launch) const;
  void compute_numbers(program::Index operation);
  void branch(std::uint32_t thread, const program::Branch& branch);
  void log_step(Nanos now, std::uint32_t thread, const program::Command& command);
  void log_evaluation(Nanos now, const program::LogEvaluation& log);
  void end_diverged(Nanos now, std::uint32_t thread, const program::Command& command,
                    const trace::TrainingStep& step);

  // host_calls.cpp
  bool launch(Nanos now, std::uint32_t thread, const program::Command& command);
  bool wait_for_launch_queue(Nanos now, std::uint32_t thread, const program::Command& command);
  void begin_capture(std::uint32_t thread, const program::BeginCapture& capture);
  GraphState* captured(std::uint32_t thread, program::Index stream);
  bool instantiate_graph(Nanos now, std::uint32_t thread, const program::Command& command);
  bool launch_graph(Nanos now, std::uint32_t thread, const program::Command& command);
  void enqueue_kernel(Nanos now, const Enqueued& tags, program::Index operation,
                      program::Phase phase);
  bool collective(Nanos now, std::uint32_t thread, const program::Command& command);
  bool event_call(Nanos now, std::uint32_t thread, const program::Command& command);
  bool synchronise(Nanos now, std::uint32_t thread, const program::Command& command);
  OpId sync_target(Nanos now, std::uint32_t thread, const program::Command& command);
  // An operation that is not done, if any is; all are done once this returns one that is.
  OpId device_tail(Nanos now, int device);

  // host_memory.cpp
  bool allocate(Nanos now, std::uint32_t thread, const program::Command& command);
  bool empty_cache(Nanos now, std::uint32_t thread, const program::Command& command);
  bool give_back(Nanos now, std::uint32_t thread, const program::Command& command, int gpu);
  bool malloc_call(Nanos now, std::uint32_t thread, const program::Command& command);
  bool wait_for_device(Nanos now, std::uint32_t thread, int gpu);
  void end_free_call(Nanos now, std::uint32_t thread, const program::Command& command,
                     std::string_view name);
  void run_out_of_memory(Nanos now, std::uint32_t thread, const program::Command& command);
  bool free(Nanos now, std::uint32_t thread, const program::Command& command);
  void watch_allocation(const program::Alloc& action);

  // host_copy.cpp
  bool copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool read_scalar(Nanos now, std::uint32_t thread, const program::Command& command);
  bool staged_copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool stage_h2d(Nanos now, std::uint32_t thread, const program::Copy& copy);
  bool stage_d2h(Nanos now, std::uint32_t thread, const program::Copy& copy);
  void begin_staging_copy(Nanos now, std::uint32_t thread, std::int64_t bytes, double rate);
  void end_staging_copy(Nanos now, std::uint32_t thread);
  trace::SpanId copy_call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                               std::uint32_t correlation);
  std::int64_t chunk_bytes(const program::Copy& copy, std::int64_t chunk) const;

  // host_wait.cpp
  bool push(Nanos now, std::uint32_t thread, const program::Push& push);
  bool take(Nanos now, std::uint32_t thread, const program::Command& command, program::Index queue,
            std::optional<std::int64_t> item);
  void wake_all(Nanos now, QueueState& queue);
  bool acquire(Nanos now, std::uint32_t thread, const program::Command& command,
               program::Index lock);
  void release(Nanos now, std::uint32_t thread, program::Index lock);

  // host_recorded.cpp: what a recording says
  bool elapse(Nanos now, std::uint32_t thread, Nanos duration);
  void begin_recorded(Nanos now, std::uint32_t thread, const program::Command& command);
  bool recorded_call(Nanos now, std::uint32_t thread, const program::Command& command);
  void begin_wait(Nanos now, std::uint32_t thread, const program::RecordedCall& call);
  bool wait_in_call(Nanos now, std::uint32_t thread, const program::RecordedCall& call);
  void end_recorded_call(Nanos now, std::uint32_t thread, const program::Command& command);

  // host_time.cpp
  // Time on a core: true once `duration` is over since the first call of this stage.
  bool compute(Nanos now, std::uint32_t thread, Nanos duration);
  // The same without a core.
  bool rest(Nanos now, std::uint32_t thread, Nanos duration);
  // The framework's own time of an operator: the profile's, or what compiled code needs for it.
  Nanos operator_time(const program::Command& command) const;
  // Lets it pass, its Python part under the interpreter's lock.
  bool operate(Nanos now, std::uint32_t thread, const program::Command& command);
  void start_memcpy(Nanos now, std::uint32_t thread, std::int64_t bytes, double bytes_per_s);
  void serve(Nanos now, std::uint32_t which, std::uint32_t thread, double work, double limit);
  bool served(std::uint32_t thread) const { return threads_[thread].rates_under_way == 0; }

  // host_spans.cpp
  trace::SpanId add_span(std::uint32_t thread, const trace::Span& span);
  trace::SpanId host_span(std::uint32_t thread, const program::Command& command, Nanos start,
                          Nanos end, trace::NameId name, trace::Category category);
  trace::SpanId call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                          trace::NameId name, std::uint32_t correlation);
  // The framework's operator around a call; nothing where the profile has none.
  void operator_span(Nanos now, std::uint32_t thread, const program::Command& command,
                     trace::NameId name);
  // From `since` until now; nothing when it did not wait.
  void wait_span(Nanos since, Nanos now, std::uint32_t thread, const program::Command& command,
                 trace::NameId name, trace::Cause cause, trace::SpanId cause_span);
  void call_until_given(Nanos now, std::uint32_t thread, const program::Command& command);

  enum Rate : std::uint32_t { kMemory, kDisk, kCores };
  // Ranks fill one node after another.
  std::uint32_t node_of(std::uint32_t thread) const {
    return static_cast<std::uint32_t>(program_.threads[thread].rank / machine_.gpu_count);
  }
  bool has_scarce_cores() const;

  const program::Program& program_;
  const machine::Machine& machine_;
  Nanos operator_ns_;
  bool is_eager_;
  Nanos interpreter_ns_;  // the part of it that is Python
  EventQueue& events_;
  Recorder& recorder_;
  Device& device_;
  program::Numbers* numbers_;
  Memory device_memory_;
  ReuseWatch reuse_;
  std::vector<ThreadState> threads_;
  std::vector<QueueState> queues_;
  std::vector<LockState> locks_;
  std::vector<GraphState> graphs_;
  std::vector<SharedRate> rates_;
  bool cores_are_scarce_;  // fewer than a node's threads: otherwise they need no accounting
  std::vector<std::vector<program::Index>> streams_of_;  // by GPU
  std::uint32_t running_ = 0;
  bool stopped_ = false;
  std::optional<Diverged> diverged_;
  std::uint64_t commands_done_ = 0;
};

}  // namespace trainscope::sim
