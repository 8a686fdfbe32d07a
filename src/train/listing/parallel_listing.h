// What a listing says of a model that several GPUs train: how it is wrapped, sharded or cut.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program/config.h"
#include "train/listing/train_listing.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

struct ParallelLines {
  static constexpr std::size_t kNone = SIZE_MAX;

  std::vector<std::string> lines;
  // Of them, the one by which a rank gets what it holds: its wrapped model, its parts, its stages.
  std::size_t own = kNone;
  std::size_t ddp = kNone;  // and the one that wraps it for DistributedDataParallel
};

// `device`: how a rank names its GPU, "rank" or "local_rank". None for training on one GPU.
ParallelLines parallel_lines(const program::Config& config, const TrainSettings& settings,
                             const Graph& graph, const ListedStages& stages,
                             const std::string& device);

// How a rank names its place in its pipeline.
const char* rank_in_pipeline(const TrainSettings& settings);

// What the optimizer is given.
const char* listed_parameters(const TrainSettings& settings);

}  // namespace trainscope::train
