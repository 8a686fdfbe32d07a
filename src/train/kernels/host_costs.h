// What PyTorch's operators cost a host thread besides their launches, of one another.
#pragma once

#include "program/function.h"

namespace trainscope::train {

// The time of a function's operator in eager PyTorch, autograd's node in backward, in those of an
// element-wise operator called from Python (`host.eager_operator` of a machine).
double host_cost(const program::Function& function);

}  // namespace trainscope::train
