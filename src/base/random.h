// Random numbers that are the same on CPU and GPU: Philox 4x32-10, a counter in, four words out.
//
// Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11,
// doi:10.1145/2063384.2063405. There is no state: word `index` of the stream `seed` is a function
// of the two, so any thread can draw any of them.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TRAINSCOPE_HOST_DEVICE __host__ __device__
#else
#define TRAINSCOPE_HOST_DEVICE
#endif

namespace trainscope {

struct PhiloxCounter {
  std::uint32_t words[4];
};

struct PhiloxKey {
  std::uint32_t words[2];
};

// One block of four words.
TRAINSCOPE_HOST_DEVICE constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter.words[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter.words[2];
    counter = {{static_cast<std::uint32_t>(second >> 32) ^ counter.words[1] ^ key.words[0],
                static_cast<std::uint32_t>(second),
                static_cast<std::uint32_t>(first >> 32) ^ counter.words[3] ^ key.words[1],
                static_cast<std::uint32_t>(first)}};
    key.words[0] +=
        0x9E3779B9;  // the golden ratio and the square root of 3, less 1, as the paper has them
    key.words[1] += 0xBB67AE85;
  }
  return counter;
}

// The four words 4 * block … 4 * block + 3 of the stream `seed`: its key; the block's number is the
// low half of the counter, the high half is `stream`, which keeps users of one seed apart.
TRAINSCOPE_HOST_DEVICE constexpr PhiloxCounter random_block(std::uint64_t seed, std::uint64_t block,
                                                            std::uint64_t stream = 0) {
  return philox4x32(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
        static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
      {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
}

// Word `index` of the stream.
TRAINSCOPE_HOST_DEVICE constexpr std::uint32_t random_word(std::uint64_t seed, std::uint64_t index,
                                                           std::uint64_t stream = 0) {
  return random_block(seed, index / 4, stream).words[index % 4];
}

// The upper 24 bits of a word as a number in [0, 1): every value is a multiple of 2^-24, exactly.
TRAINSCOPE_HOST_DEVICE constexpr float unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

}  // namespace trainscope
