// The models, by the knob model.name.
#pragma once

#include "data/dataset.h"
#include "program/config.h"
#include "train/model/graph.h"

namespace trainscope::train {

// The data that a config trains on: what a sample looks like, and whether there is one.
struct TrainingData {
  std::string name;  // data.name, "auto" replaced by what the model usually sees
  data::SampleShape shape;
  std::int64_t train_samples = 0;
  std::int64_t test_samples = 0;
  bool has_samples = false;  // false: only the shape is known, so no number can be computed
};

// Throws InputError for data that the model cannot read.
TrainingData training_data(const program::Config& config);

// Of a model's blocks, so many-th is recomputed in backward; 0: none is.
int checkpoint_every(const program::Config& config);

// The graph of a forward pass over `batch` samples. Throws InputError for a shape that does not
// fit.
Graph build_model(const program::Config& config, const TrainingData& data, std::int64_t batch);

// attention.kernel and attention.dropout. `library`: how transformers writes the model out.
AttentionWay attention_way(const program::Config& config,
                           program::AttentionCode library = program::AttentionCode::kLearner);

// Whether the model is small enough to be computed on a CPU beside the simulator.
bool is_computed(const program::Config& config);

}  // namespace trainscope::train
