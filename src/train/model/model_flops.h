// The arithmetic of a model, as MFU counts it: PaLM (arXiv:2204.02311, appendix B).
#pragma once

#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// Forward, loss and backward of a graph's batch on one GPU in FP32, and a program that has its
// operations.
struct LonePlan {
  program::Program program;
  Plan plan;
};
LonePlan plan_alone(const Graph& graph);

// Multiplications and additions of the matrix products, convolutions and attentions in forward and
// backward of a graph's batch, each once, a causal attention's without the mask. What a strategy,
// checkpointing or a kernel computes again is not of the model, nor are norms, activations, the
// loss and the optimizer's update. Proportional to the batch.
double model_flops(const Graph& graph);

// The same of one sample, by each size that images may have, in turn.
std::vector<double> model_flops_of_samples(const program::Config& config,
                                           const TrainSettings& settings);

// Of an operation, with what a flash kernel leaves out of a causal mask: so FLOP a step, and HFU,
// count attention as MFU does.
double counted_flops(const program::Operation& operation);

}  // namespace trainscope::train
