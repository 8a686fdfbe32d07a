// Adam and AdamW: torch.optim.Adam, torch.optim.AdamW, without amsgrad.
//
// Kingma and Ba, arXiv:1412.6980; Loshchilov and Hutter, arXiv:1711.05101. In step t = 1, 2, …:
//   Adam: g = gradient + weight_decay · p.  AdamW: p = p (1 - lr · weight_decay), g = gradient.
//   m = m + (1 - β1)(g - m);  v = β2 v + (1 - β2) g²
//   p = p - lr/(1 - β1^t) · m / (√v / √(1 - β2^t) + eps)
// The corrections are computed in FP64, the rest in FP32, as PyTorch's implementation for one
// tensor does. Error: a few units in the last place.
#pragma once

#include <cstdint>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  // AdamW's default is 1e-2
  bool decoupled = false;   // AdamW: the decay goes past the moments
};

struct AdamMoments {
  Results first;   // m, 0 before the first step
  Results second;  // v, 0 before the first step
};

// Step number `step`, from 1, of one parameter.
void adam_step(const Adam& options, std::int64_t step, Values gradient, Results parameter,
               const AdamMoments& moments, const Workers& workers = {});

}  // namespace trainscope::host
