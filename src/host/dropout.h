// Dropout in training: torch.nn.functional.dropout. In evaluation there is none: do not call it.
//
// y[i] = x[i] / (1 - p) where element i is kept, else 0; dx likewise from dy, with the same
// elements. Element i is kept where unit_float(word `offset` + i of the stream) >= p
// (base/random.h), so no mask is stored: backward, a checkpoint's second forward and a GPU draw the
// same one. PyTorch draws its mask from other generators (MT19937 on the CPU, another use of Philox
// on the GPU), so masks differ from its; given the same mask, results are the same. Error: one
// rounding of the factor, one of the product. y may be x.
#pragma once

#include <cstdint>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct Dropout {
  float p = 0.5F;  // the share that is dropped, 0 to 1
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  // one a layer and use, so that no two draw the same words
  std::uint64_t offset = 0;  // the first word; steps of a run take consecutive ranges
};

bool is_kept(const Dropout& dropout, std::uint64_t element);

// Forward and, applied to dy, backward. Throws InputError where p is not in [0, 1].
void apply_dropout(const Dropout& dropout, Values x, Results y, const Workers& workers = {});

}  // namespace trainscope::host
