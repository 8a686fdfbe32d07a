// What is computed beside virtual time: numbers are there as soon as the work for them is issued,
// and appear in the trace when the device has done it.

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

void Host::log(Nanos now, const program::LogStep& log) {
  if (!numbers_) return;
  device_.when_done(now, device_.tail(now, log.stream),
                    [this, step = numbers_->step(log.step)](Nanos done) mutable {
                      step.time = done;
                      recorder_.trace().add_step(step);
                    });
}

void Host::log(Nanos now, const program::LogEvaluation& log) {
  if (!numbers_) return;
  device_.when_done(now, device_.tail(now, log.stream),
                    [this, evaluation = numbers_->evaluation(log.step)](Nanos done) mutable {
                      evaluation.time = done;
                      recorder_.trace().add_evaluation(evaluation);
                    });
}

}  // namespace trainscope::sim
