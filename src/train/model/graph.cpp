#include "train/model/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace trainscope::train {
namespace {

using program::Initial;

constexpr Initial kZeros{};
constexpr Initial kOnes{Initial::Kind::kConstant, 1};

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void expect_images(const std::string& layer, const Tensor& x) {
  if (x.shape.size() != 4)
    throw InputError(fmt::format(
        "layer {} needs images [batch, channels, height, width], and gets [{}]; choose data of "
        "images",
        layer, fmt::join(x.shape, ", ")));
}

void expect_window(const std::string& layer, const Tensor& x, std::int64_t kernel,
                   std::int64_t padding) {
  expect_images(layer, x);
  for (const int side : {2, 3})
    if (x.shape[static_cast<std::size_t>(side)] + 2 * padding < kernel)
      throw InputError(fmt::format(
          "layer {}: a window of {} does not fit images of {} x {}; give the model fewer "
          "poolings, or larger images",
          layer, kernel, x.shape[2], x.shape[3]));
}

}  // namespace

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters)
    if (parameter.trained)
      count += parameter.whole > 0 ? parameter.whole : parameter.elements * parameter.initial.ranks;
  return count;
}

bool is_recomputed(int block, int every) {
  return every > 0 && block > 0 && block % every == 0;
}

std::int64_t Tensor::elements() const {
  return product(shape);
}

GraphBuilder::GraphBuilder(std::int64_t batch, bool channels_last) : channels_last_(channels_last) {
  graph_.batch = batch;
  graph_.values.push_back(0);
}

Tensor GraphBuilder::images(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Tensor x{0, {graph_.batch, channels, height, width}};
  graph_.values[0] = x.elements();
  return x;
}

Tensor GraphBuilder::numbers(std::int64_t count) {
  Tensor x{0, {graph_.batch, count}};
  graph_.values[0] = x.elements();
  return x;
}

Tensor GraphBuilder::tokens(std::int64_t length) {
  graph_.reads_tokens = true;
  Tensor x{0, {graph_.batch, length}};
  graph_.values[0] = x.elements();
  return x;
}

Tensor GraphBuilder::zeros(std::int64_t width) {
  const std::int64_t elements = graph_.batch * width;
  return layer(numbered("zeros"), program::Fill{elements, 0}, {}, {}, {graph_.batch, width});
}

Tensor GraphBuilder::step_of(const Tensor& x, std::int64_t steps, std::int64_t step) const {
  const std::int64_t width = x.elements() / graph_.batch;
  assert(x.steps == 1 && width % steps == 0 && step < steps);
  return {x.id, {graph_.batch, width / steps}, steps, step};
}

ParameterId GraphBuilder::parameter(const std::string& name, std::int64_t elements,
                                    const Initial& initial, bool trained) {
  const auto place = std::find_if(declared_.begin(), declared_.end(), [&](ParameterId id) {
    return graph_.parameters[id].name == name;
  });
  if (place != declared_.end()) {
    const ParameterId id = *place;
    declared_.erase(place);
    graph_.parameters[id] = {name, elements, initial, trained};
    return id;
  }
  const auto known = std::ranges::find(graph_.parameters, name, &Parameter::name);
  if (known != graph_.parameters.end()) {
    assert(known->elements == elements);
    return static_cast<ParameterId>(known - graph_.parameters.begin());
  }
  graph_.parameters.push_back({name, elements, initial, trained});
  return static_cast<ParameterId>(graph_.parameters.size() - 1);
}

Tensor GraphBuilder::layer(const std::string& name, program::Function function,
                           const std::vector<Tensor>& inputs, std::vector<ParameterId> parameters,
                           std::vector<std::int64_t> shape, std::vector<SideResult> side_results) {
  Tensor y{static_cast<ValueId>(graph_.values.size()), std::move(shape)};
  graph_.values.push_back(y.elements());
  Layer layer;
  layer.name = name;
  layer.function = std::move(function);
  for (const Tensor& input : inputs) {
    assert(input.steps == 1 || std::holds_alternative<program::Linear>(layer.function));
    layer.inputs.push_back(input.id);
  }
  layer.parameters = std::move(parameters);
  layer.output = y.id;
  layer.side_results = std::move(side_results);
  layer.block = block_;
  graph_.layers.push_back(std::move(layer));
  return y;
}

// torch.nn.Linear and Conv2d: kaiming_uniform_(a = √5), which is U(-1/√inputs, 1/√inputs), for
// weights and biases (torch/nn/modules/linear.py, conv.py).
Initial GraphBuilder::weight_initial(std::int64_t inputs) const {
  if (deviation_ > 0) return {Initial::Kind::kNormal, deviation_};
  return {Initial::Kind::kUniform, 1 / std::sqrt(static_cast<double>(inputs))};
}

Tensor GraphBuilder::linear(const std::string& name, const Tensor& x, std::int64_t outputs,
                            bool bias) {
  const std::int64_t inputs = x.shape.back();
  std::vector<std::int64_t> shape = x.shape;
  shape.back() = outputs;
  std::vector<ParameterId> parameters{
      parameter(name + ".weight", outputs * inputs, weight_initial(inputs))};
  if (bias)
    parameters.push_back(
        parameter(name + ".bias", outputs, deviation_ > 0 ? kZeros : weight_initial(inputs)));
  program::Linear function{x.elements() / inputs, inputs, outputs, bias};
  function.steps = x.steps;
  function.step = x.step;
  return layer(name, function, {x}, std::move(parameters), std::move(shape));
}

void GraphBuilder::declare(const std::vector<std::string>& parameters) {
  for (const std::string& name : parameters) {
    graph_.parameters.push_back({name, 0, kZeros});
    declared_.push_back(static_cast<ParameterId>(graph_.parameters.size() - 1));
  }
}

Tensor GraphBuilder::tied_linear(const Tensor& x, const std::string& embedding,
                                 const std::string& bias) {
  const std::int64_t inputs = x.shape.back();
  for (ParameterId id = 0; id < graph_.parameters.size(); ++id) {
    if (graph_.parameters[id].name != embedding + ".weight") continue;
    std::vector<std::int64_t> shape = x.shape;
    shape.back() = graph_.parameters[id].elements / inputs;
    const program::Linear function{x.elements() / inputs, inputs, shape.back(), !bias.empty()};
    std::vector<ParameterId> parameters{id};
    if (!bias.empty()) parameters.push_back(parameter(bias, shape.back(), kZeros));
    return layer("head", function, {x}, std::move(parameters), shape);
  }
  throw InputError("no embedding is named " + embedding);
}

Tensor GraphBuilder::conv(const std::string& name, const Tensor& x, std::int64_t outputs,
                          const WindowOptions& window) {
  expect_window(name, x, window.kernel, window.padding);
  program::Convolution f;
  f.batch = x.shape[0];
  f.channels = x.shape[1];
  f.height = x.shape[2];
  f.width = x.shape[3];
  f.outputs = outputs;
  f.kernel = window.kernel;
  f.stride = window.stride;
  f.padding = window.padding;
  f.groups = window.groups;
  f.bias = window.bias;
  f.channels_last = channels_last_;
  const std::int64_t inputs = f.channels / f.groups * f.kernel * f.kernel;
  std::vector<ParameterId> parameters{
      parameter(name + ".weight", outputs * inputs, weight_initial(inputs))};
  if (f.bias) parameters.push_back(parameter(name + ".bias", outputs, weight_initial(inputs)));
  return layer(name, f, {x}, std::move(parameters),
               {f.batch, outputs, f.out_height(), f.out_width()});
}

Tensor GraphBuilder::relu(const Tensor& x) {
  return layer(numbered("relu"), program::Activation{program::ActivationKind::kRelu, x.elements()},
               {x}, {}, x.shape);
}

Tensor GraphBuilder::gelu(const Tensor& x, bool tanh, bool written_out) {
  program::Activation f;
  f.kind = tanh ? program::ActivationKind::kGeluTanh : program::ActivationKind::kGelu;
  f.elements = x.elements();
  f.written_out = written_out;
  return layer(numbered("gelu"), f, {x}, {}, x.shape);
}

Tensor GraphBuilder::silu(const Tensor& x) {
  return layer(numbered("silu"), program::Activation{program::ActivationKind::kSilu, x.elements()},
               {x}, {}, x.shape);
}

Tensor GraphBuilder::tanh(const Tensor& x) {
  return layer(numbered("tanh"), program::Activation{program::ActivationKind::kTanh, x.elements()},
               {x}, {}, x.shape);
}

Tensor GraphBuilder::max_pool(const Tensor& x, std::int64_t kernel, std::int64_t stride,
                              std::int64_t padding) {
  expect_window("max_pool", x, kernel, padding);
  program::MaxPooling f;
  f.batch = x.shape[0];
  f.channels = x.shape[1];
  f.height = x.shape[2];
  f.width = x.shape[3];
  f.kernel = kernel;
  f.stride = stride;
  f.padding = padding;
  f.channels_last = channels_last_;
  std::vector<std::int64_t> shape{f.batch, f.channels, f.out_height(), f.out_width()};
  const std::int64_t chosen = train::product(shape);  // PyTorch keeps them as int64
  return layer(numbered("max_pool"), f, {x}, {}, std::move(shape),
               {{"chosen pixels", chosen, program::ElementType::kInt64}});
}

Tensor GraphBuilder::average_pool(const Tensor& x) {
  expect_images("average_pool", x);
  program::AveragePooling f{x.shape[0], x.shape[1], x.shape[2] * x.shape[3], channels_last_};
  return layer(numbered("average_pool"), f, {x}, {}, {x.shape[0], x.shape[1]});
}

// What lies in that order already is renamed: a view. Else it is clone(), and a view of that
// (aten/src/ATen/native/TensorShape.cpp, reshape_symint).
Tensor GraphBuilder::flatten(const Tensor& x) {
  const std::int64_t channels = x.shape[1], pixels = x.elements() / (x.shape[0] * channels);
  std::vector<std::int64_t> shape{x.shape[0], channels * pixels};
  if (!channels_last_ || channels == 1 || pixels == 1) return {x.id, std::move(shape)};
  program::CopyRuns f;
  f.outer = channels;
  f.inner = pixels;
  f.inner_step = channels;
  return layer(numbered("flatten"), f, {x}, {}, std::move(shape));
}

Tensor GraphBuilder::batch_norm(const std::string& name, const Tensor& x) {
  expect_images(name, x);
  program::BatchNorm f{x.shape[0], x.shape[1], x.shape[2], x.shape[3], channels_last_};
  const std::int64_t channels = x.shape[1];
  return layer(
      name, f, {x},
      {parameter(name + ".weight", channels, kOnes), parameter(name + ".bias", channels, kZeros),
       parameter(name + ".running_mean", channels, kZeros, false),
       parameter(name + ".running_var", channels, kOnes, false)},
      x.shape, {{"mean", channels}, {"reciprocal deviation", channels}});
}

Tensor GraphBuilder::layer_norm(const std::string& name, const Tensor& x) {
  const std::int64_t columns = x.shape.back(), rows = x.elements() / columns;
  return layer(
      name, program::LayerNorm{rows, columns}, {x},
      {parameter(name + ".weight", columns, kOnes), parameter(name + ".bias", columns, kZeros)},
      x.shape, {{"mean", rows}, {"reciprocal deviation", rows}});
}

Tensor GraphBuilder::rms_norm(const std::string& name, const Tensor& x, bool written_out) {
  const std::int64_t columns = x.shape.back(), rows = x.elements() / columns;
  program::RmsNorm f{rows, columns};
  f.written_out = written_out;
  return layer(name, f, {x}, {parameter(name + ".weight", columns, kOnes)}, x.shape,
               {{"reciprocal root", rows}});
}

Tensor GraphBuilder::rotate(const Tensor& x, std::int64_t heads, double theta) {
  program::Rotate f{x.shape[0], x.shape[1], heads, x.shape[2] / heads, theta};
  f.written_out = true;
  return layer(numbered("rotary embedding"), f, {x}, {}, x.shape);
}

Tensor GraphBuilder::embedding(const std::string& name, const Tensor& tokens,
                               std::int64_t vocabulary, std::int64_t width) {
  // torch.nn.Embedding: N(0, 1).
  const Initial initial{Initial::Kind::kNormal, deviation_ > 0 ? deviation_ : 1};
  std::vector<std::int64_t> shape = tokens.shape;
  shape.push_back(width);
  return layer(name, program::Embedding{tokens.elements(), vocabulary, width}, {tokens},
               {parameter(name + ".weight", vocabulary * width, initial)}, std::move(shape));
}

Tensor GraphBuilder::positions(const std::string& name, const Tensor& x, std::int64_t rows) {
  const Initial initial{Initial::Kind::kNormal, deviation_ > 0 ? deviation_ : 1};
  const std::int64_t length = x.shape[1], width = x.shape[2];
  if (rows == 0) rows = length;
  if (rows < length)
    throw InputError(
        fmt::format("{} has {} places, and a sequence has {} tokens; set "
                    "model.seq_len = {} or less",
                    name, rows, length, rows));
  return layer(name, program::AddPositions{x.shape[0], length, width}, {x},
               {parameter(name + ".weight", rows * width, initial)}, x.shape);
}

Tensor GraphBuilder::segments(const std::string& name, const Tensor& x, std::int64_t types) {
  const Initial initial{Initial::Kind::kNormal, deviation_ > 0 ? deviation_ : 1};
  const std::int64_t width = x.shape[2];
  return layer(name, program::AddPositions{x.shape[0] * x.shape[1], 1, width}, {x},
               {parameter(name + ".weight", types * width, initial)}, x.shape);
}

Tensor GraphBuilder::dropout(const Tensor& x, double p) {
  if (p == 0) return x;
  return layer(numbered("dropout"), program::Dropout{x.elements(), p}, {x}, {}, x.shape,
               {{"random state", 1, program::ElementType::kInt64},
                {"what it keeps", x.elements(), program::ElementType::kBool}});
}

Tensor GraphBuilder::attention(const Tensor& projection, std::int64_t heads, bool causal,
                               const AttentionWay& way) {
  return attention_layer({projection}, projection.shape[2] / 3, heads, causal, way);
}

Tensor GraphBuilder::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                               std::int64_t heads, bool causal, const AttentionWay& way,
                               std::int64_t kv_heads) {
  return attention_layer({q, k, v}, q.shape[2], heads, causal, way, kv_heads);
}

Tensor GraphBuilder::attention_layer(const std::vector<Tensor>& inputs, std::int64_t width,
                                     std::int64_t heads, bool causal, const AttentionWay& way,
                                     std::int64_t kv_heads) {
  const std::int64_t length = inputs[0].shape[1];
  const bool flash = way.kernel == AttentionKernel::kFlash;
  if (width % heads != 0)
    throw InputError(fmt::format("a width of {} cannot be split among {} heads", width, heads));
  program::Attention f{graph_.batch, heads, length, width / heads, causal, flash};
  f.packed = inputs.size() == 1;
  f.kv_heads = kv_heads == heads ? 0 : kv_heads;
  f.eager = way.kernel == AttentionKernel::kEager;
  if (f.eager) {
    f.code = way.code;
    f.dropout = way.dropout;
  }
  const SideResult kept = flash
                              ? SideResult{"sums of rows", graph_.batch * heads * length}
                              : SideResult{"probabilities", graph_.batch * heads * length * length};
  return layer(numbered("attention"), f, inputs, {}, {graph_.batch, length, width}, {kept});
}

Tensor GraphBuilder::add(const Tensor& a, const Tensor& b) {
  return layer(numbered("add"), program::Add{a.elements()}, {a, b}, {}, a.shape);
}

Tensor GraphBuilder::product(const Tensor& a, const Tensor& b) {
  return layer(numbered("product"), program::Product{a.elements()}, {a, b}, {}, a.shape);
}

Graph GraphBuilder::finish(const Tensor& logits) {
  assert(declared_.empty());
  graph_.logits = logits.id;
  graph_.classes = logits.shape.back();
  graph_.rows = logits.elements() / graph_.classes;
  return std::move(graph_);
}

}  // namespace trainscope::train
