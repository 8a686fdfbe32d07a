// A model cut into the stages of a pipeline.
//
// It is cut where one value alone goes from what is before to what is behind: between two blocks,
// or between a block and what is no block (embeddings, the head). The cuts are those by which the
// stage with the most arithmetic has as little as can be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/model/graph.h"

namespace trainscope::train {

struct Stage {
  // Value 0 is the batch, or what the stage before gives; the output of any but the last has the
  // place of the logits.
  Graph graph;
  std::vector<ParameterId> parameters;  // of the whole graph, in the order of the stage's
  int first_block = 0;                  // of its blocks, as Layer::block counts; 0: it has none
  int last_block = 0;
};

// For so many ranks. Throws InputError, which names the knob that asks for them, where the model
// has fewer places to be cut at.
std::vector<Stage> cut_into_stages(const Graph& whole, int ranks, int stages_per_rank = 1,
                                   std::string_view knob = "parallel.world_size");

// A parameter that layers of two stages use: both have it, and their gradients are to be summed.
struct TiedParameter {
  std::size_t first = 0;  // stage
  std::size_t second = 0;
  ParameterId in_first = 0;  // of that stage's graph
  ParameterId in_second = 0;
};
std::vector<TiedParameter> tied_parameters(const std::vector<Stage>& stages);

// How many of the model's blocks are before each stage behind the first.
std::vector<int> blocks_before(const std::vector<Stage>& stages);

// How many parameters whose values are drawn stand before one in a model; see Initial::before.
std::int64_t drawn_before(const Graph& graph, ParameterId parameter);

}  // namespace trainscope::train
