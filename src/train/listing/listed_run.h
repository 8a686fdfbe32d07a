// What a listing is written from: the knobs, what follows from them, the model; and what several of
// its lines ask of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "program/config.h"
#include "train/listing/train_listing.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

struct ListedRun {
  const program::Config& config;
  const TrainSettings& settings;
  const Graph& graph;
  const ListedStages& stages;

  int processes() const;
  bool several_nodes() const;
  // All ranks work on the same batches.
  bool shares_batches() const;
  // How a rank names its GPU: they are numbered on each node.
  const char* device_number() const;

  // Epochs that the run begins.
  std::int64_t epochs() const;
  // Several, or one of which a sampler may have to be told.
  bool shows_epochs() const;
  // Lines of the loop speak of the number of a step.
  bool counts() const;
  // What the loop runs over.
  std::string batches() const;
  std::string all_batches() const;

  // Weights in FP16 or BF16.
  bool is_narrow() const;
  // `.to(…)` to the type of the weights.
  std::string cast() const;
  // The same of numbers: tokens stay whole.
  std::string cast_of_batch() const;
  // Of images: to other inputs the format means nothing.
  bool channels_last() const;
};

// "torch.float16" or "torch.bfloat16".
std::string_view torch_name(program::ElementType type);

}  // namespace trainscope::train
