#include "cuda/noise.h"

#include <cstring>

#include "base/random.h"
#include "host/float_types.h"

namespace trainscope::cuda {
namespace {

using program::ElementType;

template <typename Stored, typename Make>
std::vector<char> made(std::int64_t bytes, const Make& make) {
  std::vector<char> all(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < all.size() / sizeof(Stored); ++i) {
    const Stored one = make(random_word(1, i));
    std::memcpy(all.data() + i * sizeof(Stored), &one, sizeof(Stored));
  }
  return all;
}

float number(std::uint32_t word) {
  return 2 * unit_float(word) - 1;
}

}  // namespace

std::vector<char> noise_of(ElementType type, std::int64_t bytes, std::int64_t below) {
  switch (type) {
    case ElementType::kFp16:
      return made<host::Float16>(bytes, [](auto word) { return host::to_float16(number(word)); });
    case ElementType::kBf16:
      return made<host::Bfloat16>(bytes, [](auto word) { return host::to_bfloat16(number(word)); });
    case ElementType::kInt64:
      return made<std::int64_t>(bytes, [&](std::int64_t word) { return word % below; });
    default:
      return made<float>(bytes, number);
  }
}

}  // namespace trainscope::cuda
