// Autograd's tape while a plan is written: what tape.h offers is put together from these parts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "train/autograd/gradient_rules.h"
#include "train/autograd/tape.h"
#include "train/kernels/eager_attention.h"
#include "train/kernels/kernels.h"
#include "train/kernels/rotary.h"
#include "train/kernels/written_gelu.h"
#include "train/kernels/written_rms_norm.h"

namespace trainscope::train {

class Tape {
 public:
  Tape(program::Program& program, const Graph& graph, const ModelBuffers& model,
       PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options);
  // The copies that autocast made of a forward's weights do not outlive it. `records`: autograd
  // keeps its graph.
  void forward(bool training, bool records);
  void loss();
  // Of a loss for each GPU.
  void mean_loss();
  // For accumulation, by a GradScaler.
  void scale_loss();
  void backward();
  // Of logits that are handed on to others, and whose gradient these hand back.
  void backward_of_output();
  // The same of a loss.
  void backward_of_loss();
  // What is handed in needs a gradient.
  void expect_gradient() { vars_[0].needs_gradient = true; }
  void backward_to_input();
  // Of a stage that has others before or behind it.
  void keep_what_is_sent();
  // autocast keeps its copies of weights until it is left, behind the last launch.
  void keep_weight_copies() { keeps_weight_copies_ = true; }
  void count_correct(program::Index correct);
  Plan finish();
  // The same of a plan that says which its output is.
  Plan finish_validation() {
    plan_.output = vars_[graph_.logits].buffer;
    return finish();
  }

 private:
  using VarId = std::uint32_t;

  // A tensor while the tape is written.
  struct Var {
    program::Index buffer = program::kNoIndex;
    program::ElementType type = program::ElementType::kFp32;
    bool needs_gradient = false;
    program::Index gradient = program::kNoIndex;  // that has arrived so far
    program::Index leaf = program::kNoIndex;      // a parameter's .grad
    int uses = 0;                                 // by layers: so many gradients will arrive
    int arrived = 0;
    int piece = PlannedLaunch::kNotCompiled;           // of torch.compile, that computes it
    int gradient_piece = PlannedLaunch::kNotCompiled;  // that handed in the last of its gradients
  };

  // A layer that was carried out.
  struct Entry {
    program::Function function;
    std::vector<VarId> inputs;
    std::vector<program::Index> sides;
    VarId output = 0;
    int block = PlannedLaunch::kNotTheModel;
    int piece = PlannedLaunch::kNotCompiled;
    bool recomputed = false;                 // with its block, before backward reads it
    std::vector<program::Index> operations;  // of forward, in this block, for recomputing
    // Of layers that are cut, and of parts of a sequence: what the output is of the one input, and
    // what the input's gradient is of the output's.
    enum class Ranks : std::uint8_t {
      kNone,
      kSum,             // over all ranks; the same
      kSumOfGradients,  // the same; the sum over all ranks
      kPart,            // this rank's share; the same
      kGather,          // what all ranks have; this rank's part of the sum
      kGatherSame,      // the same, which all compute with alike; this rank's part
      kScatter,         // this rank's part of the sum; what all ranks have
      kOwnPart,         // this rank's part of what all have alike; what all ranks have
      kTable,           // of rows that ranks share out, those of this rank; computed of all rows
      kPlaces,          // with a part's rows added; the whole sequence's, of the rows
      kLoss             // of logits whose classes ranks share out; those of this rank's
    };
    Ranks ranks = Ranks::kNone;
  };

  void keep_what_outlives();
  VarId add_var(const Var& var);
  program::Index new_buffer(const std::string& name, std::int64_t elements,
                            program::ElementType type, program::Role role);
  program::ElementType narrow() const { return options_.precision.autocast; }
  bool autocasts() const { return narrow() != program::ElementType::kFp32; }
  // The type that a layer's arithmetic reads.
  program::ElementType operation_type(const program::Function& function,
                                      program::ElementType input) const;
  void run_layer(const Layer& layer, bool training, bool records);
  Entry::Ranks ranks_of(const Layer& layer) const;
  // A layer that works on a part of the sequence has that of its input; another the whole.
  void fit_inputs(const Layer& layer, std::vector<VarId>& inputs);
  // Of the result as the layer gives it, before ranks sum it or keep their parts.
  std::int64_t elements_given(const Layer& layer) const;
  // What a layer that is cut does with what goes in and what comes out (tape_ranks.cpp).
  VarId gradient_summed(VarId input);
  VarId divided(VarId bias);
  VarId summed(VarId part, const std::string& name);
  // The whole sequence of a part. `is_cut`: for layers that have a part of their weights each.
  VarId gathered(VarId part, bool is_cut);
  // This rank's part of the sequence, of a sum or of what every rank has.
  VarId scattered(VarId part_of_sum);
  VarId own_part(VarId whole);
  VarId moved(VarId from, Entry::Ranks ranks,
              const std::function<program::Index(program::Index)>& move);
  // The same of buffers, in forward and backward.
  program::Index put_together(program::Index part);
  program::Index scatter(program::Index whole);
  program::Index take_part(program::Index whole);
  // Of the gradients of a var.
  program::Index sum_of(program::Index part, VarId input);
  // Elements of a rank's part of a sample.
  std::int64_t run_of(std::int64_t whole) const;
  void send(Sent how, program::Index from, program::Index to);
  // Of the last one of the current list.
  void mark_sent(Sent how);
  void run_backward_of_ranks(const Entry& entry, program::Index dy);
  // tape_shared_loss.cpp
  // Of logits whose classes ranks share out.
  void shared_loss(VarId logits);
  program::Index shared_log_softmax(program::Index logits);
  program::Index shared_mean(program::Index log_p);
  void run_backward_of_loss(const Entry& entry, program::Index dloss);
  // Writes a kernel of such a loss; its result is a new buffer.
  program::Index loss_step(program::LossStep step, const std::vector<program::Index>& reads,
                           const std::string& name);
  void hold(const std::vector<program::Index>& buffers);
  // The same buffer where it has that type already.
  program::Index in_type(program::Index from, program::ElementType type, const std::string& name);
  // The same of what all ranks have: sums, or the largest.
  program::Index of_all(Sent how, program::Index own);
  // Kernels on a number a row, which decide what is whose and compute nothing that is kept.
  void push_small(const std::vector<const char*>& operators, std::int64_t count,
                  program::ElementType type);
  void push_zeros(std::int64_t count, program::ElementType type);
  // Of an embedding whose rows ranks share out: what masks its tokens, and its result.
  void mask_tokens(program::Index tokens);
  void mask_rows(program::Index vectors);
  // Of a table of vectors that is added to a part of what reads it, or has some of its rows.
  void run_backward_of_table(const Entry& entry, program::Index dy);
  void run_backward_of_places(const Entry& entry, program::Index dy);
  void cast_inputs(const program::Function& function, std::vector<VarId>& inputs,
                   const std::string& layer);
  // The same var where it has that type already.
  VarId cast(VarId from, program::ElementType type, const std::string& layer);
  // One that another plan has made; null: none has.
  std::optional<VarId> cast_before(VarId weight, program::ElementType type);
  // Carries out a function on vars; its result is a new var.
  VarId apply(const program::Function& function, const std::vector<VarId>& inputs,
              const std::string& name, std::int64_t elements,
              const std::vector<SideResult>& side_results = {},
              std::optional<program::ElementType> result_type = std::nullopt);
  program::ElementType type_of(VarId var) const { return vars_[var].type; }
  program::ElementType output_type(const program::Function& function,
                                   const std::vector<VarId>& inputs) const;
  // A batch norm in training writes the moments that it reads.
  static void add_running_moments(const program::Function& function, Operands& operands);
  // Whether a layer counts the batches that it has seen, which is a kernel of its own.
  bool counts_batches(const program::Function& function) const;
  void push_batch_count();
  // A graph reads what comes in from the same place each time: it is copied there
  // (torch/_inductor/cudagraph_trees.py).
  program::Index static_copy(program::Index from, const std::string& name);
  // Adds an operation to the current list, and before it those that it is launched with.
  program::Index emit(const program::Function& function, program::ElementType type,
                      Operands operands);
  program::Index push(program::Operation operation, bool same_operator = false);
  // tape_attention.cpp
  // Those of an attention that has no kernel of its own; `whole`: as one operation.
  program::Index push_attention(const program::Operation& whole);
  std::vector<AttentionLaunch> launches_of(const program::Operation& whole);
  // Backward of an attention in its kernel, of one projection.
  program::Index push_packed_gradient(program::Operation flash);
  program::Index push_written_gelu(const program::Operation& whole);
  program::Index push_written_norm(const program::Operation& whole);
  program::Index push_rotation(const program::Operation& whole);
  program::Index push_written(std::vector<WrittenLaunch> launches);
  // Once a forward, before its first block: what the rotations of a model that writes them out
  // read.
  void make_rotary_tables();
  // Gradients of keys and values that heads share, which the flash kernel writes for each head.
  program::Index push_with_sums_of_heads(program::Operation whole);
  NewBuffer buffer_maker();

  // tape_backward.cpp
  void run_all_backward();
  // From here on backward is the model's, and no more the loss's.
  void begin_model_backward();
  // Autograd's own launches follow the compiled ones of the piece that ends.
  void begin_piece(int piece);
  // Writes what autograd does with gradients that compiled pieces as a whole return.
  void emit_outside(const program::Function& function, program::ElementType type,
                    Operands operands);
  // Whether two of a tensor's gradients come from different pieces, neither of which computes it.
  bool meet_outside(const Var& var) const;
  // Up to the last result that backward reads: there torch.utils.checkpoint stops.
  void recompute(int block);
  // The buffers that the gradients of a block's layers follow from.
  std::set<program::Index> read_by_backward(int block) const;
  // The same operation; a dropout takes the draws that it took before.
  program::Index again(program::Index operation);
  void run_backward(std::size_t i);
  // A gradient has its tensor's type: autograd's engine casts one that has another.
  program::Index in_type_of(VarId id, program::Index gradient);
  // Where a kernel of that operand's gradient writes: what it multiplies of an FP32 loss has that
  // type, and is not yet the gradient of a narrow one.
  program::Index written_gradient(const program::Function& function, VarId id, program::Index dy);
  void apply_rule(const Entry& entry, const GradientRule& rule, program::Index dy);
  program::Index buffer_of(const Entry& entry, const Source& source, program::Index dy) const;
  // What a compiled backward computes again rather than have it kept: a SiLU, of what its own
  // gradient reads (torch/_functorch/partitioners.py).
  program::Index kept_or_again(const Entry& entry, const Source& source, program::Index buffer);
  // Where a var's next gradient is written: a parameter's only one is its .grad from the start.
  program::Index gradient_for(VarId id);
  // Of a parameter or of a copy of one in another type.
  bool is_parameter_gradient(VarId id) const;
  // Sums what arrives; a parameter's sum goes to its .grad once it is complete.
  void arrive(VarId id, program::Index gradient);

  program::Program& program_;
  const Graph& graph_;
  PlanBuffers& buffers_;
  const TapeOptions& options_;
  Plan plan_;
  program::Index first_operation_;
  std::vector<PlannedLaunch>* list_ = nullptr;
  std::vector<PlannedLaunch> outside_;  // that follow the compiled piece under way
  std::size_t model_entries_ = 0;       // those of the layers; the loss's come after
  std::vector<Var> vars_;               // the first are the graph's values
  std::vector<VarId> parameters_;
  VarId targets_ = 0;
  VarId loss_ = 0;
  program::ElementType loss_type_ = program::ElementType::kFp32;  // of logits that are shared out
  std::vector<Entry> entries_;
  std::set<VarId> weight_copies_;                      // in another type, made by autocast
  std::map<VarId, VarId> weight_casts_;                // those that a forward makes once, by weight
  std::map<program::Index, KeptByEager> eager_kept_;   // by the probabilities
  std::map<program::Index, KeptByGelu> gelu_kept_;     // by what is activated
  std::map<program::Index, KeptByRmsNorm> norm_kept_;  // by the reciprocal roots
  RotaryTables rotary_;
  std::map<program::Index, program::Index> again_;    // of what forward computed
  std::map<std::pair<VarId, bool>, VarId> gathered_;  // by part, and whether for cut layers
  std::map<program::Index, Sent> sent_;               // operations that are not launched
  std::vector<program::Index> own_;                   // buffers that this tape made
  std::set<program::Index> outlives_;                 // of them, those that another frees
  int block_ = PlannedLaunch::kNotTheModel;           // of what is launched
  int piece_ = PlannedLaunch::kNotCompiled;           // the same
  bool recomputes_ = false;                           // the block that is written
  bool keeps_weight_copies_ = false;
  int recomputed_ = 0;
  bool in_backward_ = false;
};

}  // namespace trainscope::train
