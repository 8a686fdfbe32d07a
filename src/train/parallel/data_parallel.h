// nn.DataParallel: one process trains on several GPUs (torch/nn/parallel/data_parallel.py,
// replicate.py, parallel_apply.py, _functions.py, comm.py).
//
// Each forward scatters the batch from GPU 0, broadcasts the parameters and buffers of GPU 0 to the
// others in pieces of 10 MiB, lets a thread of Python for each GPU run its replica, and gathers the
// outputs on GPU 0, where the loss is computed. Backward scatters the output's gradient, runs on
// autograd's threads, one a GPU, and once all are done sums the gradients on GPU 0, in pieces of
// 10 MiB; there is the only optimizer. Nothing of that overlaps with the replicas' work.
//
// A model that returns its loss, too (dp.loss_in_forward, as those of transformers do), spares GPU
// 0 the loss, and the links the output's gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/kernels/convolutions.h"
#include "train/model/graph.h"
#include "train/model/models.h"
#include "train/parallel/ddp_buckets.h"
#include "train/writer.h"

namespace trainscope::train {

// How many samples each GPU gets: torch.chunk makes equal parts, the last of which may be smaller;
// with too few samples some GPUs get none and are not there.
std::vector<std::int64_t> parts_of_batch(std::int64_t batch, int gpus);

// As torch._utils._take_tensors groups tensors that are summed together: a group is full before the
// tensor that would take it above `most` bytes.
Assignment take_tensors(const std::vector<std::int64_t>& bytes, std::int64_t most);

class DataParallel {
 public:
  // Adds the replicas' streams, threads, buffers and kernels to a program whose model has been
  // added on GPU 0. `parts`: what parts_of_batch gives, two of them or more. `lines`: of the
  // listing, where forward and backward stand.
  struct Lines {
    std::uint16_t forward = 0;
    std::uint16_t backward = 0;
  };
  DataParallel(program::Program& program, const program::Config& config, const TrainingData& data,
               const ModelBuffers& model, const std::vector<std::int64_t>& parts,
               const TapeOptions& options, Convolutions& convolutions, const Lines& lines);

  // What GPU 0 goes on with: the logits of the whole batch, or, where the replicas compute it, the
  // loss of each.
  program::Index output() const { return loss_inside_ ? losses_ : output_; }
  bool replicas_compute_loss() const { return loss_inside_; }
  // Of all replicas, in one step.
  double flops() const { return flops_; }

  // Commands of the training thread: out = model(x). `batch`: the whole of it on GPU 0.
  void forward(ThreadWriter& main, const BatchBuffers& batch);
  // Commands of the autograd thread of GPU 0, from the output's gradient on, which is freed.
  // `adds`: the parameters' gradients are there already.
  void backward(ThreadWriter& autograd, program::Index output_gradient, bool adds);

 private:
  struct Replica {
    int gpu = 0;
    program::Index stream = 0;
    std::int64_t samples = 0, before = 0;  // of the batch: its part, and what stands before it
    BatchBuffers batch;
    ModelBuffers model;
    Plan plan;
    std::optional<ThreadWriter> thread, autograd;  // GPU 0's backward has autograd's first thread
    program::Index go = 0, done = 0;               // queues: forward
    program::Index go_back = 0, done_back = 0;
    program::Index event = 0;          // its own GPU's; behind it GPU 0's
    std::vector<program::Index> flat;  // by group of gradients
    std::vector<program::Index> cat;   // what fills each
  };
  // Tensors that are sent as one.
  struct Group {
    std::vector<std::size_t> parameters;
    std::int64_t bytes = 0;
    program::Index flat = program::kNoIndex;     // on GPU 0
    program::Index cat = 0;                      // what fills it
    std::vector<program::Index> add;             // sums to .grad
    program::Index of_flat = program::kNoIndex;  // payloads
    program::Index of_gradients = program::kNoIndex;
    std::vector<program::Index> of_replicas;
  };

  void add_replica(const program::Config& config, const TrainingData& data,
                   const ModelBuffers& model, std::int64_t samples, const TapeOptions& options);
  void add_model(Replica& replica, const Graph& graph, const ModelBuffers& model);
  void add_threads(Replica& replica);
  void add_groups(const ModelBuffers& model);
  Group make_group(const std::vector<std::size_t>& parameters, bool gradients);
  program::Index add_cat(std::vector<program::Index> from, program::Index to);
  program::Index add_sum(program::Index flat, std::int64_t begin, program::Index gradient);
  program::Index add_payload(std::vector<program::Index> buffers);
  std::vector<program::Index> those_of(const std::vector<program::Index>& all,
                                       const std::vector<std::size_t>& ids) const;
  void share(Group& group, bool gradients);
  program::Index add_queue(const char* what, int gpu);

  program::Index add_part(const char* name, std::int64_t elements, program::ElementType type,
                          int gpu);
  // The part of GPU 0 is a view of the whole.
  void hand_out(ThreadWriter& thread, program::Index whole, program::Index part,
                const Replica& replica);
  void scatter(ThreadWriter& main, program::Index whole, program::Index BatchBuffers::* part);
  void replicate(ThreadWriter& main);
  void broadcast(ThreadWriter& main, const Group& group);
  void apply(ThreadWriter& main);
  void gather(ThreadWriter& main, program::Index to, program::Index Plan::* part);
  void launch(ThreadWriter& thread, const PlannedLaunch& one, program::Index stream);
  void run_backward(ThreadWriter& autograd, Replica& replica, program::Index output_gradient);
  void reduce(ThreadWriter& autograd, bool adds);
  void reduce(ThreadWriter& autograd, std::size_t group, bool adds);
  // Between two GPUs, on the stream of the first; both streams wait for each other around it. One
  // of the buffers holds the parts of all.
  void copy_between(ThreadWriter& thread, program::Copy copy, const Replica& source,
                    const Replica& target);
  std::int64_t place_of_part(program::Index part, const Replica& replica) const;
  // `of_first`: what GPU 0 sends to all, or gets of all.
  void collective(ThreadWriter& thread, program::CollectiveKind kind, const Group& group,
                  program::Index of_first, const char* name);

  program::Program& program_;
  Convolutions& convolutions_;
  Lines lines_;
  program::Index communicator_ = 0;
  bool adds_ = false;  // to gradients that are there, in some step
  std::int64_t sequence_ = 0;
  bool loss_inside_ = false;
  program::Index output_ = 0;  // gathered
  program::Index losses_ = 0;
  double flops_ = 0;
  std::size_t modules_ = 0;  // that have parameters
  ModelBuffers model_;       // GPU 0's own
  std::vector<Replica> replicas_;
  std::vector<Group> sent_;    // parameters, and then buffers
  std::vector<Group> summed_;  // gradients
};

}  // namespace trainscope::train
