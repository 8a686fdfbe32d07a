// Rotary embedding of queries and keys, as Hugging Face's Llama has it (modeling_llama.py,
// apply_rotary_pos_emb).
//
// Su et al., arXiv:2104.09864. Of x [batch, length, heads, width], at position t and with h = width
// / 2, for i < h and the angle a = t θ^(-2i / width):
//   y[i] = x[i] cos a - x[i + h] sin a;  y[i + h] = x[i + h] cos a + x[i] sin a
// The gradient turns dy by -a. Angles are FP32, as PyTorch's are: t times a frequency that is
// rounded once. Error: a few units in the last place of the pair's length.
#pragma once

#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct Rotation {
  std::size_t batch = 0;
  std::size_t length = 0;
  std::size_t heads = 0;
  std::size_t width = 0;  // even
  bool back = false;
};

// `frequencies`: program::rotary_frequencies() of the width.
void rotate(const Rotation& shape, Values frequencies, Values x, Results y,
            const Workers& workers = {});

}  // namespace trainscope::host
