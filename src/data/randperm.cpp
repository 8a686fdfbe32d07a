#include "data/randperm.h"

#include <cassert>
#include <cstddef>
#include <numeric>
#include <utility>

namespace trainscope::data {
namespace {

// Each place from the first on swaps with a random one at or behind it.
std::vector<std::int64_t> shuffled(std::size_t length, Generator& generator) {
  std::vector<std::int64_t> order(length);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i + 1 < length; ++i)
    std::swap(order[i], order[i + generator.random32() % (length - i)]);
  return order;
}

// Each number is put at a random place up to its own, and what stood there moves to its own.
std::vector<std::int64_t> shuffled_while_filling(std::size_t length, Generator& generator) {
  std::vector<std::int64_t> order(length);
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t place = generator.random64() % (i + 1);
    order[i] = order[place];
    order[place] = static_cast<std::int64_t>(i);
  }
  return order;
}

}  // namespace

std::vector<std::int64_t> randperm(std::int64_t length, Generator& generator) {
  assert(length >= 0);
  const auto count = static_cast<std::size_t>(length);
  return length < kLongPermutation ? shuffled(count, generator)
                                   : shuffled_while_filling(count, generator);
}

}  // namespace trainscope::data
