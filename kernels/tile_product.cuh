// Products of matrices, tile by tile through shared memory: what convolution and attention are made
// of. (Large dense products are cuBLASLt's on a device.)
//
// A block computes 64 x 64 values of C[batch][m, n] = Σ_k A[m, k] B[k, n], 16 terms at a time; a
// thread 4 x 4 of them, in registers. Where A and B come from and where C goes is the Product's:
//   int m, n, terms;                        the sizes
//   Batch batch(int)                        what a block has found of its product, once
//   float a(Batch, m, k), b(Batch, k, n)    asked only inside the sizes
//   void store(Batch, m, n, sum)
//   bool is_needed(m, n)                    whether a tile that begins there has a value that is
//   static constexpr bool kATerms, kBTerms  whether neighbours in memory are neighbours in k, so
//                                           that neighbouring threads read neighbouring values
#pragma once

#include "kernels/pack.cuh"

namespace trainscope::kernels {

inline constexpr int kTile = 64;
inline constexpr int kDepth = 16;
inline constexpr int kSide = 16;  // threads along a side of the tile
inline constexpr int kEach = kTile / kSide;
inline constexpr int kTileThreads = kSide * kSide;

// Beside a multiple of the banks, so that columns lie in different ones.
using TileMemory = float[kDepth][kTile + 4];

// Where an item of a tile of kTile places and kDepth terms stands.
struct TileItem {
  __device__ TileItem(int item, bool terms_first)
      : place(terms_first ? item / kDepth : item % kTile),
        term(terms_first ? item % kDepth : item / kTile) {}
  int place;
  int term;
};

// What a thread has of the two tiles, in registers: so its loads are under way at once, and while
// the tiles before are multiplied.
struct TileItems {
  static constexpr int kCount = kTile * kDepth / kTileThreads;
  float a[kCount];
  float b[kCount];

  static __device__ TileItem item(int k, bool terms_first) {
    return {static_cast<int>(threadIdx.x) + k * kTileThreads, terms_first};
  }

  // Terms from `first_term` on to before `end`.
  template <typename Product, typename Batch>
  __device__ void load(const Product& product, const Batch& batch, int first_m, int first_n,
                       int first_term, int end) {
    TRAINSCOPE_UNROLLED
    for (int k = 0; k < kCount; ++k) {
      const TileItem in_a = item(k, Product::kATerms);
      const int m = first_m + in_a.place;
      const int a_term = first_term + in_a.term;
      a[k] = m < product.m && a_term < end ? product.a(batch, m, a_term) : 0.0F;
      const TileItem in_b = item(k, Product::kBTerms);
      const int n = first_n + in_b.place;
      const int b_term = first_term + in_b.term;
      b[k] = n < product.n && b_term < end ? product.b(batch, b_term, n) : 0.0F;
    }
  }

  template <typename Product>
  __device__ void store(TileMemory& a_tile, TileMemory& b_tile) const {
    TRAINSCOPE_UNROLLED
    for (int k = 0; k < kCount; ++k) {
      const TileItem in_a = item(k, Product::kATerms), in_b = item(k, Product::kBTerms);
      a_tile[in_a.term][in_a.place] = a[k];
      b_tile[in_b.term][in_b.place] = b[k];
    }
  }
};

// A thread's rows lie side by side, its columns kSide apart.
inline __device__ void add_terms(const TileMemory& a, const TileMemory& b, int row, int column,
                                 float (&sums)[kEach][kEach]) {
  for (int k = 0; k < kDepth; ++k) {
    const Pack<float, kEach> rows = load_pack<kEach>(&a[k][row * kEach]);
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) sums[i][j] += rows.values[i] * b[k][column + j * kSide];
    }
  }
}

inline __host__ __device__ unsigned tiles_along(int size) {
  return static_cast<unsigned>((size + kTile - 1) / kTile);
}

// The terms that a block sums, where a product has the same for all.
struct TermRange {
  int begin;
  int end;
};

template <typename Product, typename Batch>
__device__ TermRange terms_of(const Product& product, const Batch&) {
  return {0, product.terms};
}

// All blocks stand in x, columns of tiles before rows and those before products: in y and z a grid
// has too few for the heads of a large batch.
template <typename Product>
__global__ void __launch_bounds__(kTileThreads, 2) tile_product_kernel(Product product) {
  alignas(kPackBytes) __shared__ TileMemory a;
  __shared__ TileMemory b;
  const unsigned across = tiles_along(product.n), down = tiles_along(product.m);
  const unsigned line = blockIdx.x / across;
  const auto batch = product.batch(static_cast<int>(line / down));
  const int first_m = static_cast<int>(line % down) * kTile;
  const int first_n = static_cast<int>(blockIdx.x % across) * kTile;
  if (!product.is_needed(first_m, first_n)) return;
  const int row = static_cast<int>(threadIdx.x) / kSide;
  const int column = static_cast<int>(threadIdx.x) % kSide;
  float sums[kEach][kEach] = {};
  TileItems items;
  const TermRange terms = terms_of(product, batch);
  items.load(product, batch, first_m, first_n, terms.begin, terms.end);
  for (int term = terms.begin; term < terms.end; term += kDepth) {
    items.template store<Product>(a, b);
    __syncthreads();
    items.load(product, batch, first_m, first_n, term + kDepth, terms.end);
    add_terms(a, b, row, column, sums);
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int m = first_m + row * kEach + i;
      const int n = first_n + column + j * kSide;
      if (m < product.m && n < product.n) product.store(batch, m, n, sums[i][j]);
    }
  }
}

template <typename Product>
void multiply(const char* name, Stream stream, const Product& product, int batches) {
  if (product.m == 0 || product.n == 0 || batches == 0) return;
  const unsigned tiles = tiles_along(product.n) * tiles_along(product.m);
  const Shape shape{{tiles * static_cast<unsigned>(batches), 1, 1}, {kTileThreads, 1, 1}};
  launch(name, tile_product_kernel<Product>, stream, shape, product);
}

}  // namespace trainscope::kernels
