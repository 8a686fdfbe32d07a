// Fully Sharded Data Parallel (torch.distributed.fsdp.fully_shard): what it adds to a rank's
// program (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, _fsdp_collectives.py).
//
// Of each parameter a rank keeps a part, and of its gradient and of what the optimizer keeps as
// much. The parameters of a block are a unit, those of no block, or with fsdp.wrap = model all, the
// root's. Before a unit's forward its parts are gathered from all ranks, and copied out of what
// came into whole parameters; after it, these are freed again, unless reshard_after_forward is
// False: the root's always stay until backward is done. Before a unit's backward they are gathered
// once more, one unit ahead; after it the gradients are put together and their sums over the ranks
// scattered, each rank keeping those of its parts. Their norm, and whether one is not finite, is a
// sum over the ranks again.
//
// With hybrid sharding (a mesh of two dimensions) neighbours share the parameters: a shard group,
// which all of this is of. Ranks that hold the same part, one of each shard group, are a replicate
// group: behind a reduce-scatter they all-reduce its sums, on a stream of their own.
//
// Between tensor groups (tensor.degree: a mesh of two dimensions) the ranks that have the same
// parts of the layers share these: all of this is of one of them of each tensor group. A gradient
// that is a rank's part of a sum, as a norm's by tokens, is summed over the tensor group before the
// sums of its unit are scattered.
//
// All ranks do the same at the same time: one is simulated and stands for all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/kernels/kernels.h"
#include "train/loop/launch_writer.h"
#include "train/loop/update.h"
#include "train/model/graph.h"
#include "train/parallel/functional_collectives.h"
#include "train/parallel/tensor_parallel.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class Fsdp {
 public:
  // Adds the communicators, their streams, the parts and what gathers and scatters them to a
  // program whose model has been added: its parameters now hold nothing until they are gathered.
  // `tensor`: where layers are cut, the group that sums what is cut; it outlives this.
  Fsdp(program::Program& program, const program::Config& config, const Graph& graph,
       const ModelBuffers& model, const TrainSettings& settings, TensorParallel* tensor = nullptr);

  // What the optimizer works on: this rank's parts, and what is no parameter.
  const ModelBuffers& shards() const { return shards_; }
  // The gradients of these.
  std::vector<program::Index> gradients() const;

  // The model's launches, with what comes before and after each unit's.
  void forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
               const WriteLaunch& launch);
  // Without `sums` the gradients stay whole, for a later one to add to
  // (set_requires_gradient_sync).
  void backward(ThreadWriter& autograd, std::vector<PlannedLaunch> launches,
                const WriteLaunch& launch, bool sums);
  // zero_grad(set_to_none=True).
  void drop_gradients(ThreadWriter& main);
  // What is asked of the gradients of all ranks, of which each looks at those of its parts.
  void sum(ThreadWriter& main, const RankSum& numbers);

 private:
  // What a reduce-scatter gives: `sums` in the type in which they are added, `gradients` in the
  // parameters'; the same buffer where that is the same type.
  struct Output {
    program::Index sums = program::kNoIndex;
    program::Index gradients = program::kNoIndex;
    program::Index payload = program::kNoIndex;  // `sums`
    program::Index cast = program::kNoIndex;     // operation; kNoIndex: the types are the same
  };
  enum class State : std::uint8_t { kSharded, kGathering, kWhole };
  struct Unit {
    std::string name;                     // "block 1"
    std::vector<ParameterId> parameters;  // of the graph, trained
    std::vector<program::Index> whole;    // buffers
    std::vector<program::Index> parts;
    // Of those that backward reaches.
    std::vector<program::Index> whole_gradients;
    std::vector<program::Index> to_put_together;  // of the same, those of the tensor group
    std::vector<program::Index> gradients;
    program::Index gathered = program::kNoIndex;  // the parts of all ranks
    program::Index to_scatter = program::kNoIndex;
    program::Index copy_in = 0, copy_out = 0, together = 0;  // operations
    program::Index parts_payload = 0, gathered_payload = 0, to_scatter_payload = 0;
    Output first;
    Output more;                             // of gradients that others are there before
    std::vector<program::Index> accumulate;  // operations, by gradient; as `more`, once needed
    program::Index events = 0;               // the first of kEvents
    State state = State::kSharded;
  };
  // Places among the launches of a list.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
    bool any = false;
  };
  // kScattered: what a reduce-scatter has read can be freed; kReduced: replicas have summed.
  enum Event : std::uint8_t { kGathered, kCopiedOut, kScattered, kReduced, kEvents };
  static constexpr std::size_t kRoot = 0;  // among the units

  void add_groups(const program::Config& config, const TrainSettings& settings);
  void find_units(const Graph& graph, bool by_block);
  void add_shards(const Graph& graph, const ModelBuffers& model);
  // What a part begins as, of so many elements.
  void share(program::Initial& initial, std::int64_t elements) const;
  void add_gather(Unit& unit);
  void add_scatter(Unit& unit);
  void add_accumulation(Unit& unit);
  Output add_output(const Unit& unit, const std::string& name);
  program::Index add_operation(const program::Function& function, program::ElementType type,
                               Operands operands);
  program::Index add_numbers_on_gpu(const std::string& name, std::int64_t elements,
                                    program::ElementType type, program::Role role);
  program::Index add_payload(std::vector<program::Index> buffers);
  std::int64_t elements_of(const std::vector<program::Index>& buffers) const;
  bool has_replicas() const { return shards_of_each_ < ranks_; }
  // A tensor's numbers on each rank.
  std::int64_t part_of(program::Index whole) const;

  std::vector<Range> ranges_of(const std::vector<PlannedLaunch>& launches) const;
  program::Index event(const Unit& unit, Event which) const { return unit.events + which; }
  program::Index gradients_event(const Unit& unit) const {
    return event(unit, has_replicas() ? kReduced : kScattered);
  }
  void collect(ThreadWriter& thread, program::CollectiveKind kind, program::Index whole,
               program::Index send, program::Index receive);
  void wait_for_update(ThreadWriter& main);
  void gather(ThreadWriter& thread, Unit& unit);
  void make_whole(ThreadWriter& thread, Unit& unit, bool in_forward);
  void free_gathered_before(ThreadWriter& thread);
  void reshard(ThreadWriter& thread, Unit& unit);
  void before_backward(ThreadWriter& autograd, std::size_t unit);
  void after_backward(ThreadWriter& autograd, Unit& unit, bool sums);
  void sum_parts(ThreadWriter& autograd, const Unit& unit);
  void sum_replicas(ThreadWriter& autograd, const Output& output);
  void keep_sums(ThreadWriter& autograd, Unit& unit);
  void give_back(ThreadWriter& autograd, program::Index sums);
  void free_scattered_before(ThreadWriter& autograd);
  void end_backward(ThreadWriter& autograd);
  void begin_mark(ThreadWriter& thread, const char* what, const Unit& unit);

  program::Program& program_;
  TensorParallel* tensor_;
  int ranks_;                         // whose gradients are summed
  int shards_of_each_;                // ranks that share the parameters
  int neighbours_;                    // of a tensor group
  bool reshards_;                     // after forward
  program::ElementType part_type_;    // of what the optimizer updates
  program::ElementType whole_type_;   // of what the model computes with
  program::ElementType reduce_type_;  // in which gradients are summed
  program::Index communicator_ = 0;   // of those that share the parameters; the other is behind it
  program::Index stream_ = 0;
  program::Index reduce_stream_ = 0;  // on which gradients become what they are
  program::Index updated_event_ = 0;  // the optimizer has updated the parts
  FunctionalCollectives collectives_;
  std::int64_t sequence_ = 0;
  std::int64_t replicas_sequence_ = 0;
  ModelBuffers shards_;
  std::vector<Unit> units_;                    // the root, then the blocks
  std::vector<std::size_t> order_;             // in which forward was done with them
  const Unit* gathered_before_ = nullptr;      // what a forward has copied out last is freed later
  const Unit* scattered_before_ = nullptr;     // and what backward has given to a reduce-scatter
  std::vector<program::Index> in_all_reduce_;  // freed once backward is done
  bool gradients_there_ = false;
  bool whole_there_ = false;    // gradients of batches before, not summed yet
  bool behind_update_ = false;  // the stream of the collectives has waited for the last one
};

}  // namespace trainscope::train
