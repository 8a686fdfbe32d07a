// One step of SGD, Adam and AdamW on all parameters at once, skipped on the device where a gradient
// was not finite: torch.optim.SGD, Adam(fused = True). CPU reference: src/host/sgd.h, adam.h.
//
// The gradient may still carry the loss scale, which the step divides out; the number of the step
// is in device memory and counts only steps that were taken. So nothing waits for the host, and a
// whole step can be captured in a graph. Formulas are those of the CPU reference and computed in
// FP32. Gradients and the copy for the next forward are G: float, Half, Bfloat16; parameters and
// state are P: the FP32 master copy of them, or G itself where the weights have that type. Error: a
// few units in the last place (a device fuses multiplications with additions).
//
// With `rounds` each operator's result is rounded to P, as kernels of one operator each leave it
// (src/host/rounded_steps.h).
#pragma once

#include "kernels/tensors.h"

namespace trainscope::kernels {

// What a gradient scaler leaves in device memory. Null: no scale, never skipped.
struct ScaledStep {
  const float* scale = nullptr;
  const float* found_inf = nullptr;
};

struct Sgd {
  float lr = 1e-3F;
  float momentum = 0;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;
  bool rounds = false;
};

// In device memory. All 0 before the first step.
struct SgdState {
  std::int64_t steps = 0;  // that were taken; not counted where momentum is 0
  std::uint32_t done = 0;  // blocks of the step that is being taken
};

// Of one parameter: `count` values each.
template <typename G, typename P = float>
struct SgdArrays {
  const G* gradient = nullptr;
  P* parameter = nullptr;
  P* velocity = nullptr;  // may be null where momentum is 0
  G* rounded = nullptr;   // the parameter rounded to G; null where that is not wanted
  std::size_t count = 0;
};

// A launch for as many parameters as a table holds (tensors.cuh): 87.
template <typename G, typename P>
void sgd_step(Stream stream, const Sgd& options, const ScaledStep& scaled, SgdState* state,
              std::span<const SgdArrays<G, P>> parameters);

struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: the decay goes past the moments
  bool rounds = false;
};

// In device memory. All 0 before the first step.
struct AdamState {
  std::int64_t step = 0;
  float rate = 0;        // lr / (1 - β1^t)
  float correction = 0;  // √(1 - β2^t)
};

template <typename G, typename P = float>
struct AdamArrays {
  const G* gradient = nullptr;
  P* parameter = nullptr;
  P* first = nullptr;    // m
  P* second = nullptr;   // v
  G* rounded = nullptr;  // as above
  std::size_t count = 0;
};

// A launch that counts the step, unless it is skipped, and computes the corrections; then one for
// as many parameters as a table holds: 73.
template <typename G, typename P>
void adam_step(Stream stream, const Adam& options, const ScaledStep& scaled, AdamState* state,
               std::span<const AdamArrays<G, P>> parameters);

}  // namespace trainscope::kernels
