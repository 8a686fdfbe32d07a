// In which order the hooks of parameters run behind the backward of compiled pieces.
//
// To autograd's engine (torch/csrc/autograd/engine.cpp) a piece's backward is one node, and each
// parameter that the piece was given is another, which its gradient makes ready; so is the piece
// before it. They wait in a heap, parameters above all else and among them all alike, and alike
// ones leave a heap in an order of its own: that of std::priority_queue as GCC's library has it.
#pragma once

#include <vector>

#include "train/model/graph.h"

namespace trainscope::train {

// Parameters that compiled pieces use, in that order, over a whole backward. One that several
// pieces use is ready behind the first of them in the model. `pieces`: compiled_pieces.h.
std::vector<ParameterId> hook_order(const Graph& graph, const std::vector<int>& pieces);

}  // namespace trainscope::train
