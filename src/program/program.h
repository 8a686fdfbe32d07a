// A program: what a training job does, as data. Built from a config, carried out by an executor,
// and never aware of which one.
//
// Every host thread has its own list of commands, carried out in order. Ids are indices into the
// program's own tables. Sizes are bytes, durations nanoseconds of host time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/time.h"
#include "program/listing.h"

namespace trainscope::program {

using Index = std::uint32_t;
inline constexpr Index kNoIndex = UINT32_MAX;

enum class MemoryKind : std::uint8_t { kDevice, kPinned, kPageable };
enum class Role : std::uint8_t {
  kParameter,
  kGradient,
  kOptimizerState,
  kActivation,
  kBatch,
  kWorkspace
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::kWorkspace) + 1;
std::string_view name_of(Role role);  // "parameters", "optimizer state"

struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  Role role = Role::kWorkspace;
};

enum class StreamKind : std::uint8_t { kLegacyDefault, kBlocking, kNonBlocking };

struct Stream {
  std::string name;  // "stream 7"
  int number = 7;    // as PyTorch's profiler numbers it; above 0
  StreamKind kind = StreamKind::kLegacyDefault;
  int priority = 0;  // as CUDA's: the lower number goes first
  int device = 0;
};

// A bounded first-in-first-out queue of whole numbers between host threads. A signal is a queue
// that one thread pushes to and another pops from.
struct Queue {
  std::string name;
  std::int64_t capacity = 0;
};

// Held by one thread at a time; those that wait get it in the order in which they came.
struct Lock {
  std::string name;  // "the interpreter's lock"
};

enum class ElementType : std::uint8_t { kFp32, kTf32, kFp16, kBf16 };
enum class OperationKind : std::uint8_t {
  kGemm,
  kElementwise,
  kReduction,
  kSoftmaxLoss,
  kOptimizer,
  kOpaque
};

// What a kernel computes. Shapes in elements; flops and bytes follow from them and are kept, so
// that an executor without a model of its own can use them.
struct Operation {
  std::string kernel;     // the kernel's name: "sgemm 64x128"
  std::string framework;  // the operator that launches it: "aten::addmm"
  OperationKind kind = OperationKind::kElementwise;
  ElementType type = ElementType::kFp32;
  std::int64_t m = 0, n = 0, k = 0;  // GEMM: C[m,n] += A[m,k] B[k,n]; else m elements
  double flops = 0;
  double bytes = 0;           // read and written in device memory
  std::int64_t blocks = 1;    // of the grid
  int threads = 256;          // of a block
  Nanos opaque_duration = 0;  // kOpaque only
};

// Operations that are launched by one call: those that were launched while it was captured.
struct Graph {
  std::string name;
};

enum class Phase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };

// ---- Commands ----------------------------------------------------------------------------------

// Host work of a fixed length on one core, or on none: time.sleep().
struct HostWork {
  Nanos duration = 0;
  bool loads_data = false;  // a batch of the data set
  bool needs_core = true;
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
// Another stream uses the buffer too: its memory is not to be used again before that work is done.
struct RecordStream {
  Index buffer = 0;
  Index stream = 0;
};
// Launches an operation. The executor adds the host profile's cost of the operator and the call.
struct Launch {
  Index operation = 0;
  Index stream = 0;
};
// cudaMemcpyAsync, issued by an operator (aten::copy_) of the framework.
struct Copy {
  Index from = 0;  // buffers
  Index to = 0;
  std::int64_t bytes = 0;
  Index stream = 0;
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
    std::variant<HostWork, StartWorker, FrameworkCall, HostCopy, DiskRead, HostRead, HostWrite,
                 Acquire, Release, Alloc, Free, RecordStream, Launch, Copy, ReadScalar,
                 BeginCapture, EndCapture, GraphInstantiate, GraphLaunch, RecordEvent, StreamWait,
                 StreamSync, DeviceSync, EventSync, Push, Pop, Take, BeginMark, EndMark>;

// The copy that an action makes; null: it makes none.
const Copy* copy_of(const Action& action);
// The stream that an action puts device work on; kNoIndex: none.
Index stream_of(const Action& action);

struct Command {
  Action action;
  Index name = kNoIndex;   // into Program::names: what the span is called
  std::uint16_t line = 0;  // of the listing, from 1
  Phase phase = Phase::kNone;
};

enum class ThreadRole : std::uint8_t { kMain, kLoaderWorker, kPinThread, kAutograd };

struct Thread {
  std::string name;  // "host main"
  ThreadRole role = ThreadRole::kMain;
  int rank = 0;
  std::vector<Command> commands;
  // The lock of its interpreter, which it holds during the Python part of every operator.
  Index interpreter = kNoIndex;
};

struct Program {
  std::vector<Thread> threads;  // the first is the training process's main thread
  std::vector<Stream> streams;
  std::vector<Buffer> buffers;
  std::vector<Queue> queues;
  std::vector<Lock> locks;
  std::vector<Operation> operations;
  std::vector<Graph> graphs;
  std::vector<std::string> names;
  Index events = 0;  // events are numbered 0 .. events-1
  Listing listing;
  int steps = 0;
  int warmup_steps = 0;  // steps that metrics leave out
  std::int64_t samples_per_step = 0;
  bool timing_only = true;  // no numbers are computed

  // The index of `name` in names, added when it is new.
  Index intern(std::string_view name);

 private:
  std::unordered_map<std::string, Index> name_ids_;
};

// Checks every index and size of a program, and that what must be paired is: marks, locks,
// captures, allocations. Throws InputError naming the thread and command.
void validate(const Program& program);

// How many operations each graph holds.
std::vector<std::int64_t> graph_nodes(const Program& program);

}  // namespace trainscope::program
