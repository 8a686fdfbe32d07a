// The shapes of a program's operations as kernels take them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device_calls.h"
#include "kernels/conv2d.h"
#include "kernels/dropout.h"
#include "kernels/max_pool.h"
#include "program/function.h"

namespace trainscope::cuda {

inline constexpr float kNormEps = 1e-5F;     // torch.nn.BatchNorm2d, LayerNorm
inline constexpr float kRmsNormEps = 1e-5F;  // of Llama's published configurations

inline std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

inline kernels::Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return {size(rows), size(columns)};
}

inline kernels::Image image(std::int64_t batch, std::int64_t channels, std::int64_t height,
                            std::int64_t width, bool channels_last) {
  return {static_cast<int>(batch), static_cast<int>(channels), static_cast<int>(height),
          static_cast<int>(width), channels_last};
}

inline kernels::Image image_of(const program::BatchNorm& f) {
  return image(f.batch, f.channels, f.height, f.width, f.channels_last);
}

// A plane's pixels lie in one row.
inline kernels::Image image_of(const program::AveragePooling& f) {
  return image(f.batch, f.channels, 1, f.pixels, f.channels_last);
}

inline kernels::Window window(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {static_cast<int>(kernel), static_cast<int>(stride), static_cast<int>(padding), 1};
}

inline kernels::MaxPool pool_of(const program::MaxPooling& f) {
  kernels::MaxPool pool;
  pool.input = image(f.batch, f.channels, f.height, f.width, f.channels_last);
  pool.vertical = pool.horizontal = window(f.kernel, f.stride, f.padding);
  return pool;
}

inline kernels::Conv2d conv_of(const program::Convolution& f) {
  kernels::Conv2d conv;
  conv.input = image(f.batch, f.channels, f.height, f.width, f.channels_last);
  conv.outputs = static_cast<int>(f.outputs);
  conv.groups = static_cast<int>(f.groups);
  conv.vertical = conv.horizontal = window(f.kernel, f.stride, f.padding);
  return conv;
}

inline kernels::Dropout dropout_of(const program::Dropout& f, const KernelCall& call) {
  constexpr std::uint64_t kStream = 1;
  return {static_cast<float>(f.p), call.seed, kStream, call.draws_from, call.draws_base};
}

}  // namespace trainscope::cuda
