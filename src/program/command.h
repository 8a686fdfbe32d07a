// What a host thread does, one command after another.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "program/buffer.h"
#include "program/recorded.h"

namespace trainscope::program {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kSendReceive
};
std::string_view name_of(CollectiveKind kind);  // "all_reduce"

enum class Phase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };

// Host work of a fixed length on one core, or on none: time.sleep().
struct HostWork {
  Nanos duration = 0;
  bool loads_data = false;  // a batch of the data set
  bool needs_core = true;
  bool is_framework = false;  // a framework's own cost, which an executor without one has not
};
// A loader's worker process starts: the machine's time for that, on a core.
struct StartWorker {};
// A call into the framework that launches nothing (zero_grad, next): it costs one operator of the
// host profile.
struct FrameworkCall {};
// A copy within host memory by this thread, at the machine's memcpy rate.
struct HostCopy {
  std::int64_t bytes = 0;
};
// cudaHostAlloc: memory whose pages are found and locked one after another, on a core, at the
// machine's rate. It is nobody's buffer and stays to the end of the run.
struct HostAlloc {
  std::int64_t bytes = 0;
};
// Reads files of the data set: the latency of each read, then the bytes at the disk's rate, which
// all threads share. It needs no core.
struct DiskRead {
  std::int64_t bytes = 0;
  std::int64_t reads = 1;
};
// The program looks at a host buffer, or writes it. Where a copy that is still under way fills it
// or reads it, the values are wrong: the executor marks the spot.
struct HostRead {
  Index buffer = 0;
};
struct HostWrite {
  Index buffer = 0;
};
// A batch of the data set is in these buffers from here on: what loading it took is told by the
// commands before. Buffers on the device are views of a data set that lies there. Batches are
// numbered from 0 through all epochs; the buffers are as large as the batch.
struct LoadBatch {
  Index x = 0;
  Index y = 0;
  std::int64_t batch = 0;
  bool test = false;  // of the test set, in order
};
// if value != 0: the next `skipped` commands of this thread are not carried out.
struct Branch {
  Index value = 0;  // a host buffer of one number
  std::uint32_t skipped = 0;
};
// The numbers of a training step (loss, loss scale, gradients) are those that the stream has
// computed once its work so far is done: the executor keeps them in the trace.
struct LogStep {
  std::int64_t step = 0;
  Index stream = 0;
};
// The same of an evaluation of the model, after so many steps.
struct LogEvaluation {
  std::int64_t step = 0;
  Index stream = 0;
};
struct Acquire {
  Index lock = 0;
};
struct Release {
  Index lock = 0;
};
// Device memory, on host time and ahead of the device. The stream is the one that the buffer is
// used on; the executor's allocator decides what may be used again and when.
struct Alloc {
  Index buffer = 0;
  Index stream = 0;
};
struct Free {
  Index buffer = 0;
};
// torch.cuda.empty_cache(): what the allocator of the thread's GPU has cached goes back to CUDA.
struct EmptyCache {};
// Another stream uses the buffer too: its memory is not to be used again before that work is done.
struct RecordStream {
  Index buffer = 0;
  Index stream = 0;
};
// Carries out an operation on the CPU: this thread and those that help it. The executor adds the
// host profile's cost of the operator.
struct Compute {
  Index operation = 0;
};
// From here on one buffer is the part of another that begins at a byte of it: nothing is copied.
struct View {
  Index of = 0;
  Index view = 0;
  std::int64_t begin = 0;
};
// Launches an operation. The executor adds the host profile's cost of the operator and the call.
struct Launch {
  Index operation = 0;
  Index stream = 0;
  // A number on the device; where it is not 0 the kernel returns at once and computes nothing.
  Index predicate = kNoIndex;
  // By the operator of the launch before, which calls a library that launches several kernels.
  bool same_operator = false;
};
// cudaMemcpyAsync, issued by an operator (aten::copy_) of the framework. Between two GPUs the
// stream is one of the GPU that it comes from.
struct Copy {
  Index from = 0;  // buffers
  Index to = 0;
  std::int64_t bytes = 0;
  Index stream = 0;
  std::int64_t from_begin = 0;  // bytes of the buffers that come before
  std::int64_t to_begin = 0;
};
// loss.item(): copies one value from the device into ordinary host memory and waits for the stream.
struct ReadScalar {
  Copy copy;
};
// Between the two, launches on the stream are written into the graph and not carried out. The host
// may not wait for that stream meanwhile, nor copy on it.
struct BeginCapture {
  Index graph = 0;
  Index stream = 0;
};
struct EndCapture {
  Index graph = 0;
};
struct GraphInstantiate {
  Index graph = 0;
};
struct GraphLaunch {
  Index graph = 0;
  Index stream = 0;
};
// One rank's part of a collective. It begins once all work so far of the stream `after` is done,
// and progresses once the same collective of every other rank has begun. Of two ranks that send and
// receive, each gives what it sends and gets what the other gives, or only one of the two.
struct Collective {
  Index communicator = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool maximum = false;  // an all-reduce of the largest numbers, not of sums
  // Called between ncclGroupStart and ncclGroupEnd after another: the operator's cost was that
  // one's.
  bool grouped = false;
  std::int64_t bytes = 0;  // of a rank's larger buffer: what an all-gather gives
  Index stream = 0;
  Index after = kNoIndex;     // kNoIndex: nothing more than its own stream
  std::int64_t sequence = 0;  // numbers the communicator's collectives, the same on every rank
  // What the rank gives and gets, among Program::payloads; kNoIndex: nothing that is computed. A
  // broadcast and a reduction are of the first rank.
  Index send = kNoIndex;
  Index receive = kNoIndex;
};
struct RecordEvent {
  Index event = 0;
  Index stream = 0;
};
struct StreamWait {
  Index stream = 0;
  Index event = 0;
};
struct StreamSync {
  Index stream = 0;
};
struct DeviceSync {};
struct EventSync {
  Index event = 0;
};
// Puts a number into a queue; waits while it is full. kFromPop: the number this thread took last.
struct Push {
  static constexpr std::int64_t kFromPop = -1;
  Index queue = 0;
  std::int64_t item = kFromPop;
};
// Takes the oldest number out of a queue; waits while it is empty.
struct Pop {
  Index queue = 0;
};
// Takes one particular number out of a queue; waits until it is there (a loader re-orders so).
struct Take {
  Index queue = 0;
  std::int64_t item = 0;
};
// Marks nest per thread.
struct BeginMark {};
struct EndMark {};

using Action =
    std::variant<HostWork, StartWorker, FrameworkCall, HostCopy, HostAlloc, DiskRead, HostRead,
                 HostWrite, LoadBatch, Branch, LogStep, LogEvaluation, Acquire, Release, Alloc,
                 Free, EmptyCache, RecordStream, Compute, View, Launch, Copy, ReadScalar,
                 BeginCapture, EndCapture, GraphInstantiate, GraphLaunch, Collective, RecordEvent,
                 StreamWait, StreamSync, DeviceSync, EventSync, Push, Pop, Take, BeginMark, EndMark,
                 Elapse, BeginRecorded, RecordedCall>;

struct Program;
// The copy that an action makes; null: it makes none.
const Copy* copy_of(const Action& action);
// Of the numbers that a collective sends; FP32 where nothing that is computed is sent.
ElementType type_of(const Program& program, const Collective& collective);
// The stream that an action puts device work on; kNoIndex: none.
Index stream_of(const Action& action);

struct Command {
  Action action;
  Index name = kNoIndex;   // into Program::names: what the span is called
  std::uint16_t line = 0;  // of the listing, from 1
  Phase phase = Phase::kNone;
};

}  // namespace trainscope::program
