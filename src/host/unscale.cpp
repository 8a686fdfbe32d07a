#include "host/unscale.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trainscope::host {
namespace {

bool unscale_range(Results gradient, float inverse) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t found = 0;
  for (float& g : gradient) {
    found |= (std::bit_cast<std::uint32_t>(g) & kExponent) == kExponent ? 1U : 0U;
    g *= inverse;
  }
  return found != 0;
}

}  // namespace

float inverse_scale(float scale) {
  return static_cast<float>(1 / static_cast<double>(scale));
}

bool unscale(Results gradient, float inverse, const Workers& workers) {
  std::atomic<bool> found{false};
  workers.for_ranges(gradient.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (unscale_range(gradient.subspan(begin, end - begin), inverse)) found = true;
  });
  return found;
}

}  // namespace trainscope::host
