// DistributedDataParallel: what it adds to a rank's program (torch/nn/parallel/distributed.py,
// torch/csrc/distributed/c10d/reducer.cpp).
//
// Its constructor broadcasts parameters and buffers. Each forward broadcasts buffers. In backward a
// hook of each parameter divides the gradient by the number of ranks into its place in a bucket, on
// autograd's thread; a bucket whose gradients are all there is summed over the ranks on a stream of
// its own, once all before it have been given to NCCL. At the end of backward the compute stream
// waits for the sums, and they are copied back into the gradients. After the first backward the
// buckets are made anew, in the order in which gradients were ready. With a comm hook gradients are
// not divided, and it says what is summed of a bucket (compress_hook.h).
//
// All ranks do the same at the same time: one is simulated and stands for all. Of pipelines, each
// stage's module is wrapped by itself (pipeline.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/model/graph.h"
#include "train/parallel/compress_hook.h"
#include "train/parallel/ddp_buckets.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

// The ranks that sum gradients with each other, and the stream that their collectives follow one
// another on.
struct DdpGroup {
  // Adds both to a program. Where tensor groups or pipelines share the model, they are the ranks
  // that have the same part of it.
  DdpGroup(program::Program& program, const program::Config& config, const TrainSettings& settings);

  int ranks = 1;
  program::Index communicator = 0;
  program::Index stream = 0;
  std::int64_t sequence = 0;  // of the next collective
};

class Ddp {
 public:
  // Adds the buffers and kernels to a program whose model has been added. `group` must outlive it;
  // several modules may have one. `hooks`: of a compiled model, hook_order.h. Throws InputError for
  // a parameter that backward never reaches.
  Ddp(program::Program& program, const program::Config& config, const Graph& graph,
      const ModelBuffers& model, const std::vector<ParameterId>& hooks, DdpGroup& group);

  // model = DistributedDataParallel(model).
  void construct(ThreadWriter& main);
  // What its forward does before the model's: the two below.
  void before_forward(ThreadWriter& main);
  // Makes the buckets anew behind the first backward that summed gradients.
  void rebuild_buckets(ThreadWriter& main);
  // A batch norm's moments.
  void broadcast_buffers(ThreadWriter& main);
  // With find_unused_parameters: the graph is walked back from what the model returned, on the
  // thread that called it, before backward begins (distributed.py, _post_forward; reducer.cpp,
  // prepare_for_backward). What it does not reach is marked as ready by the first hook.
  void search_unused(ThreadWriter& main);

  // Around a backward that sums its gradients: before the first of these launches, after each, by
  // its place among them, and after the last.
  void begin_backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches);
  void after_launch(ThreadWriter& autograd, std::size_t launch);
  void end_backward(ThreadWriter& autograd);

  // Gradients are parts of the buckets and have no memory of their own.
  bool gradients_are_views() const { return views_; }

 private:
  void find_parameters(const Graph& graph, const ModelBuffers& model,
                       const std::vector<ParameterId>& hooks);
  void add_kernels(std::size_t bucket);
  program::Index add_kernel(const char* kernel, const char* framework, program::Index from,
                            program::Index to, const program::Function& function,
                            std::int64_t elements);
  program::Index add_payload(std::vector<program::Index> buffers);
  std::vector<program::Bucket> make_buckets(const Assignment& assignment, const char* name);
  void use(const Assignment& assignment, std::vector<program::Bucket> buckets);
  void rebuild(ThreadWriter& main);
  void allocate(ThreadWriter& thread);
  void free(ThreadWriter& thread);
  // When a parameter's hook runs: after which launch, and in which place among those after it.
  struct Arrival {
    std::size_t launch = 0;
    std::size_t place = 0;
    std::size_t parameter = 0;
    std::string node;  // of autograd's graph
  };
  std::vector<Arrival> arrivals(const std::vector<PlannedLaunch>& launches) const;
  std::string node_of(const program::Operation& operation, std::size_t parameter) const;
  bool adds_outside(const PlannedLaunch& launch) const;
  std::size_t last_before_hooks(const std::vector<PlannedLaunch>& launches,
                                std::size_t launch) const;
  void mark_ready(ThreadWriter& autograd, std::size_t parameter);
  void launch_ready_buckets(ThreadWriter& autograd);
  void sum(ThreadWriter& thread, program::CollectiveKind kind, std::int64_t bytes,
           program::Index payload, const char* name);

  struct Parameter {
    program::Index value = 0;
    program::Index gradient = program::kNoIndex;  // kNoIndex: backward never reaches it
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
    std::size_t hook = 0;                            // its place behind compiled pieces
    program::Index into_bucket = program::kNoIndex;  // operations; kNoIndex: none
    program::Index out_of_bucket = program::kNoIndex;
  };

  program::Program& program_;
  DdpGroup& group_;
  program::ElementType type_;  // of parameters and gradients, one for all of them
  BucketCaps caps_;
  bool compiled_;
  bool find_unused_ = false;
  bool views_ = false;
  bool broadcast_buffers_ = false;
  program::Index first_event_ = 0;
  std::optional<CompressHook> hook_;
  std::vector<Parameter> parameters_;              // in the order of parameters()
  std::vector<program::Index> copies_of_buffers_;  // operations: a batch norm's moments
  std::int64_t parameter_bytes_ = 0;
  std::int64_t buffer_bytes_ = 0;
  program::Index everything_ = program::kNoIndex;  // payloads: parameters and buffers
  program::Index buffers_ = program::kNoIndex;     // a batch norm's moments

  Assignment assignment_;
  std::vector<program::Bucket> buckets_;
  std::vector<program::Index> payloads_;  // by bucket
  std::vector<std::size_t> bucket_of_;    // by parameter
  std::vector<std::size_t> ready_;        // parameters of the first backward, in order
  bool rebuilt_ = false;
  bool there_ = false;  // the buckets have memory

  // Of the backward under way.
  std::vector<std::vector<std::size_t>> ready_after_;  // parameters, by launch
  std::vector<std::size_t> missing_;                   // gradients, by bucket
  std::size_t next_bucket_ = 0;
};

}  // namespace trainscope::train
