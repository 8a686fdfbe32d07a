#include "kernels/attention.h"

#include <cmath>

#include "kernels/block.cuh"
#include "kernels/tile_product.cuh"

namespace trainscope::kernels {
namespace {

// The matrices of all heads: values from one row and column to the next.
template <typename T>
struct Heads {
  T* data;
  int heads;
  std::size_t batch;
  std::size_t head;
  std::size_t row;
  std::size_t column;

  __device__ T* of(int index) const { return data + index / heads * batch + index % heads * head; }
  __device__ std::size_t place(int r, int c) const { return r * row + c * column; }
  Heads transposed() const { return {data, heads, batch, head, column, row}; }
};

template <typename T>
Heads<T> tokens_of(const Attention& shape, const HeadStrides& strides, T* data) {
  return {data, shape.heads, strides.batch, strides.head, strides.token, 1};
}

template <typename T>
Heads<T> squares_of(const Attention& shape, T* data) {
  const auto length = static_cast<std::size_t>(shape.length);
  const std::size_t square = length * length;
  return {data, shape.heads, shape.heads * square, square, length, 1};
}

enum class Wanted { kAll, kBelowDiagonal };

// C = factor A B for every head.
template <typename A, typename B, typename C, bool kTermsInA, bool kTermsInB, Wanted kWanted>
struct HeadsProduct {
  int m;
  int n;
  int terms;
  Heads<const A> left;
  Heads<const B> right;
  Heads<C> result;
  float factor;
  static constexpr bool kATerms = kTermsInA;
  static constexpr bool kBTerms = kTermsInB;

  struct Head {
    const A* left;
    const B* right;
    C* result;
  };
  __device__ Head batch(int head) const { return {left.of(head), right.of(head), result.of(head)}; }
  __device__ bool is_needed(int first_m, int first_n) const {
    return kWanted == Wanted::kAll || first_n < first_m + kTile;
  }
  __device__ float a(const Head& head, int row, int term) const {
    return widen(head.left[left.place(row, term)]);
  }
  __device__ float b(const Head& head, int term, int column) const {
    return widen(head.right[right.place(term, column)]);
  }
  __device__ void store(const Head& head, int row, int column, float sum) const {
    if (kWanted == Wanted::kBelowDiagonal && column > row) return;
    head.result[result.place(row, column)] = narrow<C>(factor * sum);
  }
};

// A block for a row: its first `row` + 1 values become their softmax, the others 0.
__global__ void causal_softmax_kernel(int length, float* scores) {
  float* row = scores + std::size_t{blockIdx.x} * static_cast<std::size_t>(length);
  const std::size_t visible = blockIdx.x % static_cast<unsigned>(length) + 1;
  float own = -INFINITY;
  for_row(visible, [&](std::size_t, float s) { own = Larger{}(own, s); }, row);
  const float maximum = block_max(own);
  own = 0;
  for_row(visible, [&](std::size_t, float s) { own += expf(s - maximum); }, row);
  const float share = 1 / block_sum(own);
  map_row(visible, [&](std::size_t, float s) { return expf(s - maximum) * share; }, row, row);
  for (std::size_t c = visible + threadIdx.x; c < static_cast<std::size_t>(length);
       c += blockDim.x) {
    row[c] = 0;
  }
}

// A block for a row: dp becomes ds.
__global__ void causal_softmax_backward_kernel(int length, const float* probabilities, float* dp) {
  const std::size_t first = std::size_t{blockIdx.x} * static_cast<std::size_t>(length);
  const std::size_t visible = blockIdx.x % static_cast<unsigned>(length) + 1;
  const float* p = probabilities + first;
  float* row = dp + first;
  float own = 0;
  for_row(visible, [&](std::size_t, float share, float d) { own += share * d; }, p, row);
  const float common = block_sum(own);
  const auto slope = [&](std::size_t, float share, float d) { return share * (d - common); };
  map_row(visible, slope, row, p, row);
  for (std::size_t c = visible + threadIdx.x; c < static_cast<std::size_t>(length);
       c += blockDim.x) {
    row[c] = 0;
  }
}

float scale_of(const Attention& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
}

// o = p v, or dq = ds k.
template <typename T>
void rows_times_tokens(const char* name, Stream stream, const Attention& shape, const float* square,
                       const Heads<const T>& tokens, const Heads<T>& result, float factor) {
  const HeadsProduct<float, T, T, true, false, Wanted::kAll> product{
      shape.length, shape.width, shape.length, squares_of(shape, square), tokens, result, factor};
  multiply(name, stream, product, shape.batch * shape.heads);
}

// dv = pᵀ do, or dk = dsᵀ q.
template <typename T>
void columns_times_tokens(const char* name, Stream stream, const Attention& shape,
                          const float* square, const Heads<const T>& tokens, const Heads<T>& result,
                          float factor) {
  const HeadsProduct<float, T, T, false, false, Wanted::kAll> product{
      shape.length, shape.width, shape.length, squares_of(shape, square).transposed(),
      tokens,       result,      factor};
  multiply(name, stream, product, shape.batch * shape.heads);
}

// s = q kᵀ / √width, or dp = do vᵀ, on and below the diagonal.
template <typename T>
void tokens_times_tokens(const char* name, Stream stream, const Attention& shape,
                         const Heads<const T>& rows, const Heads<const T>& columns, float* square,
                         float factor) {
  const HeadsProduct<T, T, float, true, true, Wanted::kBelowDiagonal> product{
      shape.length, shape.length,         shape.width,
      rows,         columns.transposed(), squares_of(shape, square),
      factor};
  multiply(name, stream, product, shape.batch * shape.heads);
}

Shape shape_of_squares(const Attention& shape) {
  return shape_for_rows({shape.rows(), static_cast<std::size_t>(shape.length)}, kPackOf<float>);
}

}  // namespace

template <typename T>
void attention_forward(Stream stream, const Attention& shape, const AttentionInputs<T>& inputs,
                       float* probabilities, T* o) {
  if (shape.rows() == 0) return;
  const auto tokens = [&](const T* data) { return tokens_of(shape, shape.inputs, data); };
  tokens_times_tokens("attention_scores", stream, shape, tokens(inputs.q), tokens(inputs.k),
                      probabilities, scale_of(shape));
  launch("causal_softmax", causal_softmax_kernel, stream, shape_of_squares(shape), shape.length,
         probabilities);
  rows_times_tokens("attention_values", stream, shape, probabilities, tokens(inputs.v),
                    tokens_of(shape, shape.outputs, o), 1);
}

template <typename T>
void attention_backward(Stream stream, const Attention& shape, const AttentionInputs<T>& inputs,
                        const float* probabilities, const T* d_output, float* workspace,
                        const AttentionGradients<T>& gradients) {
  if (shape.rows() == 0) return;
  const auto tokens = [&](auto* data) { return tokens_of(shape, shape.inputs, data); };
  const auto outputs = tokens_of(shape, shape.outputs, d_output);
  columns_times_tokens("attention_dv", stream, shape, probabilities, outputs, tokens(gradients.dv),
                       1);
  tokens_times_tokens("attention_dp", stream, shape, outputs, tokens(inputs.v), workspace, 1);
  launch("causal_softmax_backward", causal_softmax_backward_kernel, stream, shape_of_squares(shape),
         shape.length, probabilities, workspace);
  rows_times_tokens("attention_dq", stream, shape, workspace, tokens(inputs.k),
                    tokens(gradients.dq), scale_of(shape));
  columns_times_tokens("attention_dk", stream, shape, workspace, tokens(inputs.q),
                       tokens(gradients.dk), scale_of(shape));
}

#define TRAINSCOPE_INSTANTIATE(T)                                                              \
  template void attention_forward(Stream, const Attention&, const AttentionInputs<T>&, float*, \
                                  T*);                                                         \
  template void attention_backward(Stream, const Attention&, const AttentionInputs<T>&,        \
                                   const float*, const T*, float*, const AttentionGradients<T>&)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
