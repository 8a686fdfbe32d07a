// GELU: torch.nn.functional.gelu, approximate = "none" (the default) or "tanh".
//
// Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415.
//   none: y = x/2 (1 + erf(x/√2));  dy/dx = (1 + erf(x/√2))/2 + x exp(-x²/2)/√(2π)
//   tanh: y = x/2 (1 + tanh u), u = √(2/π) (x + 0.044715 x³);
//         dy/dx = (1 + tanh u)/2 + x/2 (1 - tanh² u) √(2/π) (1 + 3 · 0.044715 x²)
// Error: a few units in the last place of x (of dy in backward). On the far negative side 1 + erf
// cancels, so the relative error of the result grows there, in PyTorch too (and its 1 + tanh).
// y may be x, dx may be dy.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

enum class Gelu { kErf, kTanh };

void gelu_forward(Gelu kind, Values x, Results y, const Workers& workers = {});
void gelu_backward(Gelu kind, Values x, Values dy, Results dx, const Workers& workers = {});

}  // namespace trainscope::host
