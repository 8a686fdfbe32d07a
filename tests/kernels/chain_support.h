// Chains for tests, operand by operand and step by step.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels/chain.h"
#include "kernels/compare.h"

namespace trainscope::test {

using kernels::Chain;
using kernels::ChainAction;
using kernels::ChainFrom;
using kernels::NumberType;

template <typename T>
constexpr NumberType number_of() {
  if constexpr (std::is_same_v<T, Half>) return NumberType::kFp16;
  if constexpr (std::is_same_v<T, Bfloat16>) return NumberType::kBf16;
  return NumberType::kFp32;
}

// The register that it is read into.
template <typename T>
std::uint8_t read(Chain& chain, const std::vector<T>& values, ChainFrom from = ChainFrom::kEach,
                  std::size_t extent = 0, const void* index = nullptr) {
  const auto place = static_cast<std::uint8_t>(chain.read_count);
  kernels::ChainRead& operand = chain.reads[chain.read_count++];
  operand.memory = values.data();
  operand.type = number_of<T>();
  operand.place = place;
  operand.from = from;
  operand.extent = kernels::Divisor(extent);
  operand.rows = extent == 0 ? 0 : values.size() / extent;
  operand.index = index;
  return place;
}

// The register of the step's result, of type T.
template <typename T>
std::uint8_t step(Chain& chain, ChainAction action, std::uint8_t a, std::uint8_t b,
                  float factor = 1) {
  const auto result = static_cast<std::uint8_t>(kernels::kMostChainOperands + chain.step_count);
  chain.steps[chain.step_count++] = {action, number_of<T>(), a, b, result, factor};
  return result;
}

template <typename T>
void write(Chain& chain, std::vector<T>& values, std::uint8_t place) {
  kernels::ChainWrite& operand = chain.writes[chain.write_count++];
  operand.memory = values.data();
  operand.type = number_of<T>();
  operand.place = place;
}

}  // namespace trainscope::test
