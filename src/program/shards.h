// Where the parts of tensors lie that ranks hold in equal parts (ShardsApart, ShardsTogether): rank
// after rank, and of each rank tensor after tensor. A tensor whose numbers the ranks do not share
// evenly is padded at its end. Sizes and places are in elements.
#pragma once

#include <algorithm>
#include <cstddef>

namespace trainscope::program {

// Of a tensor on each rank, padding included.
constexpr std::size_t shard_size(std::size_t elements, std::size_t ranks) {
  return (elements + ranks - 1) / ranks;
}

// Calls body(tensor, its first element, elements without padding, their place among the parts) for
// each part of each of so many tensors. `size_of(tensor)`: its elements.
template <typename Size, typename Body>
void for_each_shard(std::size_t ranks, std::size_t tensors, const Size& size_of, const Body& body) {
  std::size_t place = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      const std::size_t all = size_of(tensor), part = shard_size(all, ranks);
      const std::size_t first = std::min(rank * part, all);
      body(tensor, first, std::min(part, all - first), place);
      place += part;
    }
}

}  // namespace trainscope::program
