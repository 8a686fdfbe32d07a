// Division by a number that the host knows, for kernels whose threads find their rows and columns:
// a multiplication and a shift where a device would take dozens of instructions.
//
// Granlund and Montgomery: "Division by Invariant Integers using Multiplication", PLDI'94,
// doi:10.1145/178243.178249, figure 4.1 for numbers below 2^31. Larger ones are divided as they
// are.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

class Divisor {
 public:
  template <typename Number>
  struct Parts {
    Number quotient;
    Number rest;
  };

  // Multiplication divides numbers below this, by numbers below this.
  static constexpr std::size_t kSmall = std::size_t{1} << 31U;

  // 0 divides nothing.
  explicit constexpr Divisor(std::size_t by) : by_(by) {
    if (by == 0 || by >= kSmall) return;
    while ((std::uint64_t{1} << shift_) < by) ++shift_;
    const std::uint64_t above = (std::uint64_t{1} << shift_) - by;
    multiplier_ = static_cast<std::uint32_t>((above << 32U) / by + 1);
  }

  __host__ __device__ std::size_t by() const { return by_; }

  // Both below kSmall. The sum stays below 2^32: both of its terms are below 2^31.
  __host__ __device__ std::uint32_t quotient(std::uint32_t number) const {
    const std::uint64_t product = std::uint64_t{number} * multiplier_;
    return (static_cast<std::uint32_t>(product >> 32U) + number) >> shift_;
  }
  __host__ __device__ Parts<std::uint32_t> split(std::uint32_t number) const {
    const std::uint32_t times = quotient(number);
    return {times, number - times * static_cast<std::uint32_t>(by_)};
  }

  // Any.
  __host__ __device__ Parts<std::size_t> split(std::size_t number) const {
    if (number < kSmall && by_ < kSmall) {
      const auto parts = split(static_cast<std::uint32_t>(number));
      return {parts.quotient, parts.rest};
    }
    return {number / by_, number % by_};
  }

 private:
  std::size_t by_;
  std::uint32_t multiplier_ = 0;
  unsigned shift_ = 0;
};

}  // namespace trainscope::kernels
