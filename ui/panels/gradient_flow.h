// Gradient flow: the GPUs on their links, their gradients as cells that fill in backward, the
// buckets that close and the all-reduces that sum them, at the playhead; the table of the buckets,
// and what of it nothing else hides. Of a pipeline: its micro-batches on their way through the
// stages. Of FSDP: which units' parameters are whole, and when.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/collective_walk.h"
#include "analysis/scaling.h"
#include "analysis/stage_times.h"
#include "analysis/unit_times.h"
#include "machine/topology.h"
#include "ui/app/background.h"
#include "ui/panels/bucket_table.h"
#include "ui/panels/context.h"
#include "ui/panels/scaling_plot.h"
#include "ui/panels/step_strip.h"

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
  std::optional<machine::Topology> topology;  // where the run has a machine with its GPUs
  std::vector<int> ring;                      // its GPUs

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

struct GradientFlowPanel {
  struct Side {
    RunPointer read;  // that is read, or was
    Background<FlowFacts> reading;
    BucketTable table;
    RunPointer scaled;  // whose other numbers of GPUs are tried
    Background<analysis::ScalingCurve> scaling;
  };
  Side sides[2];
  ScalingRange range;  // of both scaling curves, of this frame
  // Of those that share a place, the chosen one: "GPUs", "buckets", "scaling"; of a walk "numbers".
  std::string part;
};

// Whether a side's run sums gradients over ranks, or sends them through stages.
bool has_gradient_flow(const Workspace& workspace);

// `beside` is the panel in whose place it stands where no layout says otherwise.
void draw_gradient_flow(const PanelContext& context, GradientFlowPanel& panel, const char* name,
                        const char* beside, bool* open);

}  // namespace trainscope::ui
