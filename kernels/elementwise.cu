#include "kernels/elementwise.h"

#include "kernels/map.cuh"
#include "kernels/tensors.cuh"

namespace trainscope::kernels {
namespace {

struct Sum {
  __device__ float operator()(std::size_t, float a, float b) const { return a + b; }
};

struct Times {
  __device__ float operator()(std::size_t, float a, float b) const { return a * b; }
};

struct Most {
  __device__ float operator()(std::size_t, float a, float b) const {
    return b > a || b != b ? b : a;
  }
};

struct Scaled {
  float factor;
  __device__ float operator()(std::size_t, float x) const { return factor * x; }
};

struct Square {
  __device__ float operator()(std::size_t, float x) const { return x * x; }
};

struct Root {
  __device__ float operator()(std::size_t, float x) const { return sqrtf(x); }
};

struct Raised {
  float exponent;
  __device__ float operator()(std::size_t, float x) const { return powf(x, exponent); }
};

struct Constant {
  float value;
  __device__ float operator()(std::size_t) const { return value; }
};

template <typename T>
__global__ void __launch_bounds__(kChunkThreads)
    fill_kernel(const __grid_constant__ TensorTable<Tensor<T>> table, float value) {
  const auto chunk = chunk_of_block(table);
  T* values = chunk.tensor.values;
  const auto nothing = [](auto, std::size_t) { return 0; };
  const auto use = [&](auto width, auto, std::size_t i) {
    constexpr int kCount = decltype(width)::kValues;
    Pack<T, kCount> pack;
    for (T& one : pack.values) one = narrow<T>(value);
    store_pack(values + i, pack);
  };
  for_chunk<kPackOf<T>, 1>(chunk, is_aligned(values), nothing, use);
}

}  // namespace

template <typename T>
void add(Stream stream, const T* a, const T* b, T* sum, std::size_t count) {
  map("add", stream, Sum{}, count, sum, a, b);
}

template <typename T>
void product(Stream stream, const T* a, const T* b, T* y, std::size_t count) {
  map("product", stream, Times{}, count, y, a, b);
}

template <typename T>
void larger(Stream stream, const T* a, const T* b, T* most, std::size_t count) {
  map("larger", stream, Most{}, count, most, a, b);
}

template <typename T>
void scale(Stream stream, const T* x, float factor, T* y, std::size_t count) {
  map("scale", stream, Scaled{factor}, count, y, x);
}

template <typename T>
void power(Stream stream, const T* x, float exponent, T* y, std::size_t count) {
  if (exponent == 2.0F) return map("power", stream, Square{}, count, y, x);
  if (exponent == 0.5F) return map("power", stream, Root{}, count, y, x);
  map("power", stream, Raised{exponent}, count, y, x);
}

template <typename T>
void fill(Stream stream, T* values, float value, std::size_t count) {
  map("fill", stream, Constant{value}, count, values);
}

template <typename T>
void fill(Stream stream, std::span<const Tensor<T>> tensors, float value) {
  for_tables(tensors, [&](const auto& table, const Shape& shape) {
    launch("fill", fill_kernel<T>, stream, shape, table, value);
  });
}

template void add(Stream, const float*, const float*, float*, std::size_t);
template void add(Stream, const Half*, const Half*, Half*, std::size_t);
template void add(Stream, const Bfloat16*, const Bfloat16*, Bfloat16*, std::size_t);
template void product(Stream, const float*, const float*, float*, std::size_t);
template void product(Stream, const Half*, const Half*, Half*, std::size_t);
template void product(Stream, const Bfloat16*, const Bfloat16*, Bfloat16*, std::size_t);
template void larger(Stream, const float*, const float*, float*, std::size_t);
template void larger(Stream, const Half*, const Half*, Half*, std::size_t);
template void larger(Stream, const Bfloat16*, const Bfloat16*, Bfloat16*, std::size_t);
template void scale(Stream, const float*, float, float*, std::size_t);
template void scale(Stream, const Half*, float, Half*, std::size_t);
template void scale(Stream, const Bfloat16*, float, Bfloat16*, std::size_t);
template void power(Stream, const float*, float, float*, std::size_t);
template void power(Stream, const Half*, float, Half*, std::size_t);
template void power(Stream, const Bfloat16*, float, Bfloat16*, std::size_t);
template void fill(Stream, float*, float, std::size_t);
template void fill(Stream, Half*, float, std::size_t);
template void fill(Stream, Bfloat16*, float, std::size_t);
template void fill(Stream, std::span<const Tensor<float>>, float);
template void fill(Stream, std::span<const Tensor<Half>>, float);
template void fill(Stream, std::span<const Tensor<Bfloat16>>, float);

}  // namespace trainscope::kernels
