#include <algorithm>

#include "host/attention.h"
#include "host/average_pool.h"
#include "host/batch_norm.h"
#include "host/calculation.h"
#include "host/cast.h"
#include "host/conv2d.h"
#include "host/dropout.h"
#include "host/embedding.h"
#include "host/gelu.h"
#include "host/head_groups.h"
#include "host/layer_norm.h"
#include "host/linear.h"
#include "host/max_pool.h"
#include "host/relu.h"
#include "host/rms_norm.h"
#include "host/rotate.h"
#include "host/silu.h"
#include "host/tanh.h"
#include "host/tiled_attention.h"
#include "program/rotary.h"

namespace trainscope::host {
namespace {

using program::Part;

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

ImageLayout layout(bool channels_last) {
  return channels_last ? ImageLayout::kChannelsLast : ImageLayout::kChannelsFirst;
}

Conv2d conv_of(const program::Convolution& f) {
  Conv2d conv;
  conv.input = {size(f.batch), size(f.channels), size(f.height), size(f.width),
                layout(f.channels_last)};
  conv.outputs = size(f.outputs);
  conv.groups = size(f.groups);
  conv.vertical = {size(f.kernel), size(f.stride), size(f.padding), 1};
  conv.horizontal = conv.vertical;
  return conv;
}

// Packed, q, k and v lie side by side for each token, as one projection writes them.
AttentionShape shape_of(const program::Attention& f) {
  AttentionShape shape;
  shape.batch = size(f.batch);
  shape.heads = size(f.heads);
  shape.length = size(f.length);
  shape.width = size(f.width);
  const std::size_t token = shape.heads * shape.width;
  const std::size_t step = f.packed ? 3 * token : token;
  shape.inputs = {shape.length * step, shape.width, step};
  shape.outputs = {shape.length * token, shape.width, token};
  return shape;
}

HeadGroups groups_of(const program::Attention& f) {
  return {size(f.batch * f.length), size(f.key_heads()), size(f.heads / f.key_heads()),
          size(f.width)};
}

}  // namespace

Values Calculation::in(std::size_t operand) const {
  return interpreter_.stores_[operation_.reads[operand]].values;
}
Results Calculation::out(std::size_t operand) const {
  return interpreter_.stores_[operation_.writes[operand]].values;
}
std::span<const std::int64_t> Calculation::whole(std::size_t operand) const {
  return interpreter_.stores_[operation_.reads[operand]].whole;
}

Calculation::Pair Calculation::rounded(std::size_t more_room, Results& more) const {
  const Values a = in(0), b = in(1);
  const bool tf32 = operation_.type == program::ElementType::kTf32;
  const std::size_t copies = tf32 ? a.size() + b.size() : 0;
  const Results room = interpreter_.room(copies + more_room);
  more = room.subspan(copies);
  if (!tf32) return {a, b};
  const Results first = room.first(a.size()), second = room.subspan(a.size(), b.size());
  cast(NumberFormat::kTf32, a, first, workers_);
  cast(NumberFormat::kTf32, b, second, workers_);
  return {first, second};
}

void Calculation::operator()(const program::Linear& f) {
  const LinearShape shape{size(f.rows), size(f.inputs), size(f.outputs), size(f.row_stride())};
  const std::size_t begin = size(f.step * f.inputs);  // of x
  Results unused;
  if (f.part == Part::kBiasGradient)
    return linear_backward(shape, {}, {}, in(0), {{}, {}, out(0)}, Into::kReplace, workers_);
  const Pair pair = rounded(0, unused);
  switch (f.part) {
    case Part::kForward:
      return linear_forward(shape, pair.first.subspan(begin), pair.second,
                            f.bias ? in(2) : Values{}, out(0), workers_);
    case Part::kInputGradient:
      return linear_backward(shape, {}, pair.second, pair.first, {out(0), {}, {}}, Into::kReplace,
                             workers_);
    default:
      return linear_backward(shape, pair.second.subspan(begin), {}, pair.first, {{}, out(0), {}},
                             Into::kReplace, workers_);
  }
}

void Calculation::operator()(const program::Convolution& f) {
  const Conv2d conv = conv_of(f);
  Results workspace;
  if (f.part == Part::kBiasGradient)
    return conv2d_backward(conv, {}, {}, in(0), {{}, {}, out(0)}, {}, Into::kReplace, workers_);
  const Pair pair = rounded(conv.workspace(), workspace);
  switch (f.part) {
    case Part::kForward:
      return conv2d_forward(conv, pair.first, pair.second, f.bias ? in(2) : Values{}, out(0),
                            workspace, workers_);
    case Part::kInputGradient:
      return conv2d_backward(conv, {}, pair.second, pair.first, {out(0), {}, {}}, workspace,
                             Into::kReplace, workers_);
    default:
      return conv2d_backward(conv, pair.second, {}, pair.first, {{}, out(0), {}}, workspace,
                             Into::kReplace, workers_);
  }
}

void Calculation::operator()(const program::Activation& f) {
  const bool forward = f.part == Part::kForward;
  if (f.kind == program::ActivationKind::kRelu)
    return forward ? relu_forward(in(0), out(0), workers_)
                   : relu_backward(in(1), in(0), out(0), workers_);
  if (f.kind == program::ActivationKind::kTanh)
    return forward ? tanh_forward(in(0), out(0), workers_)
                   : tanh_backward(in(1), in(0), out(0), workers_);
  if (f.kind == program::ActivationKind::kSilu)
    return forward ? silu_forward(in(0), out(0), workers_)
                   : silu_backward(in(1), in(0), out(0), workers_);
  const Gelu kind = f.kind == program::ActivationKind::kGelu ? Gelu::kErf : Gelu::kTanh;
  return forward ? gelu_forward(kind, in(0), out(0), workers_)
                 : gelu_backward(kind, in(1), in(0), out(0), workers_);
}

void Calculation::operator()(const program::MaxPooling& f) {
  MaxPool pool;
  pool.input = {size(f.batch), size(f.channels), size(f.height), size(f.width),
                layout(f.channels_last)};
  pool.vertical = {size(f.kernel), size(f.stride), size(f.padding), 1};
  pool.horizontal = pool.vertical;
  if (f.part != Part::kForward)
    return max_pool_backward(pool, in(0), interpreter_.stores_[operation_.reads[1]].pixels, out(0),
                             workers_);
  std::vector<std::int32_t>& pixels = interpreter_.stores_[operation_.writes[1]].pixels;
  pixels.resize(pool.output().size());
  max_pool_forward(pool, in(0), out(0), pixels, workers_);
}

void Calculation::operator()(const program::AveragePooling& f) {
  const ImageShape shape{size(f.batch), size(f.channels), 1, size(f.pixels),
                         layout(f.channels_last)};
  return f.part == Part::kForward ? average_pool_forward(shape, in(0), out(0), workers_)
                                  : average_pool_backward(shape, in(0), out(0), workers_);
}

void Calculation::operator()(const program::BatchNorm& f) {
  const ImageShape shape{size(f.batch), size(f.channels), size(f.height), size(f.width),
                         layout(f.channels_last)};
  if (f.part != Part::kForward)
    return batch_norm_backward(f.training ? Mode::kTrain : Mode::kEvaluate, shape, in(1), in(2),
                               in(0), in(3), in(4), {out(0), out(1), out(2)}, Into::kReplace,
                               workers_);
  if (f.training)
    return batch_norm_train(shape, in(0), in(1), in(2), out(0), {out(1), out(2)}, {out(3), out(4)},
                            kBatchNormEps, workers_);
  batch_norm_evaluate(shape, in(0), in(1), in(2), in(3), in(4), out(0), {out(1), out(2)},
                      kBatchNormEps, workers_);
}

void Calculation::operator()(const program::LayerNorm& f) {
  const MatrixShape shape{size(f.rows), size(f.columns)};
  switch (f.part) {
    case Part::kForward:
      return layer_norm_forward(shape, in(0), in(1), in(2), out(0), {out(1), out(2)}, kLayerNormEps,
                                workers_);
    case Part::kInputGradient:
      return layer_norm_backward(shape, in(1), in(2), in(0), in(3), in(4), {out(0), {}, {}},
                                 Into::kReplace, workers_);
    default:
      return layer_norm_backward(shape, in(1), {}, in(0), in(2), in(3), {{}, out(0), out(1)},
                                 Into::kReplace, workers_);
  }
}

void Calculation::operator()(const program::RmsNorm& f) {
  const MatrixShape shape{size(f.rows), size(f.columns)};
  switch (f.part) {
    case Part::kForward:
      return rms_norm_forward(shape, in(0), in(1), out(0), out(1), kRmsNormEps, workers_);
    case Part::kInputGradient:
      return rms_norm_backward_input(shape, in(1), in(2), in(0), in(3), out(0), workers_);
    default:
      return rms_norm_backward_weight(shape, in(1), in(0), in(2), out(0), Into::kReplace, workers_);
  }
}

void Calculation::operator()(const program::Rotate& f) {
  const Rotation shape{size(f.batch), size(f.length), size(f.heads), size(f.width), f.back};
  rotate(shape, program::rotary_frequencies(shape.width, f.theta), in(0), out(0), workers_);
}

void Calculation::operator()(const program::Embedding& f) {
  const MatrixShape table{size(f.vocabulary), size(f.width)};
  if (f.part != Part::kForward)
    return embedding_backward(table, whole(1), in(0), out(0), Into::kReplace, workers_);
  if (f.ranks == 1) return embedding_forward(table, in(1), whole(0), out(0), workers_);
  embedding_forward_of_rows(table, own_rank(f.rank, f.ranks) * f.vocabulary, in(1), whole(0),
                            out(0), workers_);
}

void Calculation::operator()(const program::AddPositions& f) {
  const std::size_t row = size(f.length * f.width);
  if (f.part == Part::kForward) {
    const Values x = in(0), table = in(1).subspan(size(own_rank(f.rank, f.ranks)) * row);
    const Results y = out(0);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + table[i % row];
    return;
  }
  const Values dy = in(0);
  const Results dtable = out(0);
  std::copy_n(dy.begin(), row, dtable.begin());
  for (std::size_t i = row; i < dy.size(); ++i) dtable[i % row] += dy[i];
  std::fill(dtable.begin() + static_cast<std::ptrdiff_t>(row), dtable.end(), 0.0F);
}

void Calculation::operator()(const program::Dropout& f) {
  constexpr std::uint64_t kDropoutStream = 1;
  host::Dropout dropout;
  dropout.p = static_cast<float>(f.p);
  dropout.seed = static_cast<std::uint64_t>(interpreter_.program_.seed);
  dropout.stream = kDropoutStream;
  const bool draws = f.part == Part::kForward && !f.again;
  std::int64_t& place = draws ? interpreter_.stores_[operation_.writes[1]].whole.front()
                              : interpreter_.stores_[operation_.reads[1]].whole.front();
  if (draws) {
    std::uint64_t& drawn = interpreter_.drawn_on(operation_.writes[0]);
    const std::int64_t before = own_rank(f.rank, f.ranks) * f.elements;
    place = static_cast<std::int64_t>(drawn) + before;
    drawn += static_cast<std::uint64_t>(f.ranks * f.elements);
  }
  dropout.offset = static_cast<std::uint64_t>(place);
  apply_dropout(dropout, in(0), out(0), workers_);
}

void Calculation::operator()(const program::Attention& f) {
  const AttentionShape shape = shape_of(f);
  const std::size_t token = shape.heads * shape.width;
  const auto parts = [&f, token](auto operand, std::size_t first) {
    if (!f.packed) return std::array{operand(first), operand(first + 1), operand(first + 2)};
    const auto all = operand(first);
    return std::array{all, all.subspan(token), all.subspan(2 * token)};
  };
  const auto reads = [this](std::size_t operand) { return in(operand); };
  const auto writes = [this](std::size_t operand) { return out(operand); };
  const AttentionTiles tiles;
  const bool forward = f.part == Part::kForward;
  const HeadGroups groups = groups_of(f);
  const std::size_t repeated = f.is_grouped() ? groups.all() : 0;
  Results workspace = interpreter_.room(
      (f.flash ? tiled_attention_workspace(shape, tiles) : attention_workspace(shape)) +
      (forward ? 2 : 4) * repeated);
  const auto take = [&workspace, repeated] {
    const Results taken = workspace.first(repeated);
    workspace = workspace.subspan(repeated);
    return taken;
  };
  auto [q, k, v] = parts(reads, forward ? 0 : 1);
  if (f.is_grouped())
    for (Values* shared : {&k, &v}) {
      const Results all = take();
      repeat_heads(groups, *shared, all, workers_);
      *shared = all;
    }
  if (forward)
    return f.flash ? tiled_attention_forward(shape, tiles, {q, k, v}, out(0), out(1), workspace,
                                             workers_)
                   : attention_forward(shape, {q, k, v}, out(0), out(1), workers_);
  auto [dq, dk, dv] = parts(writes, 0);
  const Results sums[] = {dk, dv};
  if (f.is_grouped()) {
    dk = take();
    dv = take();
  }
  const std::size_t kept = f.packed ? 2 : 4;  // what forward wrote for this
  f.flash
      ? tiled_attention_backward(shape, tiles, {q, k, v}, in(kept + 1), in(kept), in(0),
                                 {dq, dk, dv}, workspace, workers_)
      : attention_backward(shape, {q, k, v}, in(kept), in(0), {dq, dk, dv}, workspace, workers_);
  if (!f.is_grouped()) return;
  sum_heads(groups, dk, sums[0], workers_);
  sum_heads(groups, dv, sums[1], workers_);
}

}  // namespace trainscope::host
