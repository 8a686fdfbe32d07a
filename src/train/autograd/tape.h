// What autograd does with a graph: the launches of forward, loss and backward over one batch, and
// the memory around them.
//
// As in PyTorch: a result is allocated when it is written and freed after its last use, which for
// what backward reads is in backward; a parameter's first gradient becomes its .grad, later ones
// are added to it; under autocast, matrix products and convolutions read copies of their operands
// in the narrow type, a weight's copy being made once a forward (torch/csrc/autograd,
// aten/src/ATen/autocast_mode.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "program/program.h"
#include "train/model/graph.h"

namespace trainscope::train {

struct Precision {
  // Of the weights, their gradients and what the optimizer keeps, and of the activations where
  // autocast has no other.
  program::ElementType model = program::ElementType::kFp32;
  program::ElementType autocast = program::ElementType::kFp32;  // kFp32: none
  bool matmul_tf32 = false;
  bool conv_tf32 = false;

  bool is_narrow() const {
    return model != program::ElementType::kFp32 || autocast != program::ElementType::kFp32;
  }
};

// What torch.compile does with the model: the loss, the update and the sums of gradients into .grad
// stay as they are.
struct Compilation {
  bool fuse = false;          // Inductor writes the kernels
  bool cuda_graph = false;    // forward and backward are replayed
  bool optimize_ddp = false;  // with DistributedDataParallel, the model is cut at its buckets

  bool any() const { return fuse || cuda_graph; }
};

// What ranks that share out a model do instead of a launch (tensor_parallel.h): all sum a copy of
// what it reads, or find the largest; it writes what all ranks have, or this rank's part of their
// sum.
enum class Sent : std::uint8_t { kNot, kSummed, kLargest, kGathered, kScattered };

struct PlannedLaunch {
  program::Index operation = 0;
  std::vector<program::Index> allocated;  // just before it
  std::vector<program::Index> freed;      // just after it
  bool same_operator = false;  // by the call into the library that launched the one before
  // Of the graph's layers whose it is, or the gradient of one: Layer::block; kNotTheModel: it is
  // the loss's, or changes the loss.
  static constexpr int kNotTheModel = -1;
  int block = kNotTheModel;
  // Under torch.compile, the piece of the model that it is compiled with: compiled_pieces.h. The
  // launches of one piece stand together.
  static constexpr int kNotCompiled = -1;
  int piece = kNotCompiled;
  bool is_compiled() const { return piece != kNotCompiled; }
  Sent sent = Sent::kNot;
};

// Where the piece ends that a launch of the list is of.
std::size_t end_of_piece(const std::vector<PlannedLaunch>& launches, std::size_t launch);

// The copies of weights in autocast's type, by parameter.
using WeightCasts = std::map<ParameterId, program::Index>;

struct Plan {
  std::vector<PlannedLaunch> forward;
  std::vector<PlannedLaunch> loss;
  std::vector<PlannedLaunch> scale;     // of the loss: for accumulation, by a GradScaler
  std::vector<PlannedLaunch> backward;  // .grad buffers it writes are not in `allocated`
  program::Index loss_value = program::kNoIndex;
  // Where forward and loss are apart (plan_replica, plan_loss).
  program::Index output = program::kNoIndex;           // the logits
  program::Index output_gradient = program::kNoIndex;  // their gradient
  program::Index input_gradient = program::kNoIndex;   // plan_stage
  WeightCasts weight_casts;                            // that this plan makes; plan_stage
};

// The buffers of a model's parameters and of their gradients, by ParameterId.
struct ModelBuffers {
  std::vector<program::Index> parameters;
  std::vector<program::Index> gradients;  // kNoIndex: it gets none
  // Of gradients that are each rank's part of a sum, the sums; kNoIndex, or none at all: the
  // gradient is whole.
  std::vector<program::Index> sums;
  // Whether the ranks of a tensor group have a part each; none: no rank's norm asks for it.
  std::vector<bool> cut;
};

// Adds them to a program, as numbers of that type. `memory`: where the model lies.
ModelBuffers add_model_buffers(program::Program& program, const Graph& graph,
                               program::ElementType type, program::MemoryKind memory);

// The buffers of a program's plans. Plans follow one another, so what is called the same and as
// large in two of them is one buffer.
class PlanBuffers {
 public:
  explicit PlanBuffers(program::MemoryKind memory, int device = 0)
      : memory_(memory), device_(device) {}

  // From here on each name may be given out again.
  void begin_plan() { given_.clear(); }
  program::Index get(program::Program& program, const program::Buffer& like);

 private:
  program::MemoryKind memory_;
  int device_;
  using Key = std::tuple<std::string, std::int64_t, program::ElementType, int>;
  std::map<Key, program::Index> made_;  // by name, size, type, and how many were before it
  std::map<std::string, int> given_;    // in this plan
};

struct TapeOptions {
  Precision precision;
  int checkpoint_every = 0;                  // so many-th block is recomputed; 0: none is
  bool accumulate = false;                   // .grad is there: gradients are added to it
  int loss_divisor = 1;                      // loss / accumulate_steps
  program::Index scale = program::kNoIndex;  // the loss scale of a GradScaler
  Compilation compile;
  std::vector<int> pieces;   // of torch.compile, by layer; none: it compiles nothing
  WeightCasts weight_casts;  // that are there, made under the same autocast before
};

// The batch on the device.
struct BatchBuffers {
  program::Index x = 0;
  program::Index y = 0;
};

Plan plan_training(program::Program& program, const Graph& graph, const ModelBuffers& model,
                   PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options);

// A replica of DataParallel: forward over its part of a batch, and the backward of a gradient of
// the output that comes from elsewhere. The output outlives the plan; the gradient is there before
// backward and is freed by it. `accumulate` of the options has no meaning here: a replica's
// gradients are always new.
// With `computes_loss` the loss is a part of the forward, and outlives the plan, too; what comes
// from elsewhere is then the loss's gradient.
Plan plan_replica(program::Program& program, const Graph& graph, const ModelBuffers& model,
                  PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                  bool computes_loss);

// A stage of a pipeline: forward over a micro-batch, and backward. Where it is not the first, what
// it reads comes from elsewhere, and the gradient of that outlives the plan; where it is not the
// last, its output outlives the plan, and the gradient of that comes from elsewhere and is not
// freed. The last has the loss. The copies of weights that autocast makes outlive the plan, too:
// all micro-batches of a step are under one autocast, which makes each once.
struct StageEnds {
  bool is_first = false;
  bool is_last = false;
};
Plan plan_stage(program::Program& program, const Graph& graph, const ModelBuffers& model,
                PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                StageEnds ends);

// The loss of logits that come from elsewhere, and the backward up to their gradient, which
// outlives the plan. `graph`: what it says of rows and classes.
Plan plan_loss(program::Program& program, const Graph& graph, program::Index logits,
               program::Index y, PlanBuffers& buffers, const TapeOptions& options);

// The mean of losses that come from elsewhere, and the backward up to their gradients, which
// outlive the plan.
Plan plan_mean_loss(program::Program& program, program::Index losses, PlanBuffers& buffers,
                    const TapeOptions& options);

// model.eval() under torch.no_grad(): forward, and the count of right answers added to `correct`.
// Of the options it takes the precision, and what is fused.
Plan plan_evaluation(program::Program& program, const Graph& graph, const ModelBuffers& model,
                     PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                     program::Index correct);

// model.eval(): forward and loss, and no backward. What names hold is not freed by the plan: the
// output, the loss, and, where autograd keeps the graph (`records`: without torch.no_grad()), what
// a backward would read, which lives as long as the tensor whose graph it is
// (docs.pytorch.org/docs/stable/notes/autograd.html, "Saved tensors"). Measured with PyTorch 2.11
// by torch.autograd.graph.saved_tensors_hooks: tests/golden/kept_graphs.py.
struct ValidationPlan {
  Plan plan;                                    // its output, too
  std::vector<program::Index> graph_of_output;  // the batch may be among them
  std::vector<program::Index> graph_of_loss;    // besides the output's
};
ValidationPlan plan_validation(program::Program& program, const Graph& graph,
                               const ModelBuffers& model, PlanBuffers& buffers,
                               const BatchBuffers& batch, const TapeOptions& options, bool records);

}  // namespace trainscope::train
