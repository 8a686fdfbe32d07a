// Tensors that ranks hold in equal parts: what an all-gather gives, taken apart, and what a
// reduce-scatter takes, put together (torch.split_with_sizes_copy, torch._chunk_cat).
//
// The parts lie rank after rank, and of each rank tensor after tensor. A tensor whose numbers the
// ranks do not share evenly is padded at its end.
#pragma once

#include <cstddef>
#include <span>

#include "host/views.h"

namespace trainscope::host {

// Numbers of a tensor that each rank holds, padding included.
constexpr std::size_t shard_size(std::size_t numbers, std::size_t ranks) {
  return (numbers + ranks - 1) / ranks;
}

void shards_apart(Values parts, std::size_t ranks, std::span<const Results> tensors);
// Times the factor; the padding is 0.
void shards_together(std::span<const Values> tensors, std::size_t ranks, float factor,
                     Results parts);

}  // namespace trainscope::host
