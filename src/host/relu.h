// ReLU: torch.nn.functional.relu. y = max(x, 0); dx = dy where y > 0, else 0.
//
// Exact, and a NaN passes, as in PyTorch. y may be x, dx may be dy.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void relu_forward(Values x, Results y, const Workers& workers = {});

// `y` is what forward gave.
void relu_backward(Values y, Values dy, Results dx, const Workers& workers = {});

}  // namespace trainscope::host
