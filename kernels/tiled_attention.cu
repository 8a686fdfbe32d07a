#include <cmath>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "kernels/attention.h"
#include "kernels/tiled_attention.cuh"

namespace trainscope::kernels {
namespace {

// What the rows of a block have come to: the online softmax.
template <typename Tiles>
struct RunningRow {
  float maximum = -INFINITY;
  float sum = 0;
  OwnRow<Tiles> values;

  // The thread's scores of a row of the tile, whose exponentials are to stand in `row`; -∞ is not
  // visible.
  __device__ void absorb(const float (&scores)[Tiles::kColumns], float* row, const float* v,
                         int width, const Own& own) {
    float largest = maximum;
    for (const float score : scores) largest = Larger{}(largest, score);
    largest = combine_parts(largest, Larger{});
    const bool none = largest == -INFINITY;  // a row behind the last token
    float fresh = 0;
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kColumns; ++j) {
      const float e = none ? 0.0F : expf(scores[j] - largest);
      row[own.part + j * kParts] = e;
      fresh += e;
    }
    const float shrink = maximum == -INFINITY ? 0.0F : expf(maximum - largest);
    sum = sum * shrink + combine_parts(fresh, Plus{});
    maximum = largest;
    __syncwarp();
    for (Taken& pack : values.packs)
      for (float& value : pack.values) value *= shrink;
    for (int c = 0; c < Tiles::kRows; c += kTaken) {
      const Taken shares = load_pack<kTaken>(row + c);
      for (int k = 0; k < kTaken; ++k)
        values.add(shares.values[k], v + (c + k) * pitch_of(width), width, own);
    }
    __syncwarp();  // the row has been read
  }
};

// A tile of queries for a block, those with the most keys first.
template <typename Tiles>
__device__ int first_query() {
  return static_cast<int>(gridDim.y - 1 - blockIdx.y) * Tiles::kRows;
}

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
  float* shares = room.square() + own.row * Tiles::kSquarePitch;
  const std::size_t head = head_offset(shape, shape.inputs);
  const int first = first_query<Tiles>();
  const int row = first + own.row;
  load_tokens<Tiles>(shape, inputs.q + head, shape.inputs.token, first, q);
  RunningRow<Tiles> running;
  for (int column = 0; column <= first; column += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    load_tokens<Tiles>(shape, inputs.k + head, shape.inputs.token, column, k);
    load_tokens<Tiles>(shape, inputs.v + head, shape.inputs.token, column, v);
    __syncthreads();
    float scores[Tiles::kColumns] = {};
    add_dots<Tiles>(q + own.row * room.pitch, k + own.part * room.pitch, shape.width, scores);
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kColumns; ++j) {
      const bool visible = is_visible(shape, row, column + own.part + j * kParts);
      scores[j] = visible ? scale * scores[j] : -INFINITY;
    }
    running.absorb(scores, shares, v, shape.width, own);
  }
  if (row >= shape.length) return;
  T* out = o + head_offset(shape, shape.outputs);
  const bool packed = is_packed(out, shape.outputs.token, shape.width);
  store_row(running.values, shape.width, packed, own, out + row * shape.outputs.token,
            [&](float value) { return value / running.sum; });
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
    const int left = own.row * room.pitch, right = own.part * room.pitch;
    float s[Tiles::kColumns] = {};
    float dp[Tiles::kColumns] = {};
    add_dots<Tiles>(q + left, k + right, shape.width, s);
    add_dots<Tiles>(d + left, v + right, shape.width, dp);
    TRAINSCOPE_UNROLLED
    for (int j = 0; j < Tiles::kColumns; ++j) {
      const int c = own.part + j * kParts;
      const int at = own.row * Tiles::kSquarePitch + c;
      p[at] = 0;
      ds[at] = 0;
      if (!is_visible(shape, row, first_column + c)) continue;
      const float share = expf(scale * s[j] - head.lse[row]);
      p[at] = share;
      ds[at] = share * (dp[j] - head.products[row]) * scale;
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

// sums += Σ_i weight[i * step] tokens[i].
template <typename Tiles>
__device__ void add_tokens(const float* weights, int step, const float* tokens, int width,
                           const Own& own, OwnRow<Tiles>& sums) {
  TRAINSCOPE_UNROLLED_BY_8
  for (int i = 0; i < Tiles::kRows; ++i)
    sums.add(weights[i * step], tokens + i * pitch_of(width), width, own);
}

template <typename Tiles, typename T>
__device__ void store_sums(const Attention& shape, int token, const Own& own,
                           const OwnRow<Tiles>& sums, T* head) {
  if (token >= shape.length) return;
  store_row(sums, shape.width, is_packed(head, shape.inputs.token, shape.width), own,
            head + token * shape.inputs.token, [](float value) { return value; });
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
  OwnRow<Tiles> key_sums, value_sums;
  tile.load_keys(shape, head, first);
  for (int row = first; row < shape.length; row += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    tile.load_queries(shape, head, row);
    __syncthreads();
    tile.compute(shape, head, scale, row, first);
    __syncthreads();
    add_tokens(tile.p + own.row, Tiles::kSquarePitch, tile.d, shape.width, own, value_sums);
    add_tokens(tile.ds + own.row, Tiles::kSquarePitch, tile.q, shape.width, own, key_sums);
  }
  const std::size_t at = head_offset(shape, shape.inputs);
  store_sums(shape, first + own.row, own, key_sums, dk + at);
  store_sums(shape, first + own.row, own, value_sums, dv + at);
}

// A block for a head and a tile of its queries, which the tiles of keys up to there go past.
template <typename Tiles, typename T>
__global__ void __launch_bounds__(Tiles::kThreads)
    tiled_queries_kernel(Attention shape, AttentionInputs<T> inputs, float scale, const T* d_output,
                         const float* lse, const float* products, T* dq) {
  const BackwardHead<T> head(shape, inputs, d_output, lse, products);
  BackwardTile<Tiles> tile(shape.width);
  const Own own;
  const int first = first_query<Tiles>();
  OwnRow<Tiles> sums;
  tile.load_queries(shape, head, first);
  for (int column = 0; column <= first; column += Tiles::kRows) {
    __syncthreads();  // the last tile has been read
    tile.load_keys(shape, head, column);
    __syncthreads();
    tile.compute(shape, head, scale, first, column);
    __syncthreads();
    add_tokens(tile.ds + own.row * Tiles::kSquarePitch, 1, tile.k, shape.width, own, sums);
  }
  store_sums(shape, first + own.row, own, sums, dq + head_offset(shape, shape.inputs));
}

float scale_of(const Attention& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
}

// Tiles that fit into 48 KiB of shared memory in backward.
template <typename Body>
void with_tiling(const Attention& shape, const Body& body) {
  if (shape.width <= 32) return body(Tiling<32, 1>{});
  if (shape.width <= 64) return body(Tiling<32, 2>{});
  if (shape.width <= kWidestHead) return body(Tiling<16, 4>{});
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
