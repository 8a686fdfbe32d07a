// The knobs of the workload `train`, read once: what the program and its listing both ask.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.h"
#include "program/config.h"
#include "train/autograd/tape.h"
#include "train/model/graph.h"
#include "train/model/models.h"

namespace trainscope::train {

// What validation appends to a list for each batch: a number, or a tensor that lives as long.
enum class Appended : std::uint8_t { kItem, kLoss, kOutput };

// Between training steps: forward and loss of some batches, in model.eval().
struct Validation {
  std::int64_t batches = 0;  // 0: there is none
  std::int64_t every = 1;    // training steps before each
  bool no_grad = true;
  Appended appended = Appended::kItem;

  bool follows(std::int64_t step) const { return batches > 0 && step % every == every - 1; }
  // How many there have been once so many steps are done.
  std::int64_t after(std::int64_t steps) const { return batches > 0 ? steps / every : 0; }
};

struct TrainSettings {
  TrainingData data;
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  std::int64_t accumulate = 1;
  int checkpoint_every = 0;      // so many-th block is recomputed in backward; 0: none is
  bool tensor = false;           // the data set is one tensor, not files
  bool set_on_device = false;    // and is moved to the GPU once, before the loop
  bool one_batch = false;        // every step trains on the first batch
  std::int64_t image_sizes = 1;  // in turn, each 32 pixels below the one before
  bool on_cpu = false;           // the model runs there
  bool own_stream = false;       // copies run on a stream of their own
  bool pins_in_loop = false;     // the training thread pins each batch before its copy
  bool prefetch = false;
  bool zero_first = false;  // zero_grad before forward
  bool computes = false;    // numbers, on the CPU beside the simulator
  bool evaluates = false;
  // A process a rank, each with batches of its own, or of its group: DDP, FSDP.
  bool by_process = false;
  // Of these, a GPU each; with tensor.degree each is a tensor group, with pipeline.degree a
  // pipeline, whose ranks share its batches.
  int ranks = 1;
  int shard_degree = 1;  // of FSDP: ranks that share the parameters
  int gpus_of_node = 1;
  int gpus = 1;              // of DataParallel
  bool all_gpus = false;     // of the machine
  bool pipeline = false;     // a process a stage of the model, or several
  int pipeline_ranks = 1;    // of one
  bool interleaved = false;  // then each has so many stages
  int stages_per_rank = 1;
  std::int64_t micro_batches = 1;
  bool takes_x = true;             // of each batch: the first rank of a pipeline alone does,
  bool takes_y = true;             // and the last
  bool tensor_parallel = false;    // every rank has a part of the layers, and its group's batches
  int tensor_ranks = 1;            // of a group
  bool sequence_parallel = false;  // and between the layers that are cut its part of the sequence
  bool loss_parallel = false;      // and of embedding, head and loss some of the vocabulary
  bool ddp = false;
  bool fsdp = false;
  bool sampled = false;       // each rank reads what a DistributedSampler gives it
  bool set_epoch = false;     // which is told each epoch's number
  bool drop_last = true;      // what does not fill a batch at an epoch's end is left out
  bool uneven = false;        // the last rank has a batch less
  std::int64_t epoch = 0;     // batches that a loader gives in one
  std::int64_t rest = 0;      // samples of the last of them, where it is a shorter one
  std::int64_t left_out = 0;  // samples of each epoch, which fill no batch
  bool dp = false;
  bool no_sync = false;  // of several batches before an update, only the last is summed over ranks
  bool has_scaler = false;
  bool fused = false;
  bool zero_never = false;      // the loop forgets zero_grad
  bool gradients_stay = false;  // from step to step, zeroed or not
  double clip_norm = 0;         // 0: no clipping
  std::int64_t item_every = 0;
  bool keeps_numbers = false;  // each step appends loss.item() to a list,
  bool keeps_losses = false;   // or the loss itself
  Validation validation;
  Precision precision;
  // Of what the optimizer updates: with FSDP the model may compute with copies in another type.
  program::ElementType parameter_type = program::ElementType::kFp32;
  bool has_flash = true;  // PyTorch's flash attention runs in that type on this GPU
  Compilation compile;
  std::vector<std::int64_t> infinities;  // steps whose gradients are made to overflow, in order

  bool injects(std::int64_t step) const;
  int processes() const { return ranks * gpus_of_batch(); }
  // That share one batch.
  int gpus_of_batch() const { return tensor_ranks * pipeline_ranks; }
  // Of a rank, in all steps.
  std::int64_t batches() const { return steps * accumulate; }
  // Batches are counted from 0 through all epochs.
  bool is_short(std::int64_t number) const { return rest > 0 && number % epoch == epoch - 1; }
  bool has_short_batch() const { return rest > 0 && batches() >= epoch; }
  std::int64_t samples_of(std::int64_t number) const { return is_short(number) ? rest : batch; }
  // Of the batch's epoch: its first batch, and the one after its last that the run takes.
  std::int64_t epoch_begin(std::int64_t number) const;
  std::int64_t epoch_end(std::int64_t number) const;
  bool begins_epoch(std::int64_t number) const { return epoch_begin(number) == number; }
  // Pixels along a side of the images, of so many sizes.
  std::vector<std::int64_t> sides() const;
  // What each rank reads, where numbers are computed.
  program::DataSource source(const program::Config& config) const;
};

// Throws InputError for knobs that contradict one another.
TrainSettings train_settings(const program::Config& config, const machine::Machine& machine);

// Whether a laptop has the memory for the numbers: parameters, gradients and two moments of each,
// values and their gradients, of every rank. Else only times are simulated.
bool can_be_computed(const Graph& graph, const TrainSettings& settings);

// The same training without ranks, and without what is set of them.
program::Config on_one_gpu(program::Config config);

// Whether a step's gradients lie in memory when the next step's backward begins.
bool gradients_stay(const program::Config& config);

}  // namespace trainscope::train
