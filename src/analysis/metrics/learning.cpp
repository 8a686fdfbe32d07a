#include "analysis/metrics/learning.h"

#include <cmath>

namespace trainscope::analysis {
namespace {

std::optional<double> unless_none(double number) {
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

class Gatherer {
 public:
  void add(const trace::TrainingStep& step) {
    if (step.has_loss) {
      if (!learning_.first_loss) learning_.first_loss = step.loss;
      learning_.last_loss = step.loss;
    }
    learning_.gradient_norm = unless_none(step.gradient_norm);
    learning_.loss_scale = unless_none(step.loss_scale);
    if (learning_.loss_scale)
      learning_.skipped_steps = learning_.skipped_steps.value_or(0) + (step.skipped ? 1 : 0);
    rounded_ += static_cast<double>(step.rounded);
    to_zero_ += static_cast<double>(step.lost_to_zero);
    to_infinity_ += static_cast<double>(step.lost_to_infinity);
    gradients_ += static_cast<double>(step.gradients.total());
    zeros_ += static_cast<double>(step.gradients.zeros);
    updated_ += static_cast<double>(step.updated);
    lost_updates_ += static_cast<double>(step.lost_updates);
  }

  Learning finish() {
    if (rounded_ > 0) {
      learning_.underflow = to_zero_ / rounded_;
      learning_.overflow = to_infinity_ / rounded_;
    }
    if (gradients_ > 0) learning_.zero_gradients = zeros_ / gradients_;
    if (updated_ > 0) learning_.lost_updates = lost_updates_ / updated_;
    return learning_;
  }

 private:
  Learning learning_;
  double rounded_ = 0, to_zero_ = 0, to_infinity_ = 0;
  double gradients_ = 0, zeros_ = 0;
  double updated_ = 0, lost_updates_ = 0;
};

}  // namespace

Learning learning(const trace::Trace& trace) {
  Gatherer gatherer;
  for (std::uint32_t i = 0, n = trace.steps().size(); i < n; ++i) gatherer.add(trace.steps()[i]);
  Learning learning = gatherer.finish();
  if (const std::uint32_t n = trace.evaluations().size(); n > 0) {
    const trace::Evaluation& last = trace.evaluations()[n - 1];
    if (last.samples > 0)
      learning.accuracy = static_cast<double>(last.correct) / static_cast<double>(last.samples);
  }
  return learning;
}

Learning learning_of_step(const trace::Trace& trace, std::int64_t step) {
  Gatherer gatherer;  // a run has a row for each step, in order, or none at all
  if (step < std::int64_t{trace.steps().size()})
    gatherer.add(trace.steps()[static_cast<std::uint32_t>(step)]);
  return gatherer.finish();
}

}  // namespace trainscope::analysis
