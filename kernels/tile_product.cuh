// Products of matrices, tile by tile through shared memory: what convolution and attention are made
// of. (Large dense products are cuBLASLt's on a device.)
//
// A block computes 64 x 64 values of C[batch][m, n] = Σ_k A[m, k] B[k, n], 16 terms at a time; a
// thread 4 x 4 of them, in registers. Where A and B come from and where C goes is the Product's:
//   int m, n, terms;                        the sizes
//   float a(batch, m, k), b(batch, k, n)    asked only inside the sizes
//   void store(batch, m, n, sum)
//   bool is_needed(m, n)                    whether a tile that begins there has a value that is
//   static constexpr bool kATerms, kBTerms  whether neighbours in memory are neighbours in k, so
//                                           that neighbouring threads read neighbouring values
#pragma once

#include "kernels/device.h"

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

template <typename Product>
__device__ void load_tiles(const Product& product, int batch, int first_m, int first_n,
                           int first_term, TileMemory& a, TileMemory& b) {
  for (int item = static_cast<int>(threadIdx.x); item < kTile * kDepth; item += kTileThreads) {
    const TileItem in_a(item, Product::kATerms);
    const int m = first_m + in_a.place;
    const int a_term = first_term + in_a.term;
    a[in_a.term][in_a.place] =
        m < product.m && a_term < product.terms ? product.a(batch, m, a_term) : 0.0F;
    const TileItem in_b(item, Product::kBTerms);
    const int n = first_n + in_b.place;
    const int b_term = first_term + in_b.term;
    b[in_b.term][in_b.place] =
        n < product.n && b_term < product.terms ? product.b(batch, b_term, n) : 0.0F;
  }
}

// A thread's rows lie side by side, its columns kSide apart.
inline __device__ void add_terms(const TileMemory& a, const TileMemory& b, int row, int column,
                                 float (&sums)[kEach][kEach]) {
  for (int k = 0; k < kDepth; ++k) {
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) {
        sums[i][j] += a[k][row * kEach + i] * b[k][column + j * kSide];
      }
    }
  }
}

inline __host__ __device__ unsigned tiles_along(int size) {
  return static_cast<unsigned>((size + kTile - 1) / kTile);
}

// All blocks stand in x, columns of tiles before rows and those before products: in y and z a grid
// has too few for the heads of a large batch.
template <typename Product>
__global__ void __launch_bounds__(kTileThreads) tile_product_kernel(Product product) {
  __shared__ TileMemory a;
  __shared__ TileMemory b;
  const unsigned across = tiles_along(product.n), down = tiles_along(product.m);
  const unsigned line = blockIdx.x / across;
  const auto batch = static_cast<int>(line / down);
  const int first_m = static_cast<int>(line % down) * kTile;
  const int first_n = static_cast<int>(blockIdx.x % across) * kTile;
  if (!product.is_needed(first_m, first_n)) return;
  const int row = static_cast<int>(threadIdx.x) / kSide;
  const int column = static_cast<int>(threadIdx.x) % kSide;
  float sums[kEach][kEach] = {};
  for (int term = 0; term < product.terms; term += kDepth) {
    load_tiles(product, batch, first_m, first_n, term, a, b);
    __syncthreads();
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
