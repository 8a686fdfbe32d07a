// GELU as GPT-2 writes it out in Hugging Face's transformers (activations.py, NewGELUActivation),
// launch by launch, and what autograd does with it:
//
//   0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))
//
// Eight kernels forward. Backward each product that has two tensors has two, the power has three
// (derivatives.yaml, pow_backward: grad * (3 * x.pow(2))), and the three gradients of x are added.
// Under autocast torch.pow is an operator of FP32; that is not reckoned.
#pragma once

#include <vector>

#include "program/program.h"
#include "train/kernels/written_passes.h"

namespace trainscope::train {

// What forward leaves to backward beside x.
struct KeptByGelu {
  program::Index half = program::kNoIndex;  // of x
  program::Index tanh = program::kNoIndex;
  program::Index factor = program::kNoIndex;  // tanh + 1
};

// In order; all but the last compute nothing by themselves. `whole`: forward or backward as one
// operation, whose function, operands and work as one call the last one has. Forward fills in what
// it keeps, backward reads it.
std::vector<WrittenLaunch> written_gelu(const program::Program& program,
                                        const program::Operation& whole,
                                        const NewBuffer& new_buffer, KeptByGelu& kept);

}  // namespace trainscope::train
