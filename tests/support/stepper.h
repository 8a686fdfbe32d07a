// Carries out a training program's numbers step by step, without virtual time around them.
#pragma once

#include <cstddef>

#include "program/numbers.h"
#include "program/program.h"

namespace trainscope::test {

// What an executor asks of the numbers, in its order: the main thread's commands, and within
// loss.backward() those of autograd's thread. Only for programs in which no number decides what is
// carried out. Both must outlive it.
class Stepper {
 public:
  Stepper(const program::Program& program, program::Numbers& numbers)
      : program_(program), numbers_(numbers) {
    for (const program::Thread& thread : program.threads)
      if (thread.role == program::ThreadRole::kAutograd) autograd_ = &thread;
  }

  // Goes on to the end of the next training step.
  trace::TrainingStep step() {
    const auto& commands = program_.threads.front().commands;
    while (next_ < commands.size()) {
      const program::Action& action = commands[next_++].action;
      carry_out(action);
      if (std::holds_alternative<program::Push>(action)) backward();
      if (const auto* log = std::get_if<program::LogStep>(&action)) return numbers_.step(log->step);
    }
    return {};
  }

 private:
  // Up to the push that says it is done.
  void backward() {
    while (next_backward_ < autograd_->commands.size()) {
      const program::Action& action = autograd_->commands[next_backward_++].action;
      carry_out(action);
      if (std::holds_alternative<program::Push>(action)) return;
    }
  }

  void carry_out(const program::Action& action) {
    if (const auto* load = std::get_if<program::LoadBatch>(&action)) numbers_.load(*load);
    if (const auto* launch = std::get_if<program::Launch>(&action))
      numbers_.run(program_.operations[launch->operation]);
    if (const program::Copy* copy = program::copy_of(action)) numbers_.copy(*copy);
  }

  const program::Program& program_;
  program::Numbers& numbers_;
  const program::Thread* autograd_ = nullptr;
  std::size_t next_ = 0;
  std::size_t next_backward_ = 0;
};

}  // namespace trainscope::test
