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
#include <vector>

#include "base/time.h"
#include "data/epoch_order.h"
#include "program/buffer.h"
#include "program/command.h"
#include "program/communicator.h"
#include "program/listing.h"
#include "program/operation.h"

namespace trainscope::program {

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

// Operations that are launched by one call: those that were launched while it was captured.
struct Graph {
  std::string name;
};

// Parameters whose gradients DistributedDataParallel sums together.
struct Bucket {
  Index buffer = kNoIndex;
  std::int64_t bytes = 0;        // that are summed: of gradients that a hook compresses, the half
  std::vector<Index> gradients;  // buffers, in the order in which they lie in it
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
  double model_flops = 0;           // and what the model asks for (train/model/model_flops.h)
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
