#include "analysis/metrics/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "analysis/steps/whole_run.h"

namespace trainscope::analysis {
namespace {

constexpr std::size_t kMeansInAll = 40;  // so many windows fit into a run
constexpr std::size_t kLongestMean = 64;

std::vector<double> running_mean(const std::vector<double>& values, std::size_t window) {
  std::vector<double> mean(values.size(), trace::kNoNumber);
  std::deque<double> last;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    last.push_back(values[i]);
    if (last.size() > window) last.pop_front();
    mean[i] = std::accumulate(last.begin(), last.end(), 0.0) / static_cast<double>(last.size());
  }
  return mean;
}

std::optional<std::size_t> reached(const LossCurve& curve) {
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < curve.mean.size(); ++i) {
    if (std::isnan(curve.mean[i])) continue;
    if (++numbers >= curve.window && curve.mean[i] <= curve.target) return i;
  }
  return std::nullopt;
}

void take(LossCurve& curve, const trace::TrainingStep& step) {
  const bool number = step.has_loss && std::isfinite(step.loss);
  const auto index = static_cast<std::int64_t>(curve.loss.size());
  curve.computed |= step.has_loss;
  if (step.has_loss && !number && !curve.diverged) curve.diverged = index;
  if (step.skipped) curve.skipped.push_back(index);
  curve.loss.push_back(number ? step.loss : trace::kNoNumber);
  curve.time.push_back(step.time);
  if (!number) return;
  if (curve.least > curve.most) curve.first = step.loss;
  curve.least = std::min(curve.least, step.loss);
  curve.most = std::max(curve.most, step.loss);
  if (step.loss > 0 && (curve.least_positive == 0 || step.loss < curve.least_positive))
    curve.least_positive = step.loss;
}

}  // namespace

std::optional<std::size_t> LossCurve::step_at(Nanos at) const {
  const auto after = std::upper_bound(time.begin(), time.end(), at);
  if (after == time.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - time.begin()) - 1;
}

LossCurve loss_curve(const trace::Trace& trace, const program::LossTarget& target) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LossCurve curve;
  curve.least = kInfinity, curve.most = -kInfinity;
  for (std::uint32_t i = 0, n = trace.steps().size(); i < n; ++i) take(curve, trace.steps()[i]);
  if (curve.least > curve.most) curve.least = curve.most = 0;
  curve.window = std::clamp<std::size_t>(curve.loss.size() / kMeansInAll, 1, kLongestMean);
  if (target.loss > 0) curve.window = static_cast<std::size_t>(target.steps);
  curve.mean = running_mean(curve.loss, curve.window);
  curve.target = target.loss;
  if (target.loss > 0) curve.reached = reached(curve);
  if (curve.reached) curve.reached_after = curve.time[*curve.reached] - whole_of(trace).start;
  for (std::uint32_t i = 0, n = trace.evaluations().size(); i < n; ++i) {
    const trace::Evaluation& one = trace.evaluations()[i];
    if (one.samples > 0)
      curve.accuracy.push_back(
          {one.step, one.time,
           static_cast<double>(one.correct) / static_cast<double>(one.samples)});
  }
  return curve;
}

}  // namespace trainscope::analysis
