#include "train/tape.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "train/gradient_rules.h"
#include "train/kernels.h"
#include "train/lifetimes.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

// What autocast does with a layer (docs/source/amp.rst): runs it in the narrow type, or in FP32, or
// in whatever type comes in.
enum class CastPolicy { kNarrow, kFp32, kAsIs };

CastPolicy cast_policy(const program::Function& function) {
  using namespace program;
  if (std::holds_alternative<Linear>(function) || std::holds_alternative<Convolution>(function) ||
      std::holds_alternative<Attention>(function))
    return CastPolicy::kNarrow;
  if (std::holds_alternative<LayerNorm>(function) || std::holds_alternative<LogSoftmax>(function) ||
      std::holds_alternative<NllLoss>(function))
    return CastPolicy::kFp32;
  return CastPolicy::kAsIs;
}

// A batch norm's weights stay FP32 whatever comes in, and whole numbers are never cast.
bool is_cast(ElementType type) {
  return type == ElementType::kFp16 || type == ElementType::kBf16 || type == ElementType::kFp32;
}

std::string_view word_of(ElementType type) {
  return type == ElementType::kFp16   ? "float16"
         : type == ElementType::kBf16 ? "bfloat16"
                                      : "float32";
}

using VarId = std::uint32_t;

// A tensor while the tape is written.
struct Var {
  Index buffer = kNoIndex;
  ElementType type = ElementType::kFp32;
  bool needs_gradient = false;
  Index gradient = kNoIndex;  // that has arrived so far
  Index leaf = kNoIndex;      // a parameter's .grad
  int uses = 0;               // by layers: so many gradients will arrive
  int arrived = 0;
};

// A layer that was carried out.
struct Entry {
  program::Function function;
  std::vector<VarId> inputs;
  std::vector<Index> sides;
  VarId output = 0;
  int block = 0;
  std::vector<Index> operations;  // of forward, in this block, for recomputing
};

class Tape {
 public:
  Tape(program::Program& program, const Graph& graph, const ModelBuffers& model,
       PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options)
      : program_(program), graph_(graph), buffers_(buffers), options_(options) {
    buffers.begin_plan();
    vars_.resize(graph.values.size());
    vars_[0].buffer = batch.x;
    vars_[0].type = program.buffers[batch.x].type;
    for (ParameterId id = 0; id < model.parameters.size(); ++id) {
      Var parameter;
      parameter.buffer = model.parameters[id];
      parameter.leaf = model.gradients[id];
      parameter.needs_gradient = parameter.leaf != kNoIndex;
      parameters_.push_back(add_var(parameter));
    }
    Var targets;
    targets.buffer = batch.y;
    targets.type = ElementType::kInt64;
    targets_ = add_var(targets);
  }

  // The narrow copies that autocast made of a forward's weights do not outlive it.
  void forward(bool training) {
    list_ = &plan_.forward;
    for (const Layer& layer : graph_.layers) run_layer(layer, training);
  }

  void loss() {
    list_ = &plan_.loss;
    const VarId logits = cast(graph_.logits, ElementType::kFp32, "logits");
    const VarId logp = apply(program::LogSoftmax{graph_.rows, graph_.classes}, {logits},
                             "log-probabilities", graph_.rows * graph_.classes);
    loss_ = apply(program::NllLoss{graph_.rows, graph_.classes}, {logp, targets_}, "loss", 1);
    plan_.loss_value = vars_[loss_].buffer;
  }

  // Of a loss for each GPU.
  void mean_loss() {
    list_ = &plan_.loss;
    const std::int64_t count = graph_.values[0];
    loss_ = apply(program::Multiply{count, 1.0 / static_cast<double>(count)}, {0}, "loss", 1);
    plan_.loss_value = vars_[loss_].buffer;
  }

  // For accumulation, by a GradScaler.
  void scale_loss() {
    list_ = &plan_.scale;
    if (options_.loss_divisor > 1)
      loss_ = apply(program::Multiply{1, 1.0 / options_.loss_divisor}, {loss_}, "loss, divided", 1);
    if (options_.scale == kNoIndex) return;
    Var scale;
    scale.buffer = options_.scale;
    loss_ = apply(program::Multiply{1, 1}, {loss_, add_var(scale)}, "loss, scaled", 1);
  }

  void backward() {
    list_ = &plan_.backward;
    in_backward_ = true;
    Var& root = vars_[loss_];
    root.gradient = new_buffer("gradient of the loss", 1, ElementType::kFp32, Role::kActivation);
    emit(program::Fill{1, 1}, ElementType::kFp32, {{}, {root.gradient}});
    run_all_backward();
  }

  // Of logits that are handed on to others, and whose gradient these hand back.
  void backward_of_output() {
    list_ = &plan_.backward;
    in_backward_ = true;
    Var& logits = vars_[graph_.logits];
    const std::int64_t elements = program_.buffers[logits.buffer].elements();
    logits.gradient =
        new_buffer("gradient of the output", elements, logits.type, Role::kActivation);
    plan_.output = logits.buffer;
    plan_.output_gradient = logits.gradient;
    run_all_backward();
    outlives_ = {plan_.output};
  }

  // The same of a loss.
  void backward_of_loss() {
    list_ = &plan_.backward;
    in_backward_ = true;
    Var& root = vars_[loss_];
    root.gradient = new_buffer("gradient of the loss", 1, ElementType::kFp32, Role::kActivation);
    plan_.output = vars_[graph_.logits].buffer;
    plan_.output_gradient = root.gradient;
    run_all_backward();
    outlives_ = {plan_.output, plan_.loss_value};
  }

  // What is handed in needs a gradient.
  void expect_gradient() { vars_[0].needs_gradient = true; }
  void backward_to_input() {
    backward();
    plan_.output = vars_[0].buffer;
    plan_.output_gradient = vars_[0].gradient;
    outlives_ = {plan_.output_gradient};
  }

  void run_all_backward() {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i].block != 0 && entries_[i].block != recomputed_) recompute(entries_[i].block);
      run_backward(i);
    }
  }

  void count_correct(Index correct) {
    list_ = &plan_.loss;
    emit(program::CountCorrect{graph_.rows, graph_.classes}, ElementType::kFp32,
         {{vars_[graph_.logits].buffer, vars_[targets_].buffer}, {correct}});
  }

  Plan finish() {
    // `out` and `loss` are variables of the loop: they live as long as its body.
    std::vector<Index> kept{vars_[graph_.logits].buffer};
    if (plan_.loss_value != kNoIndex) kept.push_back(plan_.loss_value);
    plan_lifetimes(program_, own_, kept,
                   {&plan_.forward, &plan_.loss, &plan_.scale, &plan_.backward});
    for (std::vector<PlannedLaunch>* list : {&plan_.forward, &plan_.loss, &plan_.backward})
      for (PlannedLaunch& launch : *list)
        std::erase_if(launch.freed, [&](Index buffer) { return outlives_.contains(buffer); });
    return std::move(plan_);
  }

 private:
  VarId add_var(const Var& var) {
    vars_.push_back(var);
    return static_cast<VarId>(vars_.size() - 1);
  }

  Index new_buffer(const std::string& name, std::int64_t elements, ElementType type, Role role) {
    program::Buffer buffer;
    buffer.name = name;
    buffer.bytes = elements * program::size_of(type);
    buffer.role = role;
    buffer.type = type;
    own_.push_back(buffers_.get(program_, buffer));
    return own_.back();
  }

  // ---- Forward --------------------------------------------------------------------------------

  ElementType narrow() const { return options_.precision.autocast; }

  // The type that a layer's arithmetic reads.
  ElementType operation_type(const program::Function& function, ElementType input) const {
    if (input != ElementType::kFp32) return input;
    // The gradient of a bias is a sum.
    const auto* linear = std::get_if<program::Linear>(&function);
    const auto* convolution = std::get_if<program::Convolution>(&function);
    const bool matmul = (linear && linear->part != program::Part::kBiasGradient) ||
                        std::holds_alternative<program::Attention>(function);
    const bool conv = convolution && convolution->part != program::Part::kBiasGradient;
    const bool tf32 =
        (matmul && options_.precision.matmul_tf32) || (conv && options_.precision.conv_tf32);
    return tf32 ? ElementType::kTf32 : input;
  }

  void run_layer(const Layer& layer, bool training) {
    if (!training && std::holds_alternative<program::Dropout>(layer.function)) {
      vars_[layer.output] = vars_[layer.inputs[0]];
      return;
    }
    block_ = training && options_.checkpoint ? layer.block : 0;
    program::Function function = layer.function;
    if (auto* norm = std::get_if<program::BatchNorm>(&function)) norm->training = training;
    std::vector<VarId> inputs(layer.inputs.begin(), layer.inputs.end());
    for (const ParameterId id : layer.parameters) inputs.push_back(parameters_[id]);
    cast_inputs(function, inputs, layer.name);
    const VarId output =
        apply(function, inputs, layer.name, graph_.values[layer.output], layer.side_results);
    vars_[layer.output] = vars_[output];
    entries_.back().output = layer.output;
  }

  void cast_inputs(const program::Function& function, std::vector<VarId>& inputs,
                   const std::string& layer) {
    const CastPolicy policy = cast_policy(function);
    const bool autocast = narrow() != ElementType::kFp32;
    if (!autocast) return;
    if (policy == CastPolicy::kAsIs) return;
    const ElementType type = policy == CastPolicy::kNarrow ? narrow() : ElementType::kFp32;
    for (VarId& input : inputs) input = cast(input, type, layer);
  }

  // The same var where it has that type already.
  VarId cast(VarId from, ElementType type, const std::string& layer) {
    if (vars_[from].type == type || !is_cast(vars_[from].type)) return from;
    const bool is_weight = vars_[from].leaf != kNoIndex;
    if (is_weight && weight_casts_.contains(from)) return weight_casts_[from];
    const program::Buffer& source = program_.buffers[vars_[from].buffer];
    const std::string what = is_weight ? source.name : "input of " + layer;
    const std::int64_t elements = source.elements();
    const VarId to = apply(program::Cast{elements}, {from},
                           what + " in " + std::string(word_of(type)), elements, {}, type);
    if (is_weight) weight_casts_[from] = to;
    return to;
  }

  // Carries out a function on vars; its result is a new var.
  VarId apply(const program::Function& function, const std::vector<VarId>& inputs,
              const std::string& name, std::int64_t elements,
              const std::vector<SideResult>& side_results = {},
              std::optional<ElementType> result_type = std::nullopt) {
    Var output;
    output.type = result_type.value_or(output_type(function, inputs));
    const ElementType input_type = is_cast(type_of(inputs[0])) ? type_of(inputs[0]) : output.type;
    const bool is_weight_copy = result_type && vars_[inputs[0]].leaf != kNoIndex;
    output.buffer = new_buffer(name, elements, output.type,
                               is_weight_copy ? Role::kWorkspace : Role::kActivation);
    Entry entry;
    entry.function = function;
    entry.inputs = inputs;
    entry.block = block_;
    Operands operands;
    for (const VarId input : inputs) {
      operands.reads.push_back(vars_[input].buffer);
      output.needs_gradient = output.needs_gradient || vars_[input].needs_gradient;
      ++vars_[input].uses;
    }
    operands.writes.push_back(output.buffer);
    for (const SideResult& side : side_results) {
      const bool as_output = std::holds_alternative<program::Attention>(function) &&
                             !std::get<program::Attention>(function).flash;
      entry.sides.push_back(new_buffer(name + ": " + side.name, side.elements,
                                       as_output ? output.type : side.type, Role::kActivation));
      operands.writes.push_back(entry.sides.back());
    }
    add_running_moments(function, operands);
    entry.operations.push_back(
        emit(function, operation_type(function, input_type), std::move(operands)));
    entry.output = add_var(output);
    entries_.push_back(std::move(entry));
    return entries_.back().output;
  }

  ElementType type_of(VarId var) const { return vars_[var].type; }

  ElementType output_type(const program::Function& function,
                          const std::vector<VarId>& inputs) const {
    if (std::holds_alternative<program::Embedding>(function)) return type_of(inputs[1]);
    // The kernel of a sum reads two types, and gives the wider one.
    if (std::holds_alternative<program::Add>(function) && type_of(inputs[0]) != type_of(inputs[1]))
      return ElementType::kFp32;
    return type_of(inputs[0]);
  }

  // A batch norm in training writes the moments that it reads.
  static void add_running_moments(const program::Function& function, Operands& operands) {
    const auto* norm = std::get_if<program::BatchNorm>(&function);
    if (!norm || !norm->training) return;
    operands.writes.push_back(operands.reads[3]);
    operands.writes.push_back(operands.reads[4]);
  }

  // ---- Backward -------------------------------------------------------------------------------

  // Up to the last result that backward reads: there torch.utils.checkpoint stops.
  void recompute(int block) {
    recomputed_ = block;
    const std::set<Index> read = read_by_backward(block);
    const auto is_read = [&](const Entry& entry) {
      return entry.block == block && (read.contains(vars_[entry.output].buffer) ||
                                      std::any_of(entry.sides.begin(), entry.sides.end(),
                                                  [&](Index side) { return read.contains(side); }));
    };
    const auto end = std::find_if(entries_.rbegin(), entries_.rend(), is_read).base();
    for (auto entry = entries_.begin(); entry != end; ++entry) {
      if (entry->block != block) continue;
      for (const Index operation : entry->operations) list_->push_back({again(operation), {}, {}});
    }
  }

  // The buffers that the gradients of a block's layers follow from.
  std::set<Index> read_by_backward(int block) const {
    std::set<Index> read;
    for (const Entry& entry : entries_) {
      if (entry.block != block) continue;
      for (const GradientRule& rule : gradient_rules(entry.function))
        for (const Source& source : rule.reads)
          if (source.kind != Source::Kind::kGradient)
            read.insert(buffer_of(entry, source, kNoIndex));
    }
    return read;
  }

  // The same operation; a dropout takes the draws that it took before.
  Index again(Index operation) {
    const auto* dropout = std::get_if<program::Dropout>(&program_.operations[operation].function);
    if (!dropout) return operation;
    program::Operation copy = program_.operations[operation];
    std::get<program::Dropout>(copy.function).again = true;
    copy.reads.push_back(copy.writes[1]);
    copy.writes.pop_back();
    program_.operations.push_back(std::move(copy));
    return static_cast<Index>(program_.operations.size() - 1);
  }

  void run_backward(std::size_t i) {
    const Entry& entry = entries_[i];
    const Index dy = vars_[entry.output].gradient;
    if (dy == kNoIndex) return;
    for (const std::size_t place : passed_through(entry.function))
      if (vars_[entry.inputs[place]].needs_gradient)
        arrive(entry.inputs[place], in_type_of(entry.inputs[place], dy));
    for (const GradientRule& rule : gradient_rules(entry.function)) apply_rule(entry, rule, dy);
  }

  // A gradient has its tensor's type: autograd's engine casts one that has another.
  Index in_type_of(VarId id, Index gradient) {
    const program::Buffer like = program_.buffers[gradient];
    if (like.type == vars_[id].type) return gradient;
    const Index narrow = gradient_for(id);
    emit(program::Cast{like.elements()}, like.type, {{gradient}, {narrow}});
    return narrow;
  }

  void apply_rule(const Entry& entry, const GradientRule& rule, Index dy) {
    const bool wanted = std::any_of(rule.wanted.begin(), rule.wanted.end(), [&](std::size_t place) {
      return vars_[entry.inputs[place]].needs_gradient;
    });
    if (!wanted) return;
    Operands operands;
    for (const Source& source : rule.reads)
      if (const Index buffer = buffer_of(entry, source, dy); buffer != kNoIndex)
        operands.reads.push_back(buffer);
    for (const std::size_t place : rule.wanted)
      operands.writes.push_back(gradient_for(entry.inputs[place]));
    const std::vector<Index> written = operands.writes;
    emit(rule.function, operation_type(rule.function, program_.buffers[dy].type),
         std::move(operands));
    for (std::size_t k = 0; k < rule.wanted.size(); ++k)
      arrive(entry.inputs[rule.wanted[k]], written[k]);
  }

  Index buffer_of(const Entry& entry, const Source& source, Index dy) const {
    switch (source.kind) {
      case Source::Kind::kGradient:
        return dy;
      case Source::Kind::kInput:
        return source.place < entry.inputs.size() ? vars_[entry.inputs[source.place]].buffer
                                                  : kNoIndex;
      case Source::Kind::kOutput:
        return vars_[entry.output].buffer;
      case Source::Kind::kSide:
        return entry.sides[source.place];
    }
    return kNoIndex;
  }

  // Where a var's next gradient is written: a parameter's only one is its .grad from the start.
  Index gradient_for(VarId id) {
    const Var& var = vars_[id];
    if (var.leaf != kNoIndex && var.uses == 1 && !options_.accumulate) return var.leaf;
    const program::Buffer& like = program_.buffers[var.buffer];
    const Role role = is_parameter_gradient(id) ? Role::kGradient : Role::kActivation;
    return new_buffer("gradient of " + like.name, like.elements(), var.type, role);
  }

  // Of a parameter or of the narrow copy of one.
  bool is_parameter_gradient(VarId id) const {
    return vars_[id].leaf != kNoIndex ||
           std::any_of(weight_casts_.begin(), weight_casts_.end(),
                       [id](const auto& copy) { return copy.second == id; });
  }

  // Sums what arrives; a parameter's sum goes to its .grad once it is complete.
  void arrive(VarId id, Index gradient) {
    Var& var = vars_[id];
    ++var.arrived;
    const bool last = var.arrived == var.uses;
    if (var.gradient != kNoIndex) {
      const bool to_leaf = last && var.leaf != kNoIndex && !options_.accumulate;
      const Index sum = to_leaf ? var.leaf : gradient_for(id);
      const std::int64_t elements = program_.buffers[gradient].elements();
      emit(program::Add{elements}, var.type, {{var.gradient, gradient}, {sum}});
      gradient = sum;
    }
    vars_[id].gradient = gradient;
    const Index leaf = vars_[id].leaf;
    if (leaf == kNoIndex || !last || !options_.accumulate) return;
    emit(program::Accumulate{program_.buffers[leaf].elements()}, ElementType::kFp32,
         {{gradient}, {leaf}});
  }

  Index emit(const program::Function& function, ElementType type, Operands operands) {
    program::Operation operation = make_operation(program_, function, type, std::move(operands));
    operation.is_gradient = in_backward_;
    if (in_backward_ && std::holds_alternative<program::Cast>(function))
      operation.framework = "ToCopyBackward0";
    if (in_backward_ && std::holds_alternative<program::Multiply>(function))
      operation.framework = "MulBackward0";
    program_.operations.push_back(std::move(operation));
    const auto id = static_cast<Index>(program_.operations.size() - 1);
    list_->push_back({id, {}, {}});
    return id;
  }

  program::Program& program_;
  const Graph& graph_;
  PlanBuffers& buffers_;
  const TapeOptions& options_;
  Plan plan_;
  std::vector<PlannedLaunch>* list_ = nullptr;
  std::vector<Var> vars_;  // the first are the graph's values
  std::vector<VarId> parameters_;
  VarId targets_ = 0;
  VarId loss_ = 0;
  std::vector<Entry> entries_;
  std::map<VarId, VarId> weight_casts_;
  std::vector<Index> own_;    // buffers that this tape made
  std::set<Index> outlives_;  // of them, those that another frees
  int block_ = 0;
  int recomputed_ = 0;
  bool in_backward_ = false;
};

}  // namespace

Index PlanBuffers::get(program::Program& program, const program::Buffer& like) {
  const Key key{like.name, like.bytes, like.type, given_[like.name]++};
  const auto [entry, is_new] = made_.try_emplace(key, static_cast<Index>(program.buffers.size()));
  if (is_new) {
    program.buffers.push_back(like);
    program.buffers.back().kind = memory_;
    program.buffers.back().device = device_;
  }
  return entry->second;
}

ModelBuffers add_model_buffers(program::Program& program, const Graph& graph,
                               program::MemoryKind memory) {
  ModelBuffers model;
  const auto add = [&](const Parameter& parameter, const std::string& name, Role role) {
    return add_buffer(program, name, parameter.elements * program::size_of(ElementType::kFp32),
                      memory, role);
  };
  for (const Parameter& parameter : graph.parameters) {
    model.parameters.push_back(add(parameter, parameter.name, Role::kParameter));
    program.buffers[model.parameters.back()].initial = parameter.initial;
    model.gradients.push_back(parameter.trained && parameter.reached
                                  ? add(parameter, parameter.name + ".grad", Role::kGradient)
                                  : kNoIndex);
  }
  return model;
}

Plan plan_training(program::Program& program, const Graph& graph, const ModelBuffers& model,
                   PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options) {
  Tape tape(program, graph, model, buffers, batch, options);
  tape.forward(true);
  tape.loss();
  tape.scale_loss();
  tape.backward();
  return tape.finish();
}

Plan plan_replica(program::Program& program, const Graph& graph, const ModelBuffers& model,
                  PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options,
                  bool computes_loss) {
  Tape tape(program, graph, model, buffers, batch, options);
  tape.forward(true);
  if (computes_loss) {
    tape.loss();
    tape.backward_of_loss();
  } else {
    tape.backward_of_output();
  }
  return tape.finish();
}

Plan plan_loss(program::Program& program, const Graph& graph, Index logits, Index y,
               PlanBuffers& buffers, const TapeOptions& options) {
  Graph head;
  head.values = {graph.rows * graph.classes};
  head.rows = graph.rows;
  head.classes = graph.classes;
  Tape tape(program, head, {}, buffers, {logits, y}, options);
  tape.expect_gradient();
  tape.loss();
  tape.scale_loss();
  tape.backward_to_input();
  return tape.finish();
}

Plan plan_mean_loss(program::Program& program, Index losses, PlanBuffers& buffers,
                    const TapeOptions& options) {
  Graph head;
  head.values = {program.buffers[losses].elements()};
  Tape tape(program, head, {}, buffers, {losses, losses}, options);
  tape.expect_gradient();
  tape.mean_loss();
  tape.scale_loss();
  tape.backward_to_input();
  return tape.finish();
}

Plan plan_evaluation(program::Program& program, const Graph& graph, const ModelBuffers& model,
                     PlanBuffers& buffers, const BatchBuffers& batch, const Precision& precision,
                     Index correct) {
  TapeOptions options;
  options.precision = precision;
  Tape tape(program, graph, model, buffers, batch, options);
  tape.forward(false);
  tape.count_correct(correct);
  return tape.finish();
}

}  // namespace trainscope::train
