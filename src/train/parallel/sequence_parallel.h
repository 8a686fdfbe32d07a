// Sequence parallelism (Korthikanti et al., arXiv:2205.05198; SequenceParallel in
// torch.distributed.tensor.parallel): a model whose layers are cut, and of whose sequence each rank
// has a part between them.
//
// Norms, dropout and residual sums work token by token: each rank does so for its own tokens. What
// reads them, a pair of cut layers or the language model's head, gets the whole sequence, which is
// gathered from all ranks; what a pair gives is summed and scattered to them (tape_ranks.cpp). The
// embeddings are looked up whole, and each rank keeps its part of their sum; of an embedding whose
// rows are shared out the sum over ranks is scattered, and gets its part of the positions.
#pragma once

#include "train/model/graph.h"

namespace trainscope::train {

// Of a model that cut_layers() has cut, and whose tokens can be shared out to its ranks.
Graph cut_sequence(const Graph& cut);

}  // namespace trainscope::train
