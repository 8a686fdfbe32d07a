// RMS norm as LlamaRMSNorm writes it out in Hugging Face's transformers (modeling_llama.py), launch
// by launch, and what autograd does with it:
//
//   hidden_states = hidden_states.to(torch.float32)
//   variance = hidden_states.pow(2).mean(-1, keepdim=True)
//   hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
//   return self.weight * hidden_states.to(input_dtype)
//
// Six kernels forward, and two casts of narrow numbers. Kept are the numbers in FP32 (of the power
// and of the product), the reciprocal roots, and what the weight is multiplied with.
#pragma once

#include <vector>

#include "train/kernels/written_passes.h"

namespace trainscope::train {

// What forward leaves to backward beside the reciprocal roots.
struct KeptByRmsNorm {
  program::Index wide = program::kNoIndex;        // x in FP32; x itself where that is so
  program::Index normalised = program::kNoIndex;  // in the type of x
};

// In order; all but the last compute nothing by themselves, but for casts. `whole`: forward, or one
// of the gradients, as one operation. Forward fills in what it keeps, backward reads it.
std::vector<WrittenLaunch> written_rms_norm(const program::Program& program,
                                            const program::Operation& whole,
                                            const NewBuffer& new_buffer, KeptByRmsNorm& kept);

}  // namespace trainscope::train
