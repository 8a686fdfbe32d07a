#include "host/shards.h"

#include <algorithm>

namespace trainscope::host {
namespace {

// Calls body(tensor, its first number, numbers, their place among the parts) for each part of each
// tensor that holds any.
template <typename Tensor, typename Body>
void for_parts(std::span<const Tensor> tensors, std::size_t ranks, const Body& body) {
  std::size_t place = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const Tensor& tensor : tensors) {
      const std::size_t part = shard_size(tensor.size(), ranks);
      const std::size_t first = std::min(rank * part, tensor.size());
      body(tensor, first, std::min(part, tensor.size() - first), place);
      place += part;
    }
}

}  // namespace

void shards_apart(Values parts, std::size_t ranks, std::span<const Results> tensors) {
  for_parts(tensors, ranks,
            [&](Results tensor, std::size_t first, std::size_t count, std::size_t place) {
              std::ranges::copy(parts.subspan(place, count), tensor.subspan(first).begin());
            });
}

void shards_together(std::span<const Values> tensors, std::size_t ranks, float factor,
                     Results parts) {
  std::ranges::fill(parts, 0.0F);
  for_parts(tensors, ranks,
            [&](Values tensor, std::size_t first, std::size_t count, std::size_t place) {
              for (std::size_t i = 0; i < count; ++i) parts[place + i] = factor * tensor[first + i];
            });
}

}  // namespace trainscope::host
