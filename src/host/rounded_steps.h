// Updates of FP16 or BF16 parameters by kernels of one operator each, as torch.optim launches them
// with foreach = True, and without it.
//
// Each kernel computes in FP32 and rounds its result to the tensors' format, so a step is rounded
// several times (aten/src/ATen/native/cuda/ForeachFunctors.cuh):
//   SGD: g = [gradient + weight_decay · p];  v = [momentum · v], v = [v + (1 - dampening) g];
//        p = [p - lr · v]
//   Adam: g = [gradient + weight_decay · p].  AdamW: p = [p (1 - lr · weight_decay)].
//        m = [m + (1 - β1)(g - m)];  v = [β2 v], v = [v + (1 - β2) g²];
//        d = [√v], d = [d / √(1 - β2^t)], d = [d + eps];  p = [p - lr/(1 - β1^t) · m / d]
// A fused kernel rounds once, at its end: that is sgd_step and adam_step (sgd.h, adam.h), and
// their results rounded. Parameters, gradients and state hold numbers that the format has. Error:
// that of FP32 before each rounding.
#pragma once

#include <cstdint>

#include "host/adam.h"
#include "host/cast.h"
#include "host/sgd.h"

namespace trainscope::host {

// Operands as those of sgd_step. Without Nesterov's momentum.
void rounded_sgd_step(NumberFormat format, const Sgd& options, bool first_step, Values gradient,
                      Results parameter, Results velocity, const Workers& workers = {});

// Operands as those of adam_step.
void rounded_adam_step(NumberFormat format, const Adam& options, std::int64_t step, Values gradient,
                       Results parameter, const AdamMoments& moments, const Workers& workers = {});

}  // namespace trainscope::host
