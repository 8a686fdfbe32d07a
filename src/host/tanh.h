// tanh: torch.tanh. y = tanh(x); dx = dy (1 - y²).
//
// Error: at most 4 units in the last place of y (host/vector_math.h); backward as PyTorch's, by the
// result, so that a saturated one passes nothing. y may be x, dx may be dy.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void tanh_forward(Values x, Results y, const Workers& workers = {});

// `y` is what forward gave.
void tanh_backward(Values y, Values dy, Results dx, const Workers& workers = {});

}  // namespace trainscope::host
