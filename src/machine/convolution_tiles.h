// How the matrix product of a convolution is cut into the tiles of cuDNN's kernels, and what share
// of the arithmetic's peak is left.
#pragma once

#include <cstdint>
#include <span>

#include "machine/gemm_tiles.h"

namespace trainscope::machine {

struct ConvolutionTile {
  int m = 0, n = 0;
};

// A product, of `count` at once.
struct Product {
  std::int64_t count = 1;
  std::int64_t m = 0, n = 0, k = 0;
  double calculated_k = 0;  // on average, with the padding of its runs
  double flops = 0;         // asked for, all of them
  Fetched fetched;
  double share = 1;      // of what a tile reaches otherwise
  bool whole_k = false;  // it is not cut along k
};

struct Cut {
  std::int64_t blocks = 0;
  std::int64_t parts = 1;  // of k
  // Of the unit's peak, with all blocks at work and counted in the operations that are asked for.
  double efficiency = 0;
};

bool uses_tensor_cores(Math math);

// Share of the unit's peak that a full tile reaches in the middle of its sum: that of large
// products, or, on tensor cores, what L2 can feed of it where that is less, at the part of its
// published rate that kernels of convolutions are seen to get (README.md of src/sim has the fit).
double convolution_share(const Gpu& gpu, Math math, const ConvolutionTile& tile,
                         std::int64_t element_bytes, Fetched fetched);

// The tiles that there are on this unit, from the most reuse to the least.
std::span<const ConvolutionTile> convolution_tiles(Math math);

// A tile of at most twice the product, either way.
bool fits(const ConvolutionTile& tile, const Product& product);

// With few tiles, k is cut into parts as well, each of at least 256 (assumed, as for products).
Cut cut(const Gpu& gpu, Math math, std::int64_t element_bytes, const ConvolutionTile& tile,
        const Product& product);

// The share of the peak, SMs without a block counted, that each tile would reach decides; of equal
// ones, the first.
ConvolutionTile best_tile(const Gpu& gpu, Math math, std::int64_t element_bytes,
                          const Product& product);

// Of the SMs' time in all waves, what has work: blocks of an SM share it, so that the SM with one
// block more is the last. 1 for a single wave, however full.
double last_wave(const Gpu& gpu, std::int64_t blocks);

}  // namespace trainscope::machine
