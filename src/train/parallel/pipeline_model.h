// A model cut for a pipeline: what all of its ranks know of it, and what one rank has of it.
#pragma once

#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/listing/train_listing.h"
#include "train/model/graph.h"
#include "train/parallel/interleaved_order.h"
#include "train/parallel/stages.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

struct PipelineModel {
  std::vector<Stage> stages;
  // Of what each stage reads: of the first, the batch's; of the others, that of what the one before
  // gives.
  std::vector<program::ElementType> read_types;
  std::vector<std::vector<StageAction>> schedule;  // by rank, of an interleaved pipeline
};

// Throws InputError where the model has too few parts, or all micro-batches too many.
PipelineModel cut_for_pipeline(const program::Config& config, const TrainSettings& settings);

// How many of the model's blocks, as Layer::block counts them, each rank of a pipeline has in its
// stages. Throws InputError as cut_for_pipeline does.
std::vector<int> blocks_of_ranks(const program::Config& config, const TrainSettings& settings);

// What a stage computes with.
TapeOptions stage_options(const TrainSettings& settings);

// The parameters of each of a rank's stages. They begin as those of the whole model do.
std::vector<ModelBuffers> add_stage_buffers(program::Program& program, const PipelineModel& model,
                                            const Graph& whole, const TrainSettings& settings,
                                            int rank);

// Of all stages, one after another.
ModelBuffers joined(const std::vector<ModelBuffers>& stages);

ListedStages listed(const PipelineModel& model);

}  // namespace trainscope::train
