#include <cmath>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "kernels/attention.h"
#include "kernels/block.cuh"
#include "kernels/special.cuh"

namespace trainscope::kernels {
namespace {

// Threads that share a row of a tile: neighbours, so that they can exchange values.
constexpr int kParts = 8;

// A tile is kRows queries by kRows keys; a thread keeps kOut values of a row of `width`.
template <int kTileRows, int kTileOut>
struct Tiling {
  static constexpr int kRows = kTileRows;
  static constexpr int kOut = kTileOut;
  static constexpr int kThreads = kRows * kParts;
};

// Where a block keeps its tiles. Rows lie beside a multiple of the banks.
template <typename Tiles>
struct TileRoom {
  __device__ explicit TileRoom(int width) : pitch(width + 1), next(dynamic_floats()) {}
  __device__ float* tokens() {
    float* room = next;
    next += Tiles::kRows * pitch;
    return room;
  }
  __device__ float* square() {
    float* room = next;
    next += Tiles::kRows * (Tiles::kRows + 1);
    return room;
  }
  static std::size_t bytes(int width, int token_tiles, int squares) {
    const int floats = token_tiles * (width + 1) + squares * (Tiles::kRows + 1);
    return sizeof(float) * static_cast<std::size_t>(Tiles::kRows * floats);
  }

  int pitch;
  float* next;
};

// The calling thread's row of a tile and its part of it.
struct Own {
  __device__ Own()
      : row(static_cast<int>(threadIdx.x) / kParts), part(static_cast<int>(threadIdx.x) % kParts) {}
  int row;
  int part;
};

inline __device__ std::size_t offset_of_head(const Attention& shape, const HeadStrides& strides,
                                             int head) {
  return head / shape.heads * strides.batch + head % shape.heads * strides.head;
}

inline __device__ std::size_t head_offset(const Attention& shape, const HeadStrides& strides) {
  return offset_of_head(shape, strides, static_cast<int>(blockIdx.x));
}

// Tokens from `first` on; 0 after the last.
template <typename Tiles, typename T>
__device__ void load_tokens(const Attention& shape, const T* head, std::size_t stride, int first,
                            float* tile) {
  for (int item = static_cast<int>(threadIdx.x); item < Tiles::kRows * shape.width;
       item += Tiles::kThreads) {
    const int token = item / shape.width;
    const int c = item % shape.width;
    tile[token * (shape.width + 1) + c] =
        first + token < shape.length ? widen(head[(first + token) * stride + c]) : 0.0F;
  }
}

inline __device__ float dot(const float* a, const float* b, int width) {
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += a[c] * b[c];
  return sum;
}

// Over the threads that share a row.
template <typename Combine>
__device__ float combine_parts(float value, Combine combine) {
  for (int apart = kParts / 2; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, apart));
  }
  return value;
}

inline __device__ bool is_visible(const Attention& shape, int row, int column) {
  return column <= row && row < shape.length;
}

// What the rows of a block have come to: the online softmax.
template <typename Tiles>
struct RunningRow {
  float maximum = -INFINITY;
  float sum = 0;
  float values[Tiles::kOut] = {};

  // `scores`, of the whole row of the tile, become exponentials; -∞ is not visible.
  __device__ void absorb(float* scores, const float* v, int width, const Own& own) {
    float largest = maximum;
    for (int c = own.part; c < Tiles::kRows; c += kParts) largest = Larger{}(largest, scores[c]);
    largest = combine_parts(largest, Larger{});
    const bool none = largest == -INFINITY;  // a row behind the last token
    float fresh = 0;
    for (int c = own.part; c < Tiles::kRows; c += kParts) {
      scores[c] = none ? 0.0F : expf(scores[c] - largest);
      fresh += scores[c];
    }
    const float shrink = maximum == -INFINITY ? 0.0F : expf(maximum - largest);
    sum = sum * shrink + combine_parts(fresh, Plus{});
    maximum = largest;
    __syncwarp();
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kOut; ++j) {
      const int w = own.part + j * kParts;
      if (w >= width) continue;
      float value = values[j] * shrink;
      for (int c = 0; c < Tiles::kRows; ++c) value += scores[c] * v[c * (width + 1) + w];
      values[j] = value;
    }
  }
};

// A block for a head, in x, and a tile of its queries, in y.
template <typename Tiles, typename T>
__global__ void __launch_bounds__(Tiles::kThreads)
    tiled_forward_kernel(Attention shape, AttentionInputs<T> inputs, float scale, T* o,
                         float* lse) {
  TileRoom<Tiles> room(shape.width);
  float* q = room.tokens();
  float* k = room.tokens();
  float* v = room.tokens();
  const Own own;
  float* scores = room.square() + own.row * (Tiles::kRows + 1);
  const std::size_t head = head_offset(shape, shape.inputs);
  const int first = static_cast<int>(blockIdx.y) * Tiles::kRows;
  const int row = first + own.row;
  load_tokens<Tiles>(shape, inputs.q + head, shape.inputs.token, first, q);
  RunningRow<Tiles> running;
  for (int column = 0; column <= first; column += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    load_tokens<Tiles>(shape, inputs.k + head, shape.inputs.token, column, k);
    load_tokens<Tiles>(shape, inputs.v + head, shape.inputs.token, column, v);
    __syncthreads();
    for (int c = own.part; c < Tiles::kRows; c += kParts) {
      const bool visible = is_visible(shape, row, column + c);
      scores[c] = visible ? scale * dot(q + own.row * room.pitch, k + c * room.pitch, shape.width)
                          : -INFINITY;
    }
    running.absorb(scores, v, shape.width, own);
  }
  if (row >= shape.length) return;
  T* out = o + head_offset(shape, shape.outputs) + row * shape.outputs.token;
  TRAINSCOPE_UNROLLED
  for (int j = 0; j < Tiles::kOut; ++j) {
    const int w = own.part + j * kParts;
    if (w < shape.width) out[w] = narrow<T>(running.values[j] / running.sum);
  }
  if (own.part != 0) return;
  lse[std::size_t{blockIdx.x} * static_cast<std::size_t>(shape.length) + row] =
      running.maximum + logf(running.sum);
}

// rowsum(do o), which is rowsum(p dp): a warp for a row. Rows of all heads stand in x, which has
// room for more tokens than y.
template <typename T>
__global__ void output_products_kernel(Attention shape, const T* o, const T* d_output,
                                       float* products) {
  const auto length = static_cast<unsigned>(shape.length);
  const auto head = static_cast<int>(blockIdx.x / length);
  const std::size_t at =
      offset_of_head(shape, shape.outputs, head) + blockIdx.x % length * shape.outputs.token;
  float own = 0;
  for_row(
      static_cast<std::size_t>(shape.width),
      [&](std::size_t, float value, float d) { own += value * d; }, o + at, d_output + at);
  const float total = combine_warp(own, Plus{});
  if (threadIdx.x == 0) products[blockIdx.x] = total;
}

// What backward has of a head in device memory.
template <typename T>
struct BackwardHead {
  __device__ BackwardHead(const Attention& shape, const AttentionInputs<T>& inputs,
                          const T* d_output, const float* all_lse, const float* all_products) {
    const std::size_t head = head_offset(shape, shape.inputs);
    const std::size_t rows = std::size_t{blockIdx.x} * static_cast<std::size_t>(shape.length);
    q = inputs.q + head;
    k = inputs.k + head;
    v = inputs.v + head;
    d = d_output + head_offset(shape, shape.outputs);
    lse = all_lse + rows;
    products = all_products + rows;
  }
  const T* q;
  const T* k;
  const T* v;
  const T* d;
  const float* lse;
  const float* products;
};

// And in shared memory: tokens, p and ds of one tile.
template <typename Tiles>
struct BackwardTile {
  __device__ explicit BackwardTile(int width) : room(width) {
    q = room.tokens();
    k = room.tokens();
    v = room.tokens();
    d = room.tokens();
    p = room.square();
    ds = room.square();
  }
  template <typename T>
  __device__ void load_queries(const Attention& shape, const BackwardHead<T>& head, int first) {
    load_tokens<Tiles>(shape, head.q, shape.inputs.token, first, q);
    load_tokens<Tiles>(shape, head.d, shape.outputs.token, first, d);
  }
  template <typename T>
  __device__ void load_keys(const Attention& shape, const BackwardHead<T>& head, int first) {
    load_tokens<Tiles>(shape, head.k, shape.inputs.token, first, k);
    load_tokens<Tiles>(shape, head.v, shape.inputs.token, first, v);
  }
  // p and ds / √width again, from the tokens.
  template <typename T>
  __device__ void compute(const Attention& shape, const BackwardHead<T>& head, float scale,
                          int first_row, int first_column) {
    const Own own;
    const int row = first_row + own.row;
    for (int c = own.part; c < Tiles::kRows; c += kParts) {
      const int at = own.row * (Tiles::kRows + 1) + c;
      p[at] = 0;
      ds[at] = 0;
      if (!is_visible(shape, row, first_column + c)) continue;
      const float s = scale * dot(q + own.row * room.pitch, k + c * room.pitch, shape.width);
      const float dp = dot(d + own.row * room.pitch, v + c * room.pitch, shape.width);
      p[at] = expf(s - head.lse[row]);
      ds[at] = p[at] * (dp - head.products[row]) * scale;
    }
  }

  TileRoom<Tiles> room;
  float* q;
  float* k;
  float* v;
  float* d;
  float* p;
  float* ds;
};

// sums[j] += Σ_i weight[i * step] tokens[i, part + j kParts].
template <typename Tiles>
__device__ void add_tokens(const float* weights, int step, const float* tokens, int width,
                           const Own& own, float (&sums)[Tiles::kOut]) {
  TRAINSCOPE_UNROLLED
  for (int j = 0; j < Tiles::kOut; ++j) {
    const int w = own.part + j * kParts;
    if (w >= width) continue;
    for (int i = 0; i < Tiles::kRows; ++i)
      sums[j] += weights[i * step] * tokens[i * (width + 1) + w];
  }
}

template <typename Tiles, typename T>
__device__ void store_sums(const Attention& shape, int token, const Own& own,
                           const float (&sums)[Tiles::kOut], T* head) {
  if (token >= shape.length) return;
  TRAINSCOPE_UNROLLED
  for (int j = 0; j < Tiles::kOut; ++j) {
    const int w = own.part + j * kParts;
    if (w < shape.width) head[token * shape.inputs.token + w] = narrow<T>(sums[j]);
  }
}

// A block for a head and a tile of its keys, which the tiles of queries from there on go past.
template <typename Tiles, typename T>
__global__ void __launch_bounds__(Tiles::kThreads)
    tiled_keys_kernel(Attention shape, AttentionInputs<T> inputs, float scale, const T* d_output,
                      const float* lse, const float* products, T* dk, T* dv) {
  const BackwardHead<T> head(shape, inputs, d_output, lse, products);
  BackwardTile<Tiles> tile(shape.width);
  const Own own;
  const int first = static_cast<int>(blockIdx.y) * Tiles::kRows;
  float key_sums[Tiles::kOut] = {};
  float value_sums[Tiles::kOut] = {};
  tile.load_keys(shape, head, first);
  for (int row = first; row < shape.length; row += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    tile.load_queries(shape, head, row);
    __syncthreads();
    tile.compute(shape, head, scale, row, first);
    __syncthreads();
    add_tokens<Tiles>(tile.p + own.row, Tiles::kRows + 1, tile.d, shape.width, own, value_sums);
    add_tokens<Tiles>(tile.ds + own.row, Tiles::kRows + 1, tile.q, shape.width, own, key_sums);
  }
  const std::size_t at = head_offset(shape, shape.inputs);
  store_sums<Tiles>(shape, first + own.row, own, key_sums, dk + at);
  store_sums<Tiles>(shape, first + own.row, own, value_sums, dv + at);
}

// A block for a head and a tile of its queries, which the tiles of keys up to there go past.
template <typename Tiles, typename T>
__global__ void __launch_bounds__(Tiles::kThreads)
    tiled_queries_kernel(Attention shape, AttentionInputs<T> inputs, float scale, const T* d_output,
                         const float* lse, const float* products, T* dq) {
  const BackwardHead<T> head(shape, inputs, d_output, lse, products);
  BackwardTile<Tiles> tile(shape.width);
  const Own own;
  const int first = static_cast<int>(blockIdx.y) * Tiles::kRows;
  float sums[Tiles::kOut] = {};
  tile.load_queries(shape, head, first);
  for (int column = 0; column <= first; column += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    tile.load_keys(shape, head, column);
    __syncthreads();
    tile.compute(shape, head, scale, first, column);
    __syncthreads();
    add_tokens<Tiles>(tile.ds + own.row * (Tiles::kRows + 1), 1, tile.k, shape.width, own, sums);
  }
  store_sums<Tiles>(shape, first + own.row, own, sums, dq + head_offset(shape, shape.inputs));
}

float scale_of(const Attention& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
}

// Tiles that fit into 48 KiB of shared memory in backward.
template <typename Body>
void with_tiling(const Attention& shape, const Body& body) {
  if (shape.width <= 32) return body(Tiling<32, 4>{});
  if (shape.width <= 64) return body(Tiling<32, 8>{});
  if (shape.width <= kWidestHead) return body(Tiling<16, 16>{});
  throw InputError("tiled attention takes heads of at most " + std::to_string(kWidestHead) +
                   " values, not " + std::to_string(shape.width) + ": use the plain one");
}

template <typename Tiles>
Shape shape_of(const Attention& shape, int token_tiles, int squares) {
  const int tiles = (shape.length + Tiles::kRows - 1) / Tiles::kRows;
  return {{static_cast<unsigned>(shape.batch * shape.heads), static_cast<unsigned>(tiles), 1},
          {Tiles::kThreads, 1, 1},
          TileRoom<Tiles>::bytes(shape.width, token_tiles, squares)};
}

}  // namespace

template <typename T>
void tiled_attention_forward(Stream stream, const Attention& shape,
                             const AttentionInputs<T>& inputs, T* o, float* lse) {
  if (shape.rows() == 0) return;
  with_tiling(shape, [&](auto tiling) {
    using Tiles = decltype(tiling);
    launch("tiled_attention_forward", tiled_forward_kernel<Tiles, T>, stream,
           shape_of<Tiles>(shape, 3, 1), shape, inputs, scale_of(shape), o, lse);
  });
}

template <typename T>
void tiled_attention_backward(Stream stream, const Attention& shape,
                              const AttentionInputs<T>& inputs, const T* o, const float* lse,
                              const T* d_output, float* workspace,
                              const AttentionGradients<T>& gradients) {
  if (shape.rows() == 0) return;
  const Shape rows{{static_cast<unsigned>(shape.rows()), 1, 1}, {kLanes, 1, 1}};
  launch("attention_output_products", output_products_kernel<T>, stream, rows, shape, o, d_output,
         workspace);
  with_tiling(shape, [&](auto tiling) {
    using Tiles = decltype(tiling);
    const Shape grid = shape_of<Tiles>(shape, 4, 2);
    launch("tiled_attention_keys", tiled_keys_kernel<Tiles, T>, stream, grid, shape, inputs,
           scale_of(shape), d_output, lse, workspace, gradients.dk, gradients.dv);
    launch("tiled_attention_queries", tiled_queries_kernel<Tiles, T>, stream, grid, shape, inputs,
           scale_of(shape), d_output, lse, workspace, gradients.dq);
  });
}

#define TRAINSCOPE_INSTANTIATE(T)                                                                \
  template void tiled_attention_forward(Stream, const Attention&, const AttentionInputs<T>&, T*, \
                                        float*);                                                 \
  template void tiled_attention_backward(Stream, const Attention&, const AttentionInputs<T>&,    \
                                         const T*, const float*, const T*, float*,               \
                                         const AttentionGradients<T>&)
TRAINSCOPE_INSTANTIATE(float);
TRAINSCOPE_INSTANTIATE(Half);
TRAINSCOPE_INSTANTIATE(Bfloat16);
#undef TRAINSCOPE_INSTANTIATE

}  // namespace trainscope::kernels
