// The metrics of a loss to be reached: after how many steps and samples, and how long it takes.

#include "analysis/loss_curve.h"
#include "analysis/metric_rows.h"

namespace trainscope::analysis {
namespace {

// A row of the trace, that of the step that reaches it.
std::optional<std::uint32_t> reaching_row(const Facts& facts) {
  const program::Program* program = facts.measured.program;
  if (!program || program->target.loss <= 0) return std::nullopt;
  const auto row = loss_curve(*facts.measured.trace, program->target).reached;
  if (!row) return std::nullopt;
  return static_cast<std::uint32_t>(*row);
}

Answer steps(const Facts& facts) {
  const auto row = reaching_row(facts);
  return row ? Answer(*row + 1.0) : std::nullopt;
}

}  // namespace

void add_target(Table& t) {
  t.add("time.to_loss", "ns", "time to the loss",
        "from the first event of the run, warm-up included, until the step that reaches "
        "loop.target_loss has computed its loss",
        [](const Facts& f) {
          const auto row = reaching_row(f);
          if (!row) return Answer();
          const Nanos end = f.measured.trace->steps()[*row].time;
          return Answer(static_cast<double>(end - f.measured.whole.start));
        });
  t.add(
      "steps.to_loss", "1", "steps to the loss",
      "steps up to the first at which the mean loss of the last 1,024 samples, of at least one "
      "batch, is not above loop.target_loss; of training batches, before their own update; absent "
      "where it never is, or there are fewer steps than such a mean has",
      steps);
  t.add("samples.to_loss", "1", "samples to the loss",
        "samples that these steps train on, of all ranks", [](const Facts& f) {
          const Answer count = steps(f);
          return count ? Answer(*count * f.measured.program->samples_per_step) : std::nullopt;
        });
}

}  // namespace trainscope::analysis
