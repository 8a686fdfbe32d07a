// The simulated host: threads that carry out their commands in order, the queues between them, and
// the memory bandwidth that their copies share.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "program/program.h"
#include "sim/device.h"
#include "sim/event_queue.h"
#include "sim/recorder.h"
#include "sim/shared_rate.h"

namespace trainscope::sim {

class Host {
 public:
  // `profile` is the knob host.profile.
  Host(const program::Program& program, const machine::Machine& machine, const std::string& profile,
       EventQueue& events, Recorder& recorder, Device& device);

  // Makes every thread run at time 0.
  void start();
  // Lets a thread go on until it has to wait.
  void on_thread(Nanos now, std::uint32_t thread);
  void on_rate(Nanos now, std::uint64_t version);
  // The rate's index among EventKind::kRate events, after the device's.
  static constexpr std::uint32_t kRate = Device::kRates;

  bool finished() const { return running_ == 0; }
  std::uint64_t commands_done() const { return commands_done_; }
  // For a run that cannot go on: "host main waits for batch 3 of queue data (line 7)".
  std::string waiting() const;

 private:
  // How far a staged copy has come; chunks are copied and transferred in order.
  struct Staging {
    OpId op = kNoOp;
    std::int64_t chunks = 0;
    std::int64_t requested = 0;  // transfers asked for
    std::int64_t copied = 0;     // chunks copied by the host
    Nanos copy_begun = 0;
    Nanos held_since = 0;
    std::uint32_t correlation = 0;
    trace::SpanId last_copy = trace::kNone;
    bool copying = false;
  };
  struct Mark {
    trace::NameId name = 0;
    Nanos start = 0;
    std::uint16_t line = 0;
  };
  struct ThreadState {
    std::size_t next = 0;  // the command under way
    int stage = 0;         // of that command
    Nanos wake_at = -1;    // a timed wait: earlier wake-ups are not meant for it
    Nanos begun = 0;       // when the command began
    Nanos call_begun = 0;  // when its CUDA call began
    Nanos waits_since = -1;
    OpId waits_for = kNoOp;
    std::int64_t item = -1;                 // what the last Pop took
    trace::SpanId producer = trace::kNone;  // of the item taken last
    trace::SpanId last_span = trace::kNone;
    std::vector<Mark> marks;
    Staging staging;
    bool copy_done = false;  // the host copy under way is
  };
  struct Item {
    std::int64_t value = 0;
    trace::SpanId producer = trace::kNone;
  };
  struct QueueState {
    std::deque<Item> items;
    std::vector<std::uint32_t> waiting;
  };

  // One function a command; each returns true when the command is done and false when the thread
  // has to wait (its wake-up is arranged).
  bool run(Nanos now, std::uint32_t thread, const program::Command& command);
  bool work(Nanos now, std::uint32_t thread, const program::Command& command, Nanos duration);
  bool framework_call(Nanos now, std::uint32_t thread, const program::Command& command);
  bool host_copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool launch(Nanos now, std::uint32_t thread, const program::Command& command);
  bool instantiate_graph(Nanos now, std::uint32_t thread, const program::Command& command);
  bool launch_graph(Nanos now, std::uint32_t thread, const program::Command& command);
  bool copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool staged_copy(Nanos now, std::uint32_t thread, const program::Command& command);
  bool stage_h2d(Nanos now, std::uint32_t thread, const program::Copy& copy);
  bool stage_d2h(Nanos now, std::uint32_t thread, const program::Copy& copy);
  bool event_call(Nanos now, std::uint32_t thread, const program::Command& command);
  bool synchronise(Nanos now, std::uint32_t thread, const program::Command& command);
  bool push(Nanos now, std::uint32_t thread, const program::Push& push);
  bool take(Nanos now, std::uint32_t thread, const program::Command& command, program::Index queue,
            std::int64_t item, bool any);
  void begin_mark(Nanos now, std::uint32_t thread, const program::Command& command);
  void end_mark(Nanos now, std::uint32_t thread);

  bool sleep(Nanos now, std::uint32_t thread, Nanos duration);
  void start_memcpy(Nanos now, std::uint32_t thread, std::int64_t bytes);
  void begin_staging_copy(Nanos now, std::uint32_t thread, std::int64_t bytes);
  void end_staging_copy(Nanos now, std::uint32_t thread);
  trace::SpanId copy_call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                               std::uint32_t correlation);
  void wake_all(Nanos now, QueueState& queue);
  OpId sync_target(Nanos now, const program::Command& command);
  std::int64_t chunk_bytes(const program::Copy& copy, std::int64_t chunk) const;
  trace::SpanId host_span(std::uint32_t thread, const program::Command& command, Nanos start,
                          Nanos end, trace::NameId name, trace::Category category);
  trace::SpanId call_span(Nanos now, std::uint32_t thread, const program::Command& command,
                          trace::NameId name, std::uint32_t correlation);
  // The framework's operator around a call; nothing where the profile has none.
  void operator_span(Nanos now, std::uint32_t thread, const program::Command& command,
                     trace::NameId name);
  void wait_span(Nanos now, std::uint32_t thread, const program::Command& command,
                 std::string_view name, trace::Cause cause, trace::SpanId cause_span);

  const program::Program& program_;
  const machine::Machine& machine_;
  Nanos operator_ns_;
  EventQueue& events_;
  Recorder& recorder_;
  Device& device_;
  std::vector<ThreadState> threads_;
  std::vector<QueueState> queues_;
  SharedRate memory_;
  std::uint32_t running_ = 0;
  std::uint64_t commands_done_ = 0;
};

}  // namespace trainscope::sim
