// The loss of a run over its steps, with what was skipped, where it was no number, where it got to
// a target, and how accurate the model was when it was tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct LossCurve {
  struct Accuracy {
    std::int64_t step = 0;  // after so many
    Nanos time = 0;
    double share = 0;  // 0..1
  };

  // By step, from 0. NaN where no loss was computed, or the loss was no number.
  std::vector<double> loss;
  std::vector<double> mean;  // of the last `window` losses that are numbers, its own among them
  std::vector<Nanos> time;   // when the stream had computed it
  std::size_t window = 1;
  std::vector<std::int64_t> skipped;  // steps whose update was left out
  // The first step whose loss was computed and is NaN or infinite.
  std::optional<std::int64_t> diverged;
  double target = 0;  // 0: none
  // The first step whose mean is not above the target, and is one of a whole window; what the loss
  // does later changes nothing of it, as training would have ended there. MLPerf's time to train
  // ends so as well, of an evaluation (github.com/mlcommons/training_policies, "target quality").
  std::optional<std::size_t> reached;
  // From the run's first event, warm-up included, until that step's loss was computed; 0 where none
  // is reached.
  Nanos reached_after = 0;
  std::vector<Accuracy> accuracy;
  double first = 0;            // loss that is a number; 0 where there is none
  double least = 0, most = 0;  // of the losses that are numbers; 0 where there is none
  double least_positive = 0;   // for a logarithmic axis; 0 where there is none

  bool empty() const { return !computed && accuracy.empty(); }
  bool computed = false;  // some step has a loss

  // The last step that was done by then; none before the first.
  std::optional<std::size_t> step_at(Nanos at) const;
};

// Of the rows that are there now. Where there is a target, `window` is its own, so that it is
// reached where the line that is drawn gets there; else by how many steps there are.
LossCurve loss_curve(const trace::Trace& trace, const program::LossTarget& target = {});

}  // namespace trainscope::analysis
