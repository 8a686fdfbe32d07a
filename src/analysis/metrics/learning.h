// How training goes, from the trace's rows of steps and evaluations.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace trainscope::analysis {

// What a run, or one step of it, computed. Warm-up counts: it is no matter of time.
struct Learning {
  std::optional<double> first_loss;
  std::optional<double> last_loss;
  std::optional<double> accuracy;       // of the last evaluation, 0..1
  std::optional<double> loss_scale;     // after the last step
  std::optional<double> gradient_norm;  // of the last step, before clipping
  std::optional<double> skipped_steps;  // where there is a loss scale
  // Shares of the numbers that backward rounded to a narrow type; none where it rounded none.
  std::optional<double> underflow;
  std::optional<double> overflow;
  // The share of the weights' gradients that backward left at zero; none where it noted none.
  std::optional<double> zero_gradients;
  // Of the weights whose gradient was not zero, the share that an update left as they were.
  std::optional<double> lost_updates;
};

Learning learning(const trace::Trace& trace);
Learning learning_of_step(const trace::Trace& trace, std::int64_t step);

}  // namespace trainscope::analysis
