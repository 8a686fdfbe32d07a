// Stochastic gradient descent: torch.optim.SGD.
//
//   g = gradient + weight_decay · p
//   v = g in the first step, else momentum · v + (1 - dampening) · g   (momentum 0: no v, g is used)
//   g = g + momentum · v with nesterov, else v
//   p = p - lr · g
// Error: within one unit in the last place of the larger term of each addition; PyTorch fuses some
// multiplications with additions, this does not.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct Sgd {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

// One step of one parameter. `velocity` may be empty where momentum is 0.
void sgd_step(const Sgd& options, bool first_step, Values gradient, Results parameter,
              Results velocity, const Workers& workers = {});

}  // namespace trainscope::host
