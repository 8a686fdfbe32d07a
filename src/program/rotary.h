// The angles by which a rotary embedding turns pairs of numbers from one token to the next.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace trainscope::program {

// θ^(-2i / width) of each i below width / 2, in FP32 and rounded as Hugging Face's Llama does
// (modeling_rope_utils.py): 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)).
inline std::vector<float> rotary_frequencies(std::size_t width, double theta) {
  std::vector<float> frequencies(width / 2);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
    frequencies[i] = 1 / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
  }
  return frequencies;
}

}  // namespace trainscope::program
