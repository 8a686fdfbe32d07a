// What is computed beside virtual time: numbers are there as soon as the work for them is issued,
// and appear in the trace when the device has done it.

#include <algorithm>
#include <cmath>

#include "sim/host.h"

namespace trainscope::sim {

bool Host::is_skipped(const program::Launch& launch) const {
  return numbers_ && launch.predicate != program::kNoIndex &&
         numbers_->value(launch.predicate) != 0;
}

void Host::compute_numbers(program::Index operation) {
  if (numbers_) numbers_->run(program_.operations[operation]);
}

void Host::branch(std::uint32_t thread, const program::Branch& branch) {
  if (!numbers_ || numbers_->value(branch.value) == 0) return;
  threads_[thread].next += branch.skipped;
  commands_done_ += branch.skipped;
}

void Host::log_step(Nanos now, std::uint32_t thread, const program::Command& command) {
  if (!numbers_) return;
  const auto& log = std::get<program::LogStep>(command.action);
  const trace::TrainingStep row = numbers_->step(log.step);
  device_.when_done(now, device_.tail(now, log.stream), [this, step = row](Nanos done) mutable {
    step.time = done;
    numbers_->keep(step, recorder_.trace());
  });
  if (program::ends_run(row)) end_diverged(now, thread, command, row);
}

// The run ends here: no thread goes on. What the device has been given it still does.
void Host::end_diverged(Nanos now, std::uint32_t thread, const program::Command& command,
                        const trace::TrainingStep& step) {
  stopped_ = true;
  Diverged why;
  why.time = now;
  why.line = command.line;
  why.step = step.step;
  why.loss = step.loss;
  why.scaled = program_.gauges.scale != program::kNoIndex;
  why.half = std::any_of(
      program_.operations.begin(), program_.operations.end(),
      [](const program::Operation& one) { return one.type == program::ElementType::kFp16; });
  why.half_weights =
      std::any_of(program_.buffers.begin(), program_.buffers.end(), [](const program::Buffer& one) {
        return one.role == program::Role::kParameter && one.type == program::ElementType::kFp16;
      });
  diverged_ = why;
  const std::string what =
      std::string("the loss is ") + (std::isnan(step.loss) ? "NaN" : "infinite");
  host_span(thread, command, now, now, recorder_.name(std::string_view(what)),
            trace::Category::kOther);
}

void Host::log_evaluation(Nanos now, const program::LogEvaluation& log) {
  if (!numbers_) return;
  device_.when_done(now, device_.tail(now, log.stream),
                    [this, evaluation = numbers_->evaluation(log.step)](Nanos done) mutable {
                      evaluation.time = done;
                      numbers_->keep(evaluation, recorder_.trace());
                    });
}

}  // namespace trainscope::sim
