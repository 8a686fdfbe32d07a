// How the throughput of a training grows with its GPUs: the same config on 1, 2, 4, ... of its
// machine, each of them timed alone, without numbers.
#pragma once

#include <optional>
#include <vector>

#include "base/stopped.h"
#include "program/config.h"

namespace trainscope::analysis {

struct ScalingPoint {
  int gpus = 1;
  double samples_per_s = 0;  // of all of them together
};

struct ScalingCurve {
  std::vector<ScalingPoint> points;  // by GPUs, from one on
  int own = 1;                       // the config's own number of GPUs

  // As many times the throughput of one GPU as there are GPUs.
  double ideal(int gpus) const { return points.front().samples_per_s * gpus; }
  // Of the ideal, 0..1 (above 1 where caches or batches favour more GPUs).
  double efficiency(const ScalingPoint& point) const {
    return point.samples_per_s / ideal(point.gpus);
  }
};

// Powers of two up to the machine's GPUs, and the config's own number. Nothing for a config that is
// no training on several GPUs, or once `stopped` says so. A number of GPUs that cannot run (out of
// memory, a group that the nodes cannot share evenly) is left out.
std::optional<ScalingCurve> scaling_curve(const program::Config& config, const Stopped& stopped);

}  // namespace trainscope::analysis
