// Which parts of a model torch.compile compiles by themselves: pieces, whose forward is a graph and
// whose backward is another. To autograd the backward of a piece is one node: none of its gradients
// is ready before all of them are.
#pragma once

#include <cstdint>
#include <vector>

#include "program/config.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// The piece of each layer of the graph, in the order in which forward runs them, or
// PlannedLaunch::kNotCompiled; none without torch.compile. Alone on its GPU a model is one piece.
// Beside DistributedDataParallel it is cut at its buckets (torch/_dynamo/backends/distributed.py,
// DDPOptimizer), unless compile.optimize_ddp is off. What fully_shard wraps is a piece each, for
// its hooks are not compiled; with fsdp.wrap = block, layers of no block are not compiled either.
std::vector<int> compiled_pieces(const program::Config& config, const TrainSettings& settings,
                                 const Graph& graph);

// How many there are, of one layer at least each.
int count_pieces(const std::vector<int>& pieces);

// Of layers with so many bytes of parameters: from the last to the first, a piece ends with the
// layer that takes it to its cap, `first` of the last piece and `others` of the ones before.
// Layers without parameters at the very beginning go with those behind them.
std::vector<int> pieces_at_buckets(const std::vector<std::int64_t>& bytes, std::int64_t first,
                                   std::int64_t others);

}  // namespace trainscope::train
