#include "trace/training_bytes.h"

#include <limits>
#include <string>

#include "trace/trace_bytes.h"

namespace trainscope::trace {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint32_t>::max();
// Which of a step's numbers follow. Files written before updates were counted have 0 or 1.
constexpr std::uint64_t kGradients = 1, kUpdates = 2;

void put_flag(ByteWriter& out, bool flag) {
  out.whole(flag ? 1 : 0);
}
bool take_flag(ByteReader& in) {
  return in.below(2, "a mark of a training step") == 1;
}

// Sums of what a file claims stay far from overflowing.
std::int64_t take_count(ByteReader& in, const char* what) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  const std::int64_t count = in.integer();
  if (count < 0 || count > kMost) in.damaged(std::string(what) + " is out of range");
  return count;
}

Nanos take_time(ByteReader& in) {
  const Nanos time = in.integer();
  if (time <= kEarliest || time >= kLatest)
    in.damaged("the time of a training step is out of range");
  return time;
}

void put(ByteWriter& out, const Magnitudes& magnitudes) {
  out.whole(magnitudes.zeros);
  out.whole(magnitudes.not_finite);
  for (const std::uint32_t bin : magnitudes.bins) out.whole(bin);
}

void take(ByteReader& in, Magnitudes& magnitudes) {
  constexpr const char* kWhat = "a count of gradients";
  magnitudes.zeros = in.below(kNoLimit, kWhat);
  magnitudes.not_finite = in.below(kNoLimit, kWhat);
  for (std::uint32_t& bin : magnitudes.bins) bin = in.below(kNoLimit, kWhat);
}

void put(ByteWriter& out, const TrainingStep& step) {
  out.integer(step.step);
  out.integer(step.time);
  put_flag(out, step.has_loss);
  out.real(step.loss);
  out.real(step.loss_scale);
  out.real(step.used_scale);
  out.real(step.gradient_norm);
  put_flag(out, step.skipped);
  const bool updates = step.updated != 0 || step.lost_updates != 0;
  out.whole((step.has_gradients ? kGradients : 0) | (updates ? kUpdates : 0));
  if (step.has_gradients) put(out, step.gradients);
  out.integer(step.rounded);
  out.integer(step.lost_to_zero);
  out.integer(step.lost_to_infinity);
  if (!updates) return;
  out.integer(step.updated);
  out.integer(step.lost_updates);
}

TrainingStep take_step(ByteReader& in) {
  TrainingStep step;
  step.step = take_count(in, "the number of a training step");
  step.time = take_time(in);
  step.has_loss = take_flag(in);
  step.loss = in.real();
  step.loss_scale = in.real();
  step.used_scale = in.real();
  step.gradient_norm = in.real();
  step.skipped = take_flag(in);
  const std::uint64_t follows = in.below(2 * kUpdates, "a mark of a training step");
  step.has_gradients = (follows & kGradients) != 0;
  if (step.has_gradients) take(in, step.gradients);
  step.rounded = take_count(in, "a count of rounded numbers");
  step.lost_to_zero = take_count(in, "a count of rounded numbers");
  step.lost_to_infinity = take_count(in, "a count of rounded numbers");
  if ((follows & kUpdates) == 0) return step;
  step.updated = take_count(in, "a count of updates");
  step.lost_updates = take_count(in, "a count of updates");
  if (step.lost_updates > step.updated) in.damaged("more updates are lost than there were");
  return step;
}

Evaluation take_evaluation(ByteReader& in) {
  Evaluation evaluation;
  evaluation.step = take_count(in, "the step of an evaluation");
  evaluation.time = take_time(in);
  evaluation.samples = take_count(in, "the samples of an evaluation");
  evaluation.correct = take_count(in, "the right answers of an evaluation");
  if (evaluation.correct > evaluation.samples)
    in.damaged("an evaluation has more right answers than samples");
  return evaluation;
}

}  // namespace

void put_training(ByteWriter& out, const Trace& trace) {
  out.whole(trace.steps().size());
  for (std::uint32_t i = 0; i < trace.steps().size(); ++i) put(out, trace.steps()[i]);
  out.whole(trace.evaluations().size());
  for (std::uint32_t i = 0; i < trace.evaluations().size(); ++i) {
    const Evaluation& evaluation = trace.evaluations()[i];
    out.integer(evaluation.step);
    out.integer(evaluation.time);
    out.integer(evaluation.samples);
    out.integer(evaluation.correct);
  }
}

void take_training(ByteReader& in, Trace& trace) {
  constexpr std::size_t kLeastStep = 40, kLeastEvaluation = 4;  // bytes
  const std::uint32_t steps = in.count(kLeastStep, "training steps");
  for (std::uint32_t i = 0; i < steps; ++i) trace.add_step(take_step(in));
  const std::uint32_t evaluations = in.count(kLeastEvaluation, "evaluations");
  for (std::uint32_t i = 0; i < evaluations; ++i) trace.add_evaluation(take_evaluation(in));
}

}  // namespace trainscope::trace
