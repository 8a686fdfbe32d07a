// SiLU: torch.nn.functional.silu. y = x σ(x), σ(x) = 1/(1 + exp(-x)); dx = dy σ (1 + x (1 - σ)).
//
// Elfwing, Uchibe, Doya, arXiv:1702.03118. Error: a few units in the last place of x (of dy in
// backward). y may be x, dx may be dy.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void silu_forward(Values x, Results y, const Workers& workers = {});
void silu_backward(Values x, Values dy, Results dx, const Workers& workers = {});

}  // namespace trainscope::host
