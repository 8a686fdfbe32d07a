// Rotary embedding as Llama writes it out in Hugging Face's transformers (modeling_llama.py),
// launch by launch, and what autograd does with it:
//
//   x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
//   rotate_half = torch.cat((-x2, x1), dim=-1)
//   x_embed = (x * cos) + (rotate_half(x) * sin)
//
// Five kernels forward, nine backward; nothing is kept but the cosines and sines, which
// LlamaRotaryEmbedding makes once a forward. Under autocast these are FP32, and so is the result; a
// gradient is cast back for each of the two products.
#pragma once

#include <vector>

#include "train/kernels/written_passes.h"

namespace trainscope::train {

// Of each position and number of a head.
struct RotaryTables {
  program::Index cosines = program::kNoIndex;
  program::Index sines = program::kNoIndex;
};

// What makes them, for sequences of so many tokens: positions, their products with the frequencies,
// cosines and sines. `make` makes a buffer.
std::vector<program::Operation> rotary_table_launches(const program::Program& program,
                                                      const program::Rotate& f,
                                                      program::ElementType type,
                                                      const NewBuffer& make, RotaryTables& tables);

// In order; all but the last compute nothing by themselves. `whole`: forward or backward as one
// operation.
std::vector<WrittenLaunch> written_rotation(const program::Program& program,
                                            const program::Operation& whole,
                                            const RotaryTables& tables,
                                            const NewBuffer& new_buffer);

}  // namespace trainscope::train
