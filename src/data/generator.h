// torch.Generator of the CPU: the Mersenne Twister MT19937, seeded as `manual_seed` does.
//
// Matsumoto, Nishimura: "Mersenne Twister", ACM TOMACS 8 (1998), doi:10.1145/272991.272995; the
// standard library's engine is the same one. Of the seed PyTorch uses the lower 32 bits alone.
#pragma once

#include <cstdint>
#include <random>

namespace trainscope::data {

class Generator {
 public:
  explicit Generator(std::uint64_t seed)
      : engine_(static_cast<std::mt19937::result_type>(seed & 0xFFFFFFFF)) {}

  std::uint32_t random32() { return static_cast<std::uint32_t>(engine_()); }

  // Two words, the first of them on top.
  std::uint64_t random64() {
    const std::uint64_t high = random32();
    return high << 32 | random32();
  }

  // `torch.empty((), dtype=torch.int64).random_()`: 63 random bits.
  std::uint64_t random_seed() { return random64() & ~(std::uint64_t{1} << 63); }

 private:
  std::mt19937 engine_;
};

}  // namespace trainscope::data
