#include "machine/convolution_tiles.h"

#include <algorithm>
#include <array>

#include "base/whole.h"

namespace trainscope::machine {
namespace {

using Tile = ConvolutionTile;

// As the names of cuDNN's kernels have them: volta_scudnn_128x128, 128x64 and 128x32 with pixels
// innermost, and no smaller ones; tilesize128x64x32 and cutlass_tensorop_..._128x64_32x3_nhwc with
// channels innermost.
constexpr std::array kPixelTiles{Tile{128, 128}, Tile{128, 64}, Tile{128, 32}};
constexpr std::array kTensorTiles{Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{256, 64},
                                  Tile{64, 256},  Tile{128, 64},  Tile{64, 128},  Tile{64, 64},
                                  Tile{128, 32},  Tile{64, 32}};

constexpr std::int64_t kLeastPart = 256;  // of k

// Of L2's published rate, fitted to 67 kernels of ResNet-50's convolutions in TF32 on an A100 (the
// recorded trace of HolisticTraceAnalysis): 4.3 of 7.2 TB/s.
constexpr double kL2Share = 0.59;

// Of what FP32 products reach, what cuDNN's FP32 kernels do: fitted to the steps of ResNet-50,
// ResNeXt-50 and ResNet-101 of 32 images on a V100 (assets/published.toml, A13), whose products
// reach 0.92 of the peak.
constexpr double kOfProducts = 0.85;

}  // namespace

bool uses_tensor_cores(Math math) {
  return math == Math::kTensorFp16 || math == Math::kTensorTf32;
}

std::span<const ConvolutionTile> convolution_tiles(Math math) {
  if (uses_tensor_cores(math)) return kTensorTiles;
  return kPixelTiles;
}

double convolution_share(const Gpu& gpu, Math math, const Tile& tile, std::int64_t element_bytes,
                         Fetched fetched) {
  const double share = product_share(gpu, math);
  if (!uses_tensor_cores(math))
    return kOfProducts * tile_efficiency(gpu, math, tile.m, tile.n, element_bytes, fetched);
  return std::min(share, kL2Share * supplied(gpu, math, tile.m, tile.n, element_bytes, fetched));
}

bool fits(const Tile& tile, const Product& product) {
  return tile.m < 2 * std::max<std::int64_t>(product.m, 32) &&
         tile.n < 2 * std::max<std::int64_t>(product.n, 32);
}

Cut cut(const Gpu& gpu, Math math, std::int64_t element_bytes, const Tile& tile,
        const Product& product) {
  Cut result;
  const std::int64_t tiles =
      product.count * ceil_div(product.m, tile.m) * ceil_div(product.n, tile.n);
  const std::int64_t room = product.whole_k ? 1 : std::max<std::int64_t>(1, gpu.sm_count / tiles);
  result.parts = std::clamp<std::int64_t>(product.k / kLeastPart, 1, room);
  result.blocks = tiles * result.parts;
  const double calculated = 2.0 * tile.m * tile.n * product.calculated_k * of(tiles);
  result.efficiency = convolution_share(gpu, math, tile, element_bytes, product.fetched) *
                      product.share * product.flops / calculated * last_wave(gpu, result.blocks);
  return result;
}

Tile best_tile(const Gpu& gpu, Math math, std::int64_t element_bytes, const Product& product) {
  Tile best = convolution_tiles(math).back();
  double most = 0;
  for (const Tile& tile : convolution_tiles(math)) {
    if (!fits(tile, product)) continue;
    const Cut parts = cut(gpu, math, element_bytes, tile, product);
    const double reached = parts.efficiency * std::min(1.0, of(parts.blocks) / gpu.sm_count);
    if (reached <= most) continue;
    most = reached;
    best = tile;
  }
  return best;
}

double last_wave(const Gpu& gpu, std::int64_t blocks) {
  if (blocks <= gpu.sm_count) return 1;
  return of(blocks) / of(ceil_div(blocks, gpu.sm_count) * gpu.sm_count);
}

}  // namespace trainscope::machine
