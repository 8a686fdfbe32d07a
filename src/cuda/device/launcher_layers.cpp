// The layers of a model.

#include <array>
#include <vector>

#include "cuda/device/launcher.h"
#include "cuda/device/shapes.h"
#include "kernels/activation.h"
#include "kernels/average_pool.h"
#include "kernels/batch_norm.h"
#include "kernels/conv2d.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/head_groups.h"
#include "kernels/layer_norm.h"
#include "kernels/max_pool.h"
#include "kernels/positions.h"
#include "kernels/reductions.h"
#include "kernels/rms_norm.h"
#include "kernels/rotate.h"
#include "program/rotary.h"

namespace trainscope::cuda {
namespace {

using kernels::Into;
using program::Part;

kernels::Activation kind_of(program::ActivationKind kind) {
  switch (kind) {
    case program::ActivationKind::kRelu:
      return kernels::Activation::kRelu;
    case program::ActivationKind::kGelu:
      return kernels::Activation::kGeluErf;
    case program::ActivationKind::kTanh:
      return kernels::Activation::kTanh;
    case program::ActivationKind::kSilu:
      return kernels::Activation::kSilu;
    default:
      return kernels::Activation::kGeluTanh;
  }
}

// Packed, q, k and v lie side by side for each token, as one projection writes them.
kernels::Attention shape_of(const program::Attention& f) {
  kernels::Attention shape;
  shape.batch = static_cast<int>(f.batch);
  shape.heads = static_cast<int>(f.heads);
  shape.length = static_cast<int>(f.length);
  shape.width = static_cast<int>(f.width);
  const std::size_t token = size(f.heads * f.width);
  const std::size_t step = f.packed ? 3 * token : token;
  shape.inputs = {size(f.length) * step, size(f.width), step};
  shape.outputs = {size(f.length) * token, size(f.width), token};
  return shape;
}

Operand part_of(const Operand& whole, std::int64_t begin) {
  Operand part{nullptr, whole.elements - begin, whole.type};
  with_type(whole.type, [&](auto element) {
    part.memory = static_cast<decltype(element)*>(whole.memory) + begin;
  });
  return part;
}

}  // namespace

// y = x wᵀ + b; dx = dy w; dw = dyᵀ x.
void Launcher::operator()(const program::Linear& f) {
  const auto& r = call_.reads;
  const auto of_step = [&](const Operand& x) { return part_of(x, f.step * f.inputs); };
  const Operand& result = call_.writes[0];
  const program::ElementType type = call_.operation->type;
  switch (f.part) {
    case Part::kForward:
      return libraries_.products.multiply(
          {f.rows, f.outputs, f.inputs, false, true, of_step(r[0]), r[1], result,
           f.bias ? r[2] : Operand{}, type, f.row_stride()},
          stream_);
    case Part::kInputGradient:
      return libraries_.products.multiply(
          {f.rows, f.inputs, f.outputs, false, false, r[0], r[1], result, {}, type}, stream_);
    case Part::kWeightGradient:
      return libraries_.products.multiply({f.outputs,
                                           f.inputs,
                                           f.rows,
                                           true,
                                           false,
                                           r[0],
                                           of_step(r[1]),
                                           result,
                                           {},
                                           type,
                                           0,
                                           f.row_stride()},
                                          stream_);
    default:
      break;
  }
  with_type(r[0].type, [&](auto element) {
    using T = decltype(element);
    const kernels::Matrix shape = matrix(f.rows, f.outputs);
    float* room = operands_.room(kernels::column_sums_workspace(shape));
    with_type(result.type, [&](auto sum) {
      using Sum = decltype(sum);
      kernels::column_sums(stream_, shape, operands_.in<T>(0), room, operands_.out<Sum>(0),
                           Into::kReplace);
    });
  });
}

template <typename T>
void Launcher::launch_convolution(const program::Convolution& f) {
  const kernels::Conv2d conv = conv_of(f);
  switch (f.part) {
    case Part::kForward:
      return kernels::conv2d_forward(stream_, conv, operands_.in<T>(0), operands_.in<T>(1),
                                     f.bias ? operands_.in<T>(2) : nullptr, operands_.out<T>(0));
    case Part::kInputGradient:
      return kernels::conv2d_backward_input(stream_, conv, operands_.in<T>(1), operands_.in<T>(0),
                                            operands_.out<T>(0));
    case Part::kWeightGradient:
      return kernels::conv2d_backward_weights(
          stream_, conv, operands_.in<T>(1), operands_.in<T>(0),
          operands_.room(kernels::conv2d_weights_workspace(conv)), operands_.out<float>(0),
          Into::kReplace);
    default:
      return kernels::conv2d_backward_bias(stream_, conv, operands_.in<T>(0),
                                           operands_.room(kernels::conv2d_bias_workspace(conv)),
                                           operands_.out<float>(0), Into::kReplace);
  }
}

// A library takes operands as they lie in their buffers.
bool Launcher::convolves_by_library(const program::Convolution& f) {
  if (!libraries_.convolutions || f.part == Part::kBiasGradient) return false;
  const auto& reads = call_.reads;
  const Operand& written = call_.writes[0];
  const program::ElementType type = stored(reads[0].type);
  const bool is_weight_gradient = f.part == Part::kWeightGradient;
  if (stored(reads[1].type) != type || stored(written.type) != type) return false;
  const bool adds_bias = f.part == Part::kForward && f.bias;
  if (adds_bias && stored(reads[2].type) != type) return false;
  ConvolutionCall call;
  if (adds_bias) call.bias = reads[2];
  call.shape = conv_of(f);
  call.part = f.part;
  call.benchmark = f.benchmark;
  call.x = f.part == Part::kForward ? reads[0] : is_weight_gradient ? reads[1] : written;
  call.w = is_weight_gradient ? written : reads[1];
  call.y = f.part == Part::kForward ? written : reads[0];
  call.arithmetic = f.tf32 ? program::ElementType::kTf32 : call_.operation->type;
  return libraries_.convolutions->convolve(call, stream_);
}

void Launcher::operator()(const program::Convolution& f) {
  if (convolves_by_library(f)) return;
  with_type(call_.reads[0].type, [&](auto type) { launch_convolution<decltype(type)>(f); });
}

void Launcher::operator()(const program::Activation& f) {
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    const kernels::Matrix shape{1, size(f.elements)};
    const T* no_bias = nullptr;
    if (f.part == Part::kForward)
      return kernels::bias_activation_forward(stream_, kind_of(f.kind), shape, operands_.in<T>(0),
                                              no_bias, operands_.out<T>(0));
    // Where ReLU's result is above 0 its input was: either tells the slope.
    kernels::bias_activation_backward(stream_, kind_of(f.kind), shape, operands_.in<T>(1), no_bias,
                                      operands_.in<T>(0), operands_.out<T>(0));
  });
}

// The buffer of the chosen pixels, wide enough for PyTorch's 64 bits each, holds 32 of them.
void Launcher::operator()(const program::MaxPooling& f) {
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    if (f.part == Part::kForward)
      return kernels::max_pool_forward(stream_, pool_of(f), operands_.in<T>(0), operands_.out<T>(0),
                                       static_cast<std::int32_t*>(call_.writes[1].memory));
    kernels::max_pool_backward(stream_, pool_of(f), operands_.in<T>(0),
                               static_cast<const std::int32_t*>(call_.reads[1].memory),
                               operands_.out<T>(0));
  });
}

void Launcher::operator()(const program::AveragePooling& f) {
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    const kernels::Image shape = image_of(f);
    if (f.part == Part::kForward)
      return kernels::average_pool_forward(stream_, shape, operands_.in<T>(0), operands_.out<T>(0));
    kernels::average_pool_backward(stream_, shape, operands_.in<T>(0), operands_.out<T>(0));
  });
}

void Launcher::operator()(const program::BatchNorm& f) {
  const kernels::Image shape = image_of(f);
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    const auto kept = [](const Operand& operand) { return static_cast<float*>(operand.memory); };
    if (f.part != Part::kForward)
      return kernels::batch_norm_backward(
          stream_, shape, operands_.in<T>(1), operands_.in<float>(2), operands_.in<T>(0),
          {kept(call_.reads[3]), kept(call_.reads[4])},
          operands_.room(kernels::batch_norm_workspace(shape)), operands_.out<T>(0),
          operands_.out<float>(1), operands_.out<float>(2));
    const kernels::BatchMoments moments{operands_.out<float>(1), operands_.out<float>(2)};
    // Training writes them in the same places; evaluating only reads them.
    const auto running_moment = [&](std::size_t place) {
      return f.training ? operands_.in_out<float>(place)
                        : const_cast<float*>(operands_.in<float>(place));
    };
    const kernels::RunningMoments running{running_moment(3), running_moment(4)};
    const T* x = operands_.in<T>(0);
    const float* gamma = operands_.in<float>(1);
    const float* beta = operands_.in<float>(2);
    T* y = operands_.out<T>(0);
    if (!f.training)
      return kernels::batch_norm_evaluate(stream_, shape, x, gamma, beta, kNormEps, y, moments,
                                          running);
    kernels::batch_norm_train(stream_, shape, x, gamma, beta, kNormEps,
                              operands_.room(kernels::batch_norm_workspace(shape)), y, moments,
                              running);
  });
}

void Launcher::operator()(const program::LayerNorm& f) {
  const kernels::Matrix shape = matrix(f.rows, f.columns);
  const auto place = f.part == Part::kForward ? 0U : 1U;
  with_type(call_.reads[place].type, [&](auto type) {
    using T = decltype(type);
    switch (f.part) {
      case Part::kForward:
        return kernels::layer_norm_forward(
            stream_, shape, operands_.in<T>(0), operands_.in<float>(1), operands_.in<float>(2),
            kNormEps, operands_.out<T>(0), operands_.out<float>(1), operands_.out<float>(2));
      case Part::kInputGradient:
        return kernels::layer_norm_backward_input(
            stream_, shape, operands_.in<T>(1), operands_.in<float>(2), operands_.in<T>(0),
            operands_.in<float>(3), operands_.in<float>(4), operands_.out<T>(0));
      default:
        return kernels::layer_norm_backward_parameters(
            stream_, shape, operands_.in<T>(1), operands_.in<T>(0), operands_.in<float>(2),
            operands_.in<float>(3), operands_.room(kernels::layer_norm_workspace(shape)),
            operands_.out<float>(0), operands_.out<float>(1), Into::kReplace);
    }
  });
}

void Launcher::operator()(const program::RmsNorm& f) {
  const kernels::Matrix shape = matrix(f.rows, f.columns);
  const auto place = f.part == Part::kForward ? 0U : 1U;
  with_type(call_.reads[place].type, [&](auto type) {
    using T = decltype(type);
    switch (f.part) {
      case Part::kForward:
        return kernels::rms_norm_forward(stream_, shape, operands_.in<T>(0), operands_.in<float>(1),
                                         kRmsNormEps, operands_.out<T>(0), operands_.out<float>(1));
      case Part::kInputGradient:
        return kernels::rms_norm_backward_input(stream_, shape, operands_.in<T>(1),
                                                operands_.in<float>(2), operands_.in<T>(0),
                                                operands_.in<float>(3), operands_.out<T>(0));
      default:
        return kernels::rms_norm_backward_weight(stream_, shape, operands_.in<T>(1),
                                                 operands_.in<T>(0), operands_.in<float>(2),
                                                 operands_.room(kernels::rms_norm_workspace(shape)),
                                                 operands_.out<float>(0), Into::kReplace);
    }
  });
}

void Launcher::operator()(const program::Rotate& f) {
  const kernels::Rotation shape{size(f.batch), size(f.length), size(f.heads), size(f.width),
                                f.back};
  const std::vector<float> frequencies = program::rotary_frequencies(shape.width, f.theta);
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::rotate<T>(stream_, shape, frequencies, operands_.in<T>(0), operands_.out<T>(0));
  });
}

void Launcher::operator()(const program::Embedding& f) {
  const kernels::Matrix table = matrix(f.vocabulary, f.width);
  if (f.part == Part::kForward)
    return with_type(call_.reads[1].type, [&](auto type) {
      using T = decltype(type);
      if (f.ranks > 1)
        return kernels::embedding_forward_of_rows(stream_, table, f.rank * f.vocabulary,
                                                  operands_.in<T>(1), operands_.whole(0),
                                                  size(f.tokens), operands_.out<T>(0));
      kernels::embedding_forward(stream_, table, operands_.in<T>(1), operands_.whole(0),
                                 size(f.tokens), operands_.out<T>(0));
    });
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    float* dtable = operands_.out<float>(0);
    kernels::fill(stream_, dtable, 0.0F, table.size());
    const std::size_t count = size(f.tokens);
    kernels::embedding_backward(
        stream_, table, operands_.whole(1), count, operands_.in<T>(0),
        operands_.room<std::int32_t>(kernels::embedding_workspace(table, count)), dtable);
  });
}

void Launcher::operator()(const program::AddPositions& f) {
  const kernels::Matrix shape = matrix(f.batch, f.length * f.width);
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    if (f.part == Part::kForward)
      return kernels::add_positions(stream_, shape, operands_.in<T>(0),
                                    operands_.in<T>(1) + size(f.rank) * shape.columns,
                                    operands_.out<T>(0));
    kernels::add_positions_backward(stream_, shape, operands_.in<T>(0), operands_.size_of_write(0),
                                    operands_.out<T>(0));
  });
}

void Launcher::operator()(const program::Dropout& f) {
  const kernels::Dropout dropout = dropout_of(f, call_);
  with_type(call_.reads[0].type, [&](auto type) {
    using T = decltype(type);
    kernels::apply_dropout(stream_, dropout, operands_.in<T>(0), operands_.out<T>(0),
                           size(f.elements));
  });
}

template <typename T>
void Launcher::launch_attention(const program::Attention& f) {
  const kernels::Attention shape = shape_of(f);
  const std::size_t token = size(f.heads * f.width);
  const bool forward = f.part == Part::kForward;
  const std::size_t first = forward ? 0 : 1;
  const auto three = [&](auto take, std::size_t from) {
    if (!f.packed) return std::array{take(from), take(from + 1), take(from + 2)};
    const auto all = take(from);
    return std::array{all, all + token, all + 2 * token};
  };
  auto [q, k, v] = three([&](std::size_t i) { return operands_.in<T>(i); }, first);
  const kernels::HeadGroups groups{size(f.batch * f.length), size(f.key_heads()),
                                   size(f.heads / f.key_heads()), size(f.width)};
  if (f.is_grouped())
    for (const T** shared : {&k, &v}) {
      T* all = operands_.room<T>(groups.all());
      kernels::repeat_heads(stream_, groups, *shared, all);
      *shared = all;
    }
  const kernels::AttentionInputs<T> inputs{q, k, v};
  if (forward) {
    float* kept = operands_.out<float>(1);
    return f.flash
               ? kernels::tiled_attention_forward(stream_, shape, inputs, operands_.out<T>(0), kept)
               : kernels::attention_forward(stream_, shape, inputs, kept, operands_.out<T>(0));
  }
  const auto [dq, dk, dv] = three([&](std::size_t i) { return operands_.out<T>(i); }, 0);
  kernels::AttentionGradients<T> gradients{dq, dk, dv};
  if (f.is_grouped()) {
    gradients.dk = operands_.room<T>(groups.all());
    gradients.dv = operands_.room<T>(groups.all());
  }
  const std::size_t place = f.packed ? 2 : 4;  // of what forward wrote for this
  const float* kept = operands_.in<float>(place);
  const T* dy = operands_.in<T>(0);
  if (f.flash) {
    kernels::tiled_attention_backward(stream_, shape, inputs, operands_.in<T>(place + 1), kept, dy,
                                      operands_.room(shape.rows()), gradients);
  } else {
    kernels::attention_backward(stream_, shape, inputs, kept, dy,
                                operands_.room(shape.probabilities()), gradients);
  }
  if (!f.is_grouped()) return;
  kernels::sum_heads<T>(stream_, groups, gradients.dk, dk);
  kernels::sum_heads<T>(stream_, groups, gradients.dv, dv);
}

void Launcher::operator()(const program::Attention& f) {
  with_type(call_.reads[0].type, [&](auto type) { launch_attention<decltype(type)>(f); });
}

}  // namespace trainscope::cuda
