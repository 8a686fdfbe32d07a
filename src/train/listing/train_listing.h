// The listing of the workload `train`: the classroom loop as a learner would write it with these
// knobs.
#pragma once

#include <string>
#include <vector>

#include "program/config.h"
#include "program/listing.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// Of a pipeline: how many blocks are before each of its stages but the first, and the parameter
// that its first and its last stage have both; empty: none.
struct ListedStages {
  std::vector<int> blocks_before;
  std::string tied;
};

// Where the commands of the loop stand; 0: the listing has no such line.
struct TrainLines {
  std::uint16_t model = 0;
  std::uint16_t ddp = 0;        // wraps it
  std::uint16_t whole_set = 0;  // moves all samples to the GPU
  std::uint16_t loop = 0;       // begins a step
  std::uint16_t begin = 0;      // takes the first batch, where that is not the loop itself
  std::uint16_t next = 0;       // takes the next batch
  std::uint16_t empty_cache = 0;
  std::uint16_t timer_start = 0;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  std::uint16_t wait_stream = 0;
  std::uint16_t record_stream = 0;
  std::uint16_t fetch = 0;  // starts the next batch's copy
  std::uint16_t resize = 0;
  std::uint16_t zero_grad = 0;
  std::uint16_t forward = 0;
  std::uint16_t loss = 0;
  std::uint16_t backward = 0;
  std::uint16_t tied = 0;  // sums the gradient of a parameter that two stages have
  std::uint16_t inject = 0;
  std::uint16_t unscale = 0;
  std::uint16_t clip = 0;
  std::uint16_t step = 0;
  std::uint16_t update_scale = 0;
  std::uint16_t sleep = 0;
  std::uint16_t item = 0;
  std::uint16_t sync = 0;
  std::uint16_t timer_stop = 0;
  std::uint16_t keep_loss = 0;  // appends to the list of losses
  std::uint16_t validate = 0;   // begins a validation
  std::uint16_t validation_next = 0;
  std::uint16_t validation_copy = 0;
  std::uint16_t validation_forward = 0;
  std::uint16_t validation_loss = 0;
  std::uint16_t validation_append = 0;
  std::uint16_t end = 0;
  std::uint16_t evaluate = 0;  // takes a batch of the test set
  std::uint16_t evaluate_copy = 0;
  std::uint16_t evaluate_forward = 0;
  std::uint16_t accuracy = 0;
};

TrainLines write_train_listing(program::Listing& listing, const program::Config& config,
                               const TrainSettings& settings, const Graph& graph,
                               const ListedStages& stages = {});

}  // namespace trainscope::train
