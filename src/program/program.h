// A program: what a training job does, as data. Built from a config, carried out by an executor,
// and never aware of which one.
//
// Every host thread has its own list of commands, carried out in order. Ids are indices into the
// program's own tables. Sizes are bytes, durations nanoseconds of host time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/time.h"
#include "data/epoch_order.h"
#include "machine/architecture.h"
#include "program/communicator.h"
#include "program/function.h"
#include "program/listing.h"
#include "program/recorded.h"

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

enum class ElementType : std::uint8_t { kFp32, kTf32, kFp16, kBf16, kInt64, kInt32, kBool };
// Bytes of an element in memory; TF32 lies there as FP32.
std::int64_t size_of(ElementType type);

// What a buffer holds before the program begins.
struct Initial {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double value = 0;  // the constant; the bound of [-value, value); the standard deviation
  // Ranks hold equal parts of it, and this buffer is one: that of its rank, behind the first. Where
  // there are more ranks than parts, those with one remainder hold the same.
  bool by_rank = false;
  std::int64_t part = 0;
  // The whole lies in so many runs of equal length, of each of which `ranks` have a part.
  std::int64_t runs = 1;
  std::int64_t ranks = 1;
  // Groups of so many neighbours share such a part once more, or all of it where they have no parts
  // (FSDP between tensor groups): this buffer is one of `shards` equal runs of those `shared`
  // elements, that of its group behind `shard`.
  std::int64_t shards = 1;
  std::int64_t shard = 0;
  std::int64_t shared = 0;
  std::int64_t neighbours = 1;
  // Of a model whose parts lie on several GPUs: how many whose values are drawn, and which are not
  // on this one, stand before it in the model.
  std::int64_t before = 0;

  // Of a rank that carries out the commands of the buffer's own.
  std::int64_t part_of(int rank) const { return by_rank ? (part + rank) % ranks : part; }
  std::int64_t shard_of(int rank) const { return (shard + rank / neighbours) % shards; }
};

struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  Role role = Role::kWorkspace;
  // What it holds, where numbers are computed: bytes / size_of(type) of them.
  ElementType type = ElementType::kFp32;
  Initial initial = {};
  int device = 0;  // where it lies, of memory kind kDevice
  // It has no memory of its own: it is a part of another buffer, or never leaves a kernel.
  bool is_view = false;

  std::int64_t elements() const { return bytes / size_of(type); }
};

enum class StreamKind : std::uint8_t { kLegacyDefault, kBlocking, kNonBlocking };

struct Stream {
  std::string name;  // "stream 7"
  int number = 7;    // as PyTorch's profiler numbers it; above 0
  StreamKind kind = StreamKind::kLegacyDefault;
  int priority = 0;  // as CUDA's: the lower number goes first
  int device = 0;
  int rank = 0;
  double slowness = 1;  // its kernels take so many times as long as on the other GPUs
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

enum class OperationKind : std::uint8_t {
  kGemm,
  kElementwise,
  kReduction,
  kSoftmaxLoss,
  kOptimizer,
  kOpaque
};

// What each of a kernel's equal blocks does and needs, for an executor that places blocks on SMs.
struct BlockWork {
  double flops = 0;  // what is calculated, the padding of a tile included
  double bytes = 0;  // of its traffic with memory, L2 included
  // Of all blocks together, the distinct bytes that this traffic goes to, again and again: what of
  // them fits L2 comes from there. 0: none does.
  double footprint = 0;
  machine::Math math = machine::Math::kFp32;
  double efficiency = 1;  // share of the unit's rate that the code reaches, 0..1
  // Independent instructions that a thread has in flight; 0: as many as it takes to keep the units
  // busy, as in code that loads ahead of its arithmetic.
  int ilp = 0;
  int registers = 32;             // of a thread
  std::int64_t shared_bytes = 0;  // of a block
};

// What a call does that a real GPU makes where a simulated one launches several operations.
struct CallWork {
  double flops = 0;
  double bytes = 0;
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
  double bytes = 0;           // read and written in memory, as the SMs see it
  std::int64_t blocks = 1;    // of the grid
  int threads = 256;          // of a block
  Nanos opaque_duration = 0;  // kOpaque only
  // Of a kernel whose plan is known: the share of its unit's peak that it reaches, in the
  // operations of `flops`, with all of `blocks` at work. What it calculates in vain makes that
  // less; an algorithm that multiplies less may make it more than 1. 0: as the GPU's products
  // usually do.
  double efficiency = 0;
  // How it is launched, and what each block does. Not given: each does an equal part of the whole.
  std::optional<BlockWork> block_work;
  Function function;         // what is computed
  std::vector<Index> reads;  // buffers, as the function states them
  std::vector<Index> writes;
  bool is_gradient = false;  // it computes gradients, of anything
  bool compiled = false;     // code that torch.compile wrote launches it, not the framework
  double host_cost = 1;      // of eager PyTorch: its operator's time, in those of an `add`
  // Of a fused kernel: what it computes, one after another; `function` is none then. What one part
  // writes for another alone is in neither of the kernel's lists.
  std::vector<Operation> parts;
  // Of the last of several launches that are one call, of matrix products, on a real GPU.
  std::optional<CallWork> as_one_call;
};

// Operations that are launched by one call: those that were launched while it was captured.
struct Graph {
  std::string name;
};

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kSendReceive
};
std::string_view name_of(CollectiveKind kind);  // "all_reduce"

// Parameters whose gradients DistributedDataParallel sums together.
struct Bucket {
  Index buffer = kNoIndex;
  std::int64_t bytes = 0;        // that are summed: of gradients that a hook compresses, the half
  std::vector<Index> gradients;  // buffers, in the order in which they lie in it
};

enum class Phase : std::uint8_t { kNone, kForward, kBackward, kOptimizer };

// ---- Commands ----------------------------------------------------------------------------------

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

// kReplica: of DataParallel, a thread for each GPU.
enum class ThreadRole : std::uint8_t { kMain, kLoaderWorker, kPinThread, kAutograd, kReplica };

struct Thread {
  std::string name;  // "host main"
  ThreadRole role = ThreadRole::kMain;
  int rank = 0;
  std::vector<Command> commands;
  // The lock of its interpreter, which it holds during the Python part of every operator.
  Index interpreter = kNoIndex;
  int device = 0;  // that it works on
};

// Where batches come from, for an executor that computes.
struct DataSource {
  std::string name;  // data.name
  std::string path;  // of the user's own files
  std::int64_t seed = 0;
  std::int64_t batch_size = 0;
  std::int64_t tokens = 0;  // of a sample of text
  bool shuffle = false;
  std::int64_t replicas = 0;  // that a DistributedSampler shares it out to; 0: there is none
  bool set_epoch = true;      // the sampler is told the number of each epoch
  // The ranks take turns through the samples as they lie, and what is left over is read by none.
  bool strided = false;
  bool drop_last = true;  // what does not fill a batch at an epoch's end is left out
};

// The buffers that tell how training goes; kNoIndex: there is none.
struct Gauges {
  Index loss = kNoIndex;
  std::vector<Index> more_losses;  // of a step's other micro-batches, which have their own
  Index scale = kNoIndex;
  Index found_inf = kNoIndex;
  Index gradient_norm = kNoIndex;
  Index correct = kNoIndex;      // of the test set
  std::vector<Index> gradients;  // of the parameters
  bool watch_gradients = false;  // their magnitudes are wanted
};

// A loss that metrics look for: reached at the first step at which the mean of the last losses is
// not above it.
struct LossTarget {
  double loss = 0;         // 0: none is looked for
  std::int64_t steps = 1;  // of that mean

  bool operator==(const LossTarget&) const = default;
};

struct Program {
  std::vector<Thread> threads;  // the first is the training process's main thread
  std::vector<Stream> streams;
  std::vector<Buffer> buffers;
  std::vector<Queue> queues;
  std::vector<Lock> locks;
  std::vector<Operation> operations;
  std::vector<Graph> graphs;
  std::vector<Communicator> communicators;
  std::vector<std::vector<Index>> payloads;  // buffers that collectives send as if they were one
  // DistributedDataParallel's buckets in the order of their all-reduces: those of the first
  // backward, and those that it keeps after it.
  std::vector<Bucket> first_buckets;
  std::vector<Bucket> buckets;
  // Of a saved run's program, which has no threads: the gradients in the order in which its first
  // rank writes them into buckets.
  std::vector<Index> bucket_writes;
  std::vector<std::string> names;
  Index events = 0;  // events are numbered 0 .. events-1
  Listing listing;
  int steps = 0;
  int warmup_steps = 0;  // steps that metrics leave out
  // Of all ranks; the mean of the steps after the warm-up, where one has a shorter batch.
  double samples_per_step = 0;
  double steps_per_epoch = 0;  // of one pass over the data set; 0: there is none
  Nanos step_alone = 0;        // of several ranks: what a step of one GPU alone takes; 0: not known
  std::int64_t parameters = 0;      // of the model, in numbers; 0: there is none
  int stages = 1;                   // of a pipeline: GPUs that have a part of the model each
  int gpus_of_batch = 1;            // that share one batch: those, or ranks of tensor parallelism
  int gpus = 1;                     // of all ranks
  double step_flops = 0;            // arithmetic of one step, of all of these: what kernels do
  double model_flops = 0;           // and what the model asks for (train/model_flops.h)
  std::int64_t tested_samples = 0;  // that the program evaluates the model on
  bool timing_only = true;          // no numbers are computed but the loss scale's
  // Ranks that numbers are computed of: each does what the commands say, with buffers, batches and
  // numbers of its own, and collectives sum them. The run is that of rank 0.
  int computed_ranks = 1;
  std::int64_t seed = 0;  // of every random number
  DataSource data;
  std::optional<data::Reading> reading;  // what of it, where numbers are computed
  Gauges gauges;
  LossTarget target;
  Recording recording;  // of a replay

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
