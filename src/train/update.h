// What follows backward: the gradient scaler, clipping, the optimizer; as kernels over all
// parameters, the way torch.optim and torch.amp launch them.
#pragma once

#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/graph.h"
#include "train/tape.h"

namespace trainscope::train {

// Launches in order.
using Launches = std::vector<program::Index>;

struct ScalerBuffers {
  program::Index scale = program::kNoIndex;
  program::Index tracker = program::kNoIndex;
  program::Index found_inf = program::kNoIndex;
  program::Index found_inf_on_host = program::kNoIndex;
};

struct Update {
  std::vector<program::Index> state;        // the optimizer's, allocated in its first step
  std::vector<program::Index> temporaries;  // alive during each step
  Launches zero_grad;                       // set_to_none = False
  Launches unscale;                         // and the search for infinities
  Launches clip;
  Launches step;
  Launches update_scale;
  bool fused = false;  // skips by a predicate instead of a branch
  bool has_scaler = false;
  ScalerBuffers scaler;
  Launches inject_infinity;  // into a gradient
};

// Adds its buffers and operations to a program whose model has been added.
Update add_update(program::Program& program, const program::Config& config,
                  const ModelBuffers& model);

}  // namespace trainscope::train
