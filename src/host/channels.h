// Walking images a few channels at a time, in the order in which they lie in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "host/image.h"
#include "host/sums.h"
#include "host/workers.h"

namespace trainscope::host {

// Channels from `begin` to before `end`, at most kChannelBlock: a cache line where they are
// innermost.
inline constexpr std::size_t kChannelBlock = 16;
struct ChannelBlock {
  std::size_t begin;
  std::size_t end;
};
using ChannelTotals = std::array<double, kChannelBlock>;

// Calls body(block) for blocks that together are all channels.
template <typename Body>
void for_each_block(const ImageShape& shape, const Body& body, const Workers& workers) {
  const std::size_t grain = shape.layout == ImageLayout::kChannelsLast
                                ? kChannelBlock
                                : std::min(kChannelBlock, grain_of(shape.batch * shape.pixels()));
  workers.for_ranges(shape.channels, grain,
                     [&](std::size_t begin, std::size_t end) { body(ChannelBlock{begin, end}); });
}

// Calls body(i, c) with the place and channel of every value of a block.
template <typename Body>
void for_each_value(const ImageShape& shape, const ChannelBlock& block, const Body& body) {
  if (shape.layout == ImageLayout::kChannelsLast) {
    for (std::size_t v = 0; v < shape.batch * shape.pixels(); ++v) {
      const std::size_t first = v * shape.channels;
      for (std::size_t c = block.begin; c < block.end; ++c) body(first + c, c);
    }
    return;
  }
  for (std::size_t n = 0; n < shape.batch; ++n) {
    for (std::size_t c = block.begin; c < block.end; ++c) {
      const std::size_t plane = n * shape.image_size() + c * shape.pixels();
      for (std::size_t p = 0; p < shape.pixels(); ++p) body(plane + p, c);
    }
  }
}

// Σ term(i, c) over each channel of a block, in FP64; the first total is the block's first channel.
template <typename Term>
ChannelTotals channel_totals(const ImageShape& shape, const ChannelBlock& block, const Term& term) {
  ChannelTotals totals{};
  if (shape.layout == ImageLayout::kChannelsLast) {
    for_each_value(shape, block,
                   [&](std::size_t i, std::size_t c) { totals[c - block.begin] += term(i, c); });
    return totals;
  }
  for (std::size_t n = 0; n < shape.batch; ++n) {
    for (std::size_t c = block.begin; c < block.end; ++c) {
      const std::size_t plane = n * shape.image_size() + c * shape.pixels();
      totals[c - block.begin] +=
          sum_of(shape.pixels(), [&](std::size_t p) { return term(plane + p, c); });
    }
  }
  return totals;
}

}  // namespace trainscope::host
