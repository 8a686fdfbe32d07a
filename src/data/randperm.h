// torch.randperm on the CPU, number for number.
#pragma once

#include <cstdint>
#include <vector>

#include "data/generator.h"

namespace trainscope::data {

// The first length that PyTorch shuffles the other way, with 64-bit words: a remainder of a 32-bit
// word would by then prefer small numbers noticeably (randperm_cpu in ATen's TensorFactories.cpp).
inline constexpr std::int64_t kLongPermutation = 0xFFFFFFFF / 20;

// `torch.randperm(length, generator=generator)`: 0 … length - 1 in random order, length at least 0.
// Takes 8 bytes a number.
std::vector<std::int64_t> randperm(std::int64_t length, Generator& generator);

}  // namespace trainscope::data
