// What the panel of gradient flow knows of a run, and what it calls that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/stage_times.h"
#include "analysis/causes/unit_times.h"
#include "analysis/views/collective_walk.h"
#include "analysis/views/gradient_flow.h"
#include "analysis/views/star_flow.h"
#include "machine/topology.h"
#include "ui/panels/gpus/step_strip.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// What was read of a run, off the window's thread.
struct FlowFacts {
  explicit FlowFacts(RunPointer of);

  RunPointer run;
  analysis::GradientFlow flow;    // of DistributedDataParallel
  analysis::StarFlow star;        // of DataParallel
  analysis::CollectiveWalk walk;  // of the workload `collective`
  analysis::StageTimes stages;    // of a pipeline
  analysis::UnitTimes units;      // of FSDP; four of the five are empty
  int ranks_of_units = 0;         // 0: not told
  StepWork work;
  bool has_virtual_gpus = false;  // measured on fewer real ones
  int apart = 1;  // of a mesh: how far the numbers of GPUs with the same parts are from one another
  // Of those GPUs; where the run has a machine with them.
  std::optional<machine::Topology> topology;
  std::vector<int> ring;  // these GPUs, by their number among them

  bool is_walk() const { return !walk.empty(); }
  bool is_in_stages() const { return !stages.empty(); }
  bool is_in_units() const { return !units.empty(); }
  bool is_in_rows() const { return is_in_stages() || is_in_units(); }
  bool is_star() const { return flow.empty() && !is_walk() && !is_in_rows(); }
  bool empty() const { return flow.empty() && star.empty() && !is_walk() && !is_in_rows(); }
  int gpus() const {
    if (is_in_stages()) return stages.ranks;
    if (is_in_units()) return ranks_of_units;
    if (is_walk()) return walk.collectives.front().ranks;
    return is_star() ? static_cast<int>(star.gpus.size()) : flow.ranks;
  }
};

// "DDP, 8 GPUs of 8 x H100 SXM, step 3", and shorter ones: the longest first. Not of a walk.
std::vector<std::string> title_of(const FlowFacts& facts, Nanos time);

}  // namespace trainscope::ui
