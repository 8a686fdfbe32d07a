#include "host/unscale.h"

#include <bit>
#include <cstdint>

namespace trainscope::host {

float inverse_scale(float scale) {
  return static_cast<float>(1 / static_cast<double>(scale));
}

bool unscale(Results gradient, float inverse) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  bool found = false;
  for (float& g : gradient) {
    found |= (std::bit_cast<std::uint32_t>(g) & kExponent) == kExponent;
    g *= inverse;
  }
  return found;
}

}  // namespace trainscope::host
