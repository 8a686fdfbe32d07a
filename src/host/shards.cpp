#include "host/shards.h"

#include <algorithm>

#include "program/shards.h"

namespace trainscope::host {

void shards_apart(Values parts, std::size_t ranks, std::span<const Results> tensors) {
  program::for_each_shard(
      ranks, tensors.size(), [&](std::size_t i) { return tensors[i].size(); },
      [&](std::size_t i, std::size_t first, std::size_t count, std::size_t place) {
        std::ranges::copy(parts.subspan(place, count), tensors[i].subspan(first).begin());
      });
}

void shards_together(std::span<const Values> tensors, std::size_t ranks, float factor,
                     Results parts) {
  std::ranges::fill(parts, 0.0F);
  program::for_each_shard(
      ranks, tensors.size(), [&](std::size_t i) { return tensors[i].size(); },
      [&](std::size_t i, std::size_t first, std::size_t count, std::size_t place) {
        for (std::size_t k = 0; k < count; ++k) parts[place + k] = factor * tensors[i][first + k];
      });
}

}  // namespace trainscope::host
