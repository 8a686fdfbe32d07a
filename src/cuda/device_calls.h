// What the executor asks of a GPU: streams, events, memory, copies, kernels, graphs, times. One
// implementation is a real device (plug-in), another the emulated one that tests run on.
//
// Handles are numbers that the implementation gives out, one after another; they live as long as it
// does, or until release_after(). Every call
// may come from any host thread. A call that fails throws an Error of one sentence: DeviceLost when
// no later call can succeed either, OutOfDeviceMemory when there is no room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cuda/activity.h"
#include "program/program.h"

namespace trainscope::cuda {

using StreamHandle = std::uint32_t;
using EventHandle = std::uint32_t;
using GraphHandle = std::uint32_t;

// What the driver says of a device.
struct DeviceFacts {
  std::string name;     // "NVIDIA H100 80GB HBM3"
  std::string driver;   // "driver 580.65, CUDA 13.0"
  std::string toolkit;  // that the plug-in was built with: "CUDA 13.0"
  int capability = 0;   // 90: compute capability 9.0
  int sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t clock_hz = 0;  // the highest of its SMs
  // The rest: 0 where the driver does not say.
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int registers_per_sm = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t l2_bytes = 0;
  double memory_bytes_per_s = 0;  // peak: two transfers a memory clock, times the bus's width
  int copy_engines = 0;
};

class OutOfDeviceMemory : public Error {
 public:
  explicit OutOfDeviceMemory(const std::string& sentence) : Error(Fault::kFailed, sentence) {}
};

// The device, or its context, is of no use any more (a "sticky" error).
class DeviceLost : public Error {
 public:
  explicit DeviceLost(const std::string& sentence) : Error(Fault::kFailed, sentence) {}
};

// A buffer as a kernel sees it.
struct Operand {
  void* memory = nullptr;
  std::int64_t elements = 0;
  program::ElementType type = program::ElementType::kFp32;
};

// A kernel, or the few that one operation takes, with its operands in device memory.
struct KernelCall {
  const program::Operation* operation = nullptr;
  std::vector<Operand> reads;
  std::vector<Operand> writes;
  float* room = nullptr;       // to work in: room_for(this call) floats
  void* state = nullptr;       // of an optimizer: kStateBytes, zero before the first step
  float* predicate = nullptr;  // a number in device memory: where it is not 0 nothing is written
  BlockRecord* records =
      nullptr;                   // device memory for blocks_recorded() of them; null: it tells none
  std::uint64_t seed = 0;        // of a dropout's draws
  std::uint64_t draws_from = 0;  // the first of them
  // A number in device memory that is added to it when the call is carried out; null: none.
  const std::uint64_t* draws_base = nullptr;
  std::vector<KernelCall> parts = {};  // of a fused kernel: what it computes, in order
  // Of a kernel of a given length: what any kernel takes, which is a part of it.
  Nanos floor = 0;
  // The fused kernel reads its steps also where one was compiled for them.
  bool reads_steps = false;
};
inline constexpr std::int64_t kStateBytes = 64;

struct CopyCall {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
  program::MemoryKind from_kind = program::MemoryKind::kPageable;
  program::MemoryKind to_kind = program::MemoryKind::kDevice;
};

// What a collective counts: numbers of a type, or, where it only moves numbers of several, bytes.
enum class CollectiveUnit : std::uint8_t { kFloat, kHalf, kBfloat16, kByte };

constexpr std::int64_t bytes_of(CollectiveUnit unit) {
  return unit == CollectiveUnit::kFloat ? 4 : unit == CollectiveUnit::kByte ? 1 : 2;
}

// What a rank gives and gets in a collective; null: nothing, where it only receives, or sends.
struct RankShare {
  const void* give = nullptr;
  void* get = nullptr;
  StreamHandle stream = 0;
  CallId call = 0;
  bool maximum = false;  // of an all-reduce: the largest, not the sum
};

// Ranks that carry out collectives together by the vendor's library.
struct RankGroup {
  std::string name;        // "shard group of ranks 0 and 1"
  std::vector<int> gpus;   // of the program, by their ranks in it; none: they need no library
  bool exchanges = false;  // two of them, which send to each other
  bool operator==(const RankGroup&) const = default;
};

// Set to 1 in the environment, NCCL starts kernels of several communicators on one GPU in the order
// of their calls, and each some microseconds later. It reads it once in a process.
inline constexpr const char* kNcclInOrder = "NCCL_LAUNCH_ORDER_IMPLICIT";

// The other processes of a run of which each carries out one rank, whose GPU has its number. What
// it calls is there until the run is over.
struct Peers {
  // PyTorch's watchdog of NCCL ends a job after ten minutes
  // (pytorch/pytorch#110947: "Change ProcessGroupNCCL default timeout to 10 min").
  static constexpr Nanos kTimeOut = 600'000'000'000;

  int rank = 0;
  int ranks = 1;
  // All ranks have as many in the same order: of those alike the one that the rank is in, and of
  // others all, those that it is not in, too.
  std::vector<RankGroup> groups;
  // Gives every process of a group, by its place in `groups`, what its first rank's gives; each of
  // them calls it once, when it comes to the group. Throws Error where the first does not come.
  std::function<std::string(std::size_t group, const std::string&)> from_first = {};
  // Each says why it cannot join, or nothing where it can, and gets those that cannot, as "ranks 1
  // and 3"; empty: all can. All call it as often. Throws Error where one of them does not come.
  std::function<std::string(const std::string&)> who_cannot = {};
  // For who has waited for other ranks for a while, on any thread: why that is in vain, in a
  // sentence. Empty: as far as is known it is not.
  std::function<std::string()> look = {};
  // The ranks of a group that have not come to it yet, as "rank 3"; empty: none that is known.
  std::function<std::string(std::size_t group)> missing = {};
  // How long others are waited for, on the host's clock.
  Nanos time_out = kTimeOut;
};

// How many streams, events and graphs a device has given out.
struct HandleCounts {
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t graphs = 0;
};

// How much of what a device does is kept: nothing; its work alone, of which nobody can say which
// call it belongs to; its work with the call of each.
enum class WatchLevel { kNothing, kKernels, kEverything };

class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;

  virtual DeviceFacts facts() const = 0;
  // False once the device is lost: no later call can succeed, in this process.
  virtual bool is_usable() const = 0;
  // Of the host's clock that activities are told in.
  virtual Nanos now() = 0;
  // Lets host time pass: on a core, or resting.
  virtual void pass_time(Nanos duration, bool on_core) = 0;
  // Before a host thread's first call, and after its last.
  virtual void enter_thread() = 0;
  virtual void leave_thread() = 0;

  // What the calling thread does on the device until end_call belongs to `call`.
  virtual void begin_call(CallId call, StreamHandle stream) = 0;
  virtual void end_call() = 0;

  // Real GPUs. A program's GPU is the one of its number modulo this many: of several on one, each
  // is a virtual GPU with streams and memory of its own.
  virtual int gpus() const = 0;
  virtual StreamHandle make_stream(program::StreamKind kind, int priority, int gpu) = 0;
  // To be recorded on streams of this GPU; any may wait for it.
  virtual EventHandle make_event(int gpu) = 0;

  // For a user that gives back all of its own at once.
  virtual HandleCounts handles() const = 0;
  // Streams, events and graphs that were given out after those are taken back, with what belongs to
  // them. The device is idle, or lost.
  virtual void release_after(const HandleCounts& kept) = 0;

  // Memory of the stream's GPU, ordered with the stream's work: from an arena that is kept.
  virtual void* allocate(std::int64_t bytes, StreamHandle stream) = 0;
  virtual void release(void* memory, StreamHandle stream) = 0;
  // Hands the driver what the arena of a GPU keeps and nobody has; what still waits for a stream's
  // work stays.
  virtual void empty_cache(int gpu) = 0;
  virtual void* allocate_host(std::int64_t bytes, program::MemoryKind kind) = 0;
  // Throws nothing.
  virtual void release_host(void* memory, program::MemoryKind kind) = 0;

  virtual void fill_zero(void* memory, std::int64_t bytes, StreamHandle stream) = 0;
  virtual void copy(const CopyCall& copy, StreamHandle stream) = 0;
  virtual void launch(const KernelCall& kernel, StreamHandle stream) = 0;
  // Why this device cannot compute an operation; empty: it can.
  virtual std::string refusal(const program::Operation& operation) const = 0;
  // Floats that a call needs to work in; its operands' memory need not be there yet.
  virtual std::int64_t room_for(const KernelCall& kernel) const = 0;

  // Makes ready what a launch of the call wants and may take seconds: kernels that are compiled for
  // it. Before anything is timed or captured; its operands' memory need not be there yet.
  virtual void prepare(const KernelCall& kernel) = 0;

  // How many blocks the call can write of, where they ran and when; 0: it cannot.
  virtual std::int64_t blocks_recorded(const KernelCall& kernel) const = 0;

  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;
  virtual void synchronise_stream(StreamHandle stream) = 0;
  virtual void synchronise_event(EventHandle event) = 0;
  // Whether all that was recorded is done, without waiting.
  virtual bool is_done(EventHandle event) = 0;
  virtual void synchronise() = 0;

  // Makes the vendor's library ready for collectives of each of these groups, once; what it returns
  // is why it cannot be used, in a sentence. Empty: it can.
  virtual std::string join(const std::vector<RankGroup>& groups) = 0;
  // The same among processes, each with one rank on one GPU; all call it, before their runs.
  virtual std::string join(const Peers& peers) = 0;
  // Ranks that are elsewhere: those of other processes.
  virtual int ranks_elsewhere() const = 0;
  // A collective by that library, of one of the groups that were joined, by its place among them:
  // of all its ranks that are here, in their order. `units` are those of the larger of both
  // buffers; the root is the group's first rank. Of two that send and receive, one is elsewhere.
  // Work of the library is told with its GPU, as the first rank's call or as its own rank's.
  // Waiting for streams ends with an Error where the library fails, or has a rank that never comes.
  // Every rank calls for what it is in, of whatever group, in the order in which the others do.
  virtual void together(std::size_t group, program::CollectiveKind kind, CollectiveUnit unit,
                        std::int64_t units, const std::vector<RankShare>& ranks) = 0;

  // Launches on the stream, which has no other work, go into a graph until the end of it.
  virtual void begin_capture(StreamHandle stream) = 0;
  virtual GraphHandle end_capture(StreamHandle stream) = 0;
  virtual void instantiate(GraphHandle graph) = 0;
  virtual void launch_graph(GraphHandle graph, StreamHandle stream) = 0;

  // What is kept from here on; everything is until someone says otherwise. What is not watched
  // costs a call less time.
  virtual void watch(WatchLevel level) = 0;
  // All that was done since the last time, once the device is idle; also after a failure, of what
  // was done before it.
  virtual Activities collect() = 0;
};

// What `act` does belongs to `call`, also where it throws: then what comes after does not.
template <typename Act>
void during_call(DeviceCalls& device, CallId call, StreamHandle stream, const Act& act) {
  device.begin_call(call, stream);
  try {
    act();
  } catch (...) {
    try {
      device.end_call();
    } catch (const Error&) {  // the first error says more
    }
    throw;
  }
  device.end_call();
}

}  // namespace trainscope::cuda
