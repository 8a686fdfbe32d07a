// Carries out a program on a device: every host thread of the program is a real one, every command
// a real call. What happened is written into a trace once it is over.
//
// Host work of a fixed length (a loader's) really takes its time; what the program says of a
// framework's own cost and of reading a disk has no counterpart and takes none.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/block_log.h"
#include "cuda/buffers.h"
#include "cuda/collectives.h"
#include "cuda/device_calls.h"
#include "cuda/draws.h"
#include "cuda/host_log.h"
#include "cuda/host_waits.h"
#include "cuda/meetings.h"
#include "cuda/step_log.h"
#include "host/interpreter.h"
#include "machine/machine.h"
#include "program/program.h"
#include "sim/recorder.h"

namespace trainscope::cuda {

// Why the run ended before its program did.
struct Failure {
  Nanos time = 0;          // on the trace's clock
  std::uint16_t line = 0;  // of the listing, from 1; 0: before the first command
  std::string sentence;
  bool out_of_memory = false;  // the device's; it can be used on
};

// How many GPUs a program has streams on, of whatever numbers; at least 1. One process of several
// has those of its own rank.
int gpus_with_streams(const program::Program& program);

class Execution {
 public:
  // Program, machine, device and trace must outlive it. `machine` describes the device, for
  // occupancy and names. Throws MissingError for a program that cannot be carried out here, naming
  // what it has that the executor has not; InputError for one that is wrong.
  // Every rank of a communicator must be in it (train::with_every_rank), or in another process that
  // the device has been joined with (train::only_rank). `time_out`: how long ranks
  // wait for another that does not come to a collective, on the device's clock.
  Execution(const program::Program& program, const machine::Machine& machine, DeviceCalls& device,
            trace::Trace& trace, Nanos time_out = Meetings::kTimeOut);
  ~Execution();

  // To the end, or to the first failure: what was done before it is in the trace. Call once. What
  // it had of the device goes back with it, so nothing else may be made there meanwhile that
  // outlives it.
  std::optional<Failure> run();

  // Tells every thread to stop before its next command; from any thread.
  void cancel();
  std::uint64_t commands_done() const { return commands_done_; }

  // From the first command until the device was idle, whether or not anything was watched; after
  // run().
  Nanos duration() const { return duration_; }

 private:
  friend class ThreadRun;

  struct GraphState {
    GraphHandle handle = 0;
    bool computes_loss = false;
    bool changes_scale = false;
    // While it is captured: on a stream of its own, in place of the program's, so that what other
    // threads launch there meanwhile is carried out.
    StreamHandle own = 0;
    program::Index stream = program::kNoIndex;
    std::size_t thread = SIZE_MAX;
  };

  // Whether some of the program's GPUs are on one real GPU. Its default stream is then none of
  // theirs: each has a stream of its own in its place, that waits for no other by itself.
  bool shares_gpus() const { return gpus_with_streams(program_) > device_.gpus(); }
  void set_up();
  void make_rooms();
  void make_states();
  void carry_out(const std::vector<RankCall>& calls, ThreadLog& log);
  // With the operands as they lie now, some of them nowhere; nothing else.
  KernelCall operands_of(const program::Operation& operation) const;
  KernelCall kernel_call(program::Index operation, program::Index stream) const;
  void run_threads();
  void run_thread(std::size_t thread);
  void fail(std::uint16_t line, const std::exception& why);
  void write_trace();
  void release_all();

  const program::Program& program_;
  const machine::Machine& machine_;
  DeviceCalls& device_;
  trace::Trace& trace_;
  std::optional<HandleCounts> handles_;  // that were there before it ran
  Nanos begin_ = 0;                      // the device's clock at the trace's time 0
  Nanos duration_ = 0;
  std::vector<StreamHandle> streams_;
  std::vector<EventHandle> events_;
  std::vector<float*> rooms_;  // by stream, to work in
  struct State {
    char* memory = nullptr;
    program::Index stream = 0;  // that it was allocated on
  };
  std::vector<State> states_;  // of optimizers, by operation
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<StepLog> steps_;
  std::vector<std::unique_ptr<host::BatchSource>> batches_;  // by rank; none: no data
  std::mutex batches_mutex_;
  HostWaits waits_;
  Meetings meetings_;
  std::unique_ptr<CollectiveMemory> collective_memory_;
  std::unique_ptr<Collectives> collectives_;
  std::mutex collectives_mutex_;
  std::vector<GraphState> graphs_;
  Draws draws_;
  BlockLog blocks_;
  std::vector<ThreadLog> logs_;
  std::atomic<CallId> next_call_{0};
  std::atomic<std::uint64_t> commands_done_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex failure_mutex_;
  std::optional<Failure> failure_;
};

// What a program has that this executor cannot carry out on the device; empty: nothing.
std::string refusal_of(const program::Program& program, const DeviceCalls& device);

// A launch that stands for one of several kernels of a framework's operator, and computes nothing:
// the executor's own kernel does the work of them all.
bool is_empty_launch(const program::Program& program, const program::Operation& operation);

}  // namespace trainscope::cuda
