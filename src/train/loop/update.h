// What follows backward: the gradient scaler, clipping, the optimizer; as kernels over all
// parameters, the way torch.optim and torch.amp launch them.
#pragma once

#include <optional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/model/graph.h"

namespace trainscope::train {

// Launches in order.
using Launches = std::vector<program::Index>;

struct ScalerBuffers {
  program::Index scale = program::kNoIndex;
  program::Index tracker = program::kNoIndex;
  program::Index found_inf = program::kNoIndex;
  program::Index found_inf_on_host = program::kNoIndex;
};

// Numbers of this rank's parts, and their sums over all ranks, which take their place or are read
// instead; or over the ranks of its tensor group, where FSDP has groups of its own.
struct RankSum {
  program::Index own = program::kNoIndex;
  program::Index sum = program::kNoIndex;
  bool takes_place = false;
  bool of_tensor_group = false;
};

// Memory that an unfused optimizer's step needs from one of its launches to another, both included.
struct Temporary {
  program::Index buffer = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct Update {
  std::vector<program::Index> state;      // the optimizer's, allocated in its first step
  std::vector<Temporary> temporaries;     // by launch of `step`
  Launches zero_grad;                     // set_to_none = False
  Launches unscale;                       // and the search for infinities
  std::optional<RankSum> found_anywhere;  // of found_inf, behind it
  Launches norm;                          // of the gradients
  std::vector<RankSum> norms_everywhere;  // of each one's square, behind it, in order
  Launches clip;
  std::vector<RankSum> gradients_everywhere;  // that the optimizer reads instead of their parts
  Launches step;
  Launches update_scale;
  bool fused = false;  // skips by a predicate instead of a branch
  bool has_scaler = false;
  ScalerBuffers scaler;
  Launches inject_infinity;  // into a gradient

  // Of those gradients the sums, where a rank's is a part of one.
  std::vector<program::Index> sums_of(std::vector<program::Index> gradients) const;
};

// Adds its buffers and operations to a program whose model has been added. `sharded`: the model is
// this rank's parts of it, and what is asked of all gradients is asked of all ranks.
Update add_update(program::Program& program, const program::Config& config,
                  const ModelBuffers& model, bool sharded = false);

}  // namespace trainscope::train
