// One step of SGD, Adam and AdamW on all parameters at once, skipped on the device where a gradient
// was not finite: torch.optim.SGD, Adam(fused = True). CPU reference: src/host/sgd.h, adam.h.
//
// The gradient may still carry the loss scale, which the step divides out; the number of the step
// is in device memory and counts only steps that were taken. So nothing waits for the host, and a
// whole step can be captured in a graph. Formulas are those of the CPU reference; all is FP32 and
// the master copy of the parameters is, the gradient and the copy for the next forward are G:
// float, Half, Bfloat16. Error: a few units in the last place (a device fuses multiplications with
// additions).
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// What a gradient scaler leaves in device memory. Null: no scale, never skipped.
struct ScaledStep {
  const float* scale = nullptr;
  const float* found_inf = nullptr;
};

// What a step reads and writes, `count` values each.
template <typename G>
struct ParameterArrays {
  const G* gradient = nullptr;
  float* parameter = nullptr;
  G* rounded = nullptr;  // the parameter rounded to G; null where that is not wanted
  std::size_t count = 0;
};

struct Sgd {
  float lr = 1e-3F;
  float momentum = 0;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;
};

// Before the step of any parameter: counts it, unless it is skipped. *step is 0 before the first.
void begin_sgd_step(Stream stream, const ScaledStep& scaled, std::int64_t* step);

// `velocity` may be null where momentum is 0.
template <typename G>
void sgd_step(Stream stream, const Sgd& options, const ScaledStep& scaled, const std::int64_t* step,
              const ParameterArrays<G>& arrays, float* velocity);

struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: the decay goes past the moments
};

// In device memory. All 0 before the first step.
struct AdamState {
  std::int64_t step = 0;
  float rate = 0;        // lr / (1 - β1^t)
  float correction = 0;  // √(1 - β2^t)
};

// Before the step of any parameter: counts it, unless it is skipped, and computes the corrections.
void begin_adam_step(Stream stream, const Adam& options, const ScaledStep& scaled,
                     AdamState* state);

struct AdamMoments {
  float* first = nullptr;   // m
  float* second = nullptr;  // v
};

template <typename G>
void adam_step(Stream stream, const Adam& options, const ScaledStep& scaled, const AdamState* state,
               const ParameterArrays<G>& arrays, const AdamMoments& moments);

}  // namespace trainscope::kernels
