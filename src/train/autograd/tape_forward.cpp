// The tape: forward, loss, and what is done with a loss before backward.

#include <algorithm>

#include "train/autograd/lifetimes.h"
#include "train/autograd/tape_recorder.h"
#include "train/compile/fusion.h"

namespace trainscope::train {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

namespace {

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
bool is_narrow(ElementType type) {
  return type == ElementType::kFp16 || type == ElementType::kBf16;
}

bool is_cast(ElementType type) {
  return type == ElementType::kFp16 || type == ElementType::kBf16 || type == ElementType::kFp32;
}

// Each rank's result is a part of a sum.
bool gives_sum(const Layer& layer) {
  return layer.cut == Cut::kRows || layer.cut == Cut::kVocabulary;
}

std::string_view word_of(ElementType type) {
  return type == ElementType::kFp16   ? "float16"
         : type == ElementType::kBf16 ? "bfloat16"
                                      : "float32";
}

}  // namespace

Tape::Tape(program::Program& program, const Graph& graph, const ModelBuffers& model,
           PlanBuffers& buffers, const BatchBuffers& batch, const TapeOptions& options)
    : program_(program),
      graph_(graph),
      buffers_(buffers),
      options_(options),
      first_operation_(static_cast<Index>(program.operations.size())) {
  buffers.begin_plan();
  vars_.resize(graph.values.size());
  vars_[0].buffer = batch.x;
  vars_[0].type = program.buffers[batch.x].type;
  for (ParameterId id = 0; id < model.parameters.size(); ++id) {
    Var parameter;
    parameter.buffer = model.parameters[id];
    parameter.type = program.buffers[parameter.buffer].type;
    parameter.leaf = model.gradients[id];
    parameter.needs_gradient = parameter.leaf != kNoIndex;
    parameters_.push_back(add_var(parameter));
  }
  Var targets;
  targets.buffer = batch.y;
  targets.type = ElementType::kInt64;
  targets_ = add_var(targets);
}

void Tape::forward(bool training, bool records) {
  list_ = &plan_.forward;
  if (options_.compile.cuda_graph) vars_[0].buffer = static_copy(vars_[0].buffer, "x");
  for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
    if (!options_.pieces.empty()) piece_ = options_.pieces[i];
    if (graph_.layers[i].block != 0) make_rotary_tables();
    run_layer(graph_.layers[i], training, records);
  }
  block_ = PlannedLaunch::kNotTheModel;
  piece_ = PlannedLaunch::kNotCompiled;
  recomputes_ = false;
  model_entries_ = entries_.size();
}

void Tape::loss() {
  list_ = &plan_.loss;
  const VarId logits =
      autocasts() ? cast(graph_.logits, ElementType::kFp32, "logits") : graph_.logits;
  if (graph_.own_classes > 0) return shared_loss(logits);
  const VarId logp = apply(program::LogSoftmax{graph_.rows, graph_.classes}, {logits},
                           "log-probabilities", graph_.rows * graph_.classes);
  loss_ = apply(program::NllLoss{graph_.rows, graph_.classes}, {logp, targets_}, "loss", 1);
  plan_.loss_value = vars_[loss_].buffer;
}

void Tape::mean_loss() {
  list_ = &plan_.loss;
  const std::int64_t count = graph_.values[0];
  loss_ = apply(program::Multiply{count, 1.0 / static_cast<double>(count)}, {0}, "loss", 1);
  plan_.loss_value = vars_[loss_].buffer;
}

void Tape::scale_loss() {
  list_ = &plan_.scale;
  if (options_.loss_divisor > 1)
    loss_ = apply(program::Multiply{1, 1.0 / options_.loss_divisor}, {loss_}, "loss, divided", 1);
  if (options_.scale == kNoIndex) return;
  Var scale;
  scale.buffer = options_.scale;
  // A product of two single numbers has the wider type of the two, and the scale is FP32.
  loss_ = apply(program::Multiply{1, 1}, {loss_, add_var(scale)}, "loss, scaled", 1, {},
                ElementType::kFp32);
}

void Tape::count_correct(Index correct) {
  list_ = &plan_.loss;
  emit(program::CountCorrect{graph_.rows, graph_.classes}, ElementType::kFp32,
       {{vars_[graph_.logits].buffer, vars_[targets_].buffer}, {correct}});
}

Plan Tape::finish() {
  // `out` and `loss` are variables of the loop: they live as long as its body.
  std::vector<Index> kept{vars_[graph_.logits].buffer};
  if (plan_.loss_value != kNoIndex) kept.push_back(plan_.loss_value);
  if (keeps_weight_copies_)
    for (const VarId copy : weight_copies_) kept.push_back(vars_[copy].buffer);
  if (options_.compile.fuse)
    fuse(program_, plan_, {own_.begin(), own_.end()}, kept, first_operation_);
  plan_lifetimes(program_, own_, kept,
                 {&plan_.forward, &plan_.loss, &plan_.scale, &plan_.backward});
  keep_what_outlives();
  return std::move(plan_);
}

// What is computed again, with its block, is written where it is.
void Tape::keep_what_outlives() {
  std::set<Index> there;
  for (std::vector<PlannedLaunch>* list : {&plan_.forward, &plan_.loss, &plan_.backward})
    for (PlannedLaunch& launch : *list) {
      std::erase_if(launch.freed, [&](Index buffer) { return outlives_.contains(buffer); });
      std::erase_if(launch.allocated, [&](Index buffer) {
        return outlives_.contains(buffer) && !there.insert(buffer).second;
      });
    }
}

Tape::VarId Tape::add_var(const Var& var) {
  vars_.push_back(var);
  return static_cast<VarId>(vars_.size() - 1);
}

Index Tape::new_buffer(const std::string& name, std::int64_t elements, ElementType type,
                       Role role) {
  program::Buffer buffer;
  buffer.name = name;
  buffer.bytes = elements * program::size_of(type);
  buffer.role = role;
  buffer.type = type;
  own_.push_back(buffers_.get(program_, buffer));
  return own_.back();
}

ElementType Tape::operation_type(const program::Function& function, ElementType input) const {
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

void Tape::run_layer(const Layer& layer, bool training, bool records) {
  if (!training && std::holds_alternative<program::Dropout>(layer.function)) {
    vars_[layer.output] = vars_[layer.inputs[0]];
    return;
  }
  block_ = layer.block;
  recomputes_ = records && is_recomputed(layer.block, options_.checkpoint_every);
  program::Function function = layer.function;
  if (auto* norm = std::get_if<program::BatchNorm>(&function)) norm->training = training;
  std::vector<VarId> inputs(layer.inputs.begin(), layer.inputs.end());
  fit_inputs(layer, inputs);
  for (const ParameterId id : layer.parameters)
    inputs.push_back(graph_.sums_in_backward && graph_.parameters[id].by_tokens
                         ? gradient_summed(parameters_[id])
                         : parameters_[id]);
  cast_inputs(function, inputs, layer.name);
  if (layer.cut == Cut::kRows && inputs.size() > 2) inputs[2] = divided(inputs[2]);
  if (layer.cut == Cut::kVocabulary) mask_tokens(vars_[inputs[0]].buffer);
  VarId output = apply(function, inputs, layer.name, elements_given(layer), layer.side_results);
  if (layer.cut == Cut::kVocabulary) mask_rows(vars_[output].buffer);
  entries_.back().ranks = ranks_of(layer);
  if (gives_sum(layer))
    output = graph_.is_part(layer.output) ? scattered(output) : summed(output, layer.name);
  if (layer.keeps_part) output = own_part(output);
  vars_[layer.output] = vars_[output];
  entries_.back().output = layer.output;
}

Tape::Entry::Ranks Tape::ranks_of(const Layer& layer) const {
  if (layer.cut == Cut::kVocabulary) return Entry::Ranks::kTable;
  const bool adds = std::holds_alternative<program::AddPositions>(layer.function);
  return adds && graph_.is_part(layer.inputs[0]) ? Entry::Ranks::kPlaces : Entry::Ranks::kNone;
}

void Tape::fit_inputs(const Layer& layer, std::vector<VarId>& inputs) {
  const bool is_cut = layer.cut == Cut::kColumns;
  const bool on_part = graph_.is_part(layer.output) && !layer.keeps_part;
  for (VarId& input : inputs) {
    if (graph_.is_part(input)) {
      if (!on_part) input = gathered(input, is_cut);
    } else if (is_cut) {
      input = gradient_summed(input);
    }
  }
}

std::int64_t Tape::elements_given(const Layer& layer) const {
  const bool shrinks = layer.keeps_part || gives_sum(layer);
  return graph_.values[layer.output] * (graph_.is_part(layer.output) && shrinks ? graph_.ranks : 1);
}

void Tape::cast_inputs(const program::Function& function, std::vector<VarId>& inputs,
                       const std::string& layer) {
  const CastPolicy policy = cast_policy(function);
  if (!autocasts()) return;
  if (policy == CastPolicy::kAsIs) return;
  const ElementType type = policy == CastPolicy::kNarrow ? narrow() : ElementType::kFp32;
  for (VarId& input : inputs) input = cast(input, type, layer);
}

Tape::VarId Tape::cast(VarId from, ElementType type, const std::string& layer) {
  if (vars_[from].type == type || !is_cast(vars_[from].type)) return from;
  const bool is_weight = vars_[from].leaf != kNoIndex;
  const bool once = is_weight && vars_[from].type == ElementType::kFp32;
  if (once && weight_casts_.contains(from)) return weight_casts_[from];
  if (once)
    if (const auto known = cast_before(from, type)) return *known;
  const program::Buffer& source = program_.buffers[vars_[from].buffer];
  const std::string what = is_weight ? source.name : "input of " + layer;
  const std::int64_t elements = source.elements();
  const VarId to = apply(program::Cast{elements}, {from},
                         what + " in " + std::string(word_of(type)), elements, {}, type);
  if (is_weight) weight_copies_.insert(to);
  if (once) weight_casts_[from] = to;
  return to;
}

std::optional<Tape::VarId> Tape::cast_before(VarId weight, ElementType type) {
  const auto parameter = std::ranges::find(parameters_, weight);
  const auto id = static_cast<ParameterId>(parameter - parameters_.begin());
  const auto known = options_.weight_casts.find(id);
  if (known == options_.weight_casts.end()) return std::nullopt;
  Var copy;
  copy.buffer = known->second;
  copy.type = type;
  copy.needs_gradient = vars_[weight].needs_gradient;
  ++vars_[weight].uses;
  Entry entry;
  entry.function = program::Cast{program_.buffers[copy.buffer].elements()};
  entry.inputs = {weight};
  entry.block = block_;
  entry.piece = piece_;
  entry.output = add_var(copy);
  weight_copies_.insert(entry.output);
  weight_casts_[weight] = entry.output;
  entries_.push_back(entry);
  return entry.output;
}

Tape::VarId Tape::apply(const program::Function& function, const std::vector<VarId>& inputs,
                        const std::string& name, std::int64_t elements,
                        const std::vector<SideResult>& side_results,
                        std::optional<ElementType> result_type) {
  Var output;
  output.piece = piece_;
  output.type = result_type.value_or(output_type(function, inputs));
  const ElementType input_type =
      !inputs.empty() && is_cast(type_of(inputs[0])) ? type_of(inputs[0]) : output.type;
  const bool is_weight_copy = result_type && vars_[inputs[0]].leaf != kNoIndex;
  output.buffer = new_buffer(name, elements, output.type,
                             is_weight_copy ? Role::kWorkspace : Role::kActivation);
  Entry entry;
  entry.function = function;
  entry.inputs = inputs;
  entry.block = block_;
  entry.piece = piece_;
  entry.recomputed = recomputes_;
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
  auto first = static_cast<Index>(program_.operations.size());
  if (counts_batches(function)) push_batch_count();
  const Index last = emit(function, operation_type(function, input_type), std::move(operands));
  for (; first <= last; ++first) entry.operations.push_back(first);
  entry.output = add_var(output);
  entries_.push_back(std::move(entry));
  return entries_.back().output;
}

ElementType Tape::output_type(const program::Function& function,
                              const std::vector<VarId>& inputs) const {
  if (inputs.empty()) return options_.precision.model;
  if (std::holds_alternative<program::Embedding>(function)) return type_of(inputs[1]);
  // Cosines and sines have the model's type, or autocast's FP32.
  if (std::holds_alternative<program::Rotate>(function) && !is_narrow(options_.precision.model))
    return ElementType::kFp32;
  // The kernel of a sum reads two types, and gives the wider one.
  if (std::holds_alternative<program::Add>(function) && type_of(inputs[0]) != type_of(inputs[1]))
    return ElementType::kFp32;
  return type_of(inputs[0]);
}

void Tape::add_running_moments(const program::Function& function, Operands& operands) {
  const auto* norm = std::get_if<program::BatchNorm>(&function);
  if (!norm || !norm->training) return;
  operands.writes.push_back(operands.reads[3]);
  operands.writes.push_back(operands.reads[4]);
}

// torch/nn/modules/batchnorm.py: self.num_batches_tracked.add_(1), in training; one of its own for
// each module, of one number. Of a compiled model it is part of another kernel.
bool Tape::counts_batches(const program::Function& function) const {
  const auto* norm = std::get_if<program::BatchNorm>(&function);
  return norm && norm->training && norm->part == program::Part::kForward && !options_.compile.fuse;
}

// The number is read by nobody, and has no buffer.
void Tape::push_batch_count() {
  constexpr ElementType count_type = ElementType::kInt64;
  program::Operation count =
      pointwise("add_ (batches tracked)", "aten::add_", program::OperationKind::kElementwise, 1, 1,
                2.0 * static_cast<double>(program::size_of(count_type)));
  count.type = count_type;
  push(std::move(count));
}

Index Tape::static_copy(Index from, const std::string& name) {
  const program::Buffer like = program_.buffers[from];
  const Index to = new_buffer(name + ", where the graph reads it", like.elements(), like.type,
                              Role::kActivation);
  program::Operation& copy =
      program_.operations[emit(program::Cast{like.elements()}, like.type, {{from}, {to}})];
  copy.kernel = "foreach_copy";
  copy.framework = "aten::_foreach_copy_";
  copy.is_gradient = false;
  return to;
}

Index Tape::emit(const program::Function& function, ElementType type, Operands operands) {
  program::Operation operation = make_operation(program_, function, type, std::move(operands));
  operation.is_gradient = in_backward_;
  if (in_backward_ && std::holds_alternative<program::Cast>(function))
    operation.framework = "ToCopyBackward0";
  if (in_backward_ && (std::holds_alternative<program::Multiply>(function) ||
                       std::holds_alternative<program::Product>(function)))
    operation.framework = "MulBackward0";
  if (const auto* copy = std::get_if<program::CopyRuns>(&function); copy && copy->run == 1) {
    // The pooling before a flatten wants gradients that lie as its result does
    // (aten/src/ATen/native/cuda/DilatedMaxPool2d.cu).
    if (in_backward_) operation.framework = "MaxPool2DWithIndicesBackward0";
    if (options_.compile.fuse) operation.kernel = operation.framework = "triton_poi_fused_clone";
  }
  // cuDNN's batch norms have weights of FP32 (aten/src/ATen/native/Normalization.cpp,
  // _select_batch_norm_backend).
  if (in_backward_ && std::holds_alternative<program::BatchNorm>(function) &&
      program_.buffers[operation.reads[2]].type != ElementType::kFp32)
    operation.framework = "NativeBatchNormBackward0";
  const auto* attention = std::get_if<program::Attention>(&function);
  if (attention && !attention->flash) return push_attention(operation);
  if (attention && attention->is_grouped() && in_backward_)
    return push_with_sums_of_heads(std::move(operation));
  if (attention && attention->packed && attention->part != program::Part::kForward)
    return push_packed_gradient(std::move(operation));
  const auto* activation = std::get_if<program::Activation>(&function);
  if (activation && activation->written_out && !options_.compile.fuse)
    return push_written_gelu(operation);
  // FSDP's root stays eager beside blocks that are compiled.
  const bool is_eager = !options_.compile.fuse || piece_ == PlannedLaunch::kNotCompiled;
  const auto* norm = std::get_if<program::RmsNorm>(&function);
  if (norm && norm->written_out && is_eager) return push_written_norm(operation);
  const auto* rotation = std::get_if<program::Rotate>(&function);
  if (rotation && rotation->written_out && !options_.compile.fuse) return push_rotation(operation);
  return push(std::move(operation));
}

Index Tape::push(program::Operation operation, bool same_operator) {
  program_.operations.push_back(std::move(operation));
  const auto id = static_cast<Index>(program_.operations.size() - 1);
  list_->push_back({id, {}, {}, same_operator, block_, piece_});
  return id;
}

}  // namespace trainscope::train
