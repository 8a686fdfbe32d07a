// The metrics of a loss to be reached: after how many steps and samples, and how long it takes.

#include <cmath>

#include "analysis/metrics/loss_curve.h"
#include "analysis/metrics/metric_rows.h"

namespace trainscope::analysis {
namespace {

// Where there is a target and it is reached.
std::optional<LossCurve> reaching(const Facts& facts) {
  const program::Program* program = facts.measured.program;
  if (!program || program->target.loss <= 0) return std::nullopt;
  LossCurve curve = loss_curve(*facts.measured.trace, program->target);
  if (!curve.reached) return std::nullopt;
  return curve;
}

std::optional<std::int64_t> steps(const Facts& facts) {
  const auto curve = reaching(facts);
  if (!curve) return std::nullopt;
  return static_cast<std::int64_t>(*curve->reached) + 1;
}

// How a run's batches lie in its epochs.
struct Batches {
  std::int64_t of_step = 1;
  std::int64_t of_epoch = 1;
  double missing = 0;  // samples of an epoch's last batch, of all ranks, to a whole one

  std::int64_t epochs(std::int64_t steps) const { return steps * of_step / of_epoch; }
};

// The batches of a step and what is missing follow from the mean of the steps after the warm-up:
// the fewest that make whole numbers. Nothing where all batches are whole, of all ranks `size`.
std::optional<Batches> uneven_batches(const program::Program& program, double size) {
  constexpr double kRounding = 1e-6;
  constexpr std::int64_t kMost = 1000;
  const auto is_whole = [](double value) {
    return std::abs(value - std::round(value)) < kRounding;
  };
  const double mean = program.samples_per_step;
  const auto least = static_cast<std::int64_t>(std::ceil(mean / size - kRounding));
  for (Batches of{.of_step = least}; of.of_step < least + kMost; ++of.of_step) {
    const double epoch = program.steps_per_epoch * static_cast<double>(of.of_step);
    if (epoch < 1 - kRounding || !is_whole(epoch)) continue;
    of.of_epoch = std::llround(epoch);
    const std::int64_t ends = of.epochs(program.steps) - of.epochs(program.warmup_steps);
    if (ends == 0) continue;
    const double a_step = static_cast<double>(of.of_step) * size - mean;
    of.missing = a_step * (program.steps - program.warmup_steps) / static_cast<double>(ends);
    if (of.missing >= size) return std::nullopt;
    if (is_whole(of.missing)) return of;
  }
  return std::nullopt;
}

// Samples of the first steps, of all ranks.
double samples_of(const program::Program& program, std::int64_t steps) {
  const double mean = program.samples_per_step, count = static_cast<double>(steps);
  const auto size = static_cast<double>(program.data.batch_size);  // of a rank
  const double alike = std::round(mean * count);
  if (program.data.drop_last || size <= 0 || program.steps_per_epoch <= 0) return alike;
  const double of_all = size * program.gpus / program.gpus_of_batch;
  const auto batches = uneven_batches(program, of_all);
  if (!batches) return alike;
  return count * static_cast<double>(batches->of_step) * of_all -
         std::round(batches->missing) * static_cast<double>(batches->epochs(steps));
}

}  // namespace

void add_target(Table& t) {
  t.add("time.to_loss", "ns", "time to the loss",
        "from the first event of the run, warm-up included, until the step that reaches "
        "loop.target_loss has computed its loss",
        [](const Facts& f) {
          const auto curve = reaching(f);
          return curve ? Answer(static_cast<double>(curve->reached_after)) : std::nullopt;
        });
  t.add(
      "steps.to_loss", "1", "steps to the loss",
      "steps up to the first at which the mean loss of the last 1,024 samples, of at least one "
      "batch, is not above loop.target_loss; of training batches, before their own update; absent "
      "where it never is, or there are fewer steps than such a mean has",
      [](const Facts& f) {
        const auto count = steps(f);
        return count ? Answer(static_cast<double>(*count)) : std::nullopt;
      });
  t.add("samples.to_loss", "1", "samples to the loss",
        "samples that these steps train on, of all ranks", [](const Facts& f) {
          const auto count = steps(f);
          return count ? Answer(samples_of(*f.measured.program, *count)) : std::nullopt;
        });
}

}  // namespace trainscope::analysis
