// Training steps on the CPU, as `run` computes them beside the simulator: batch, forward, backward,
// update. tests/bench/vs_torch.py takes the same steps in PyTorch.
#include <fmt/format.h>

#include "bench/bench.h"
#include "bench/step_cases.h"
#include "host/interpreter.h"
#include "support/stepper.h"
#include "train/build.h"

namespace trainscope::bench {
namespace {

constexpr int kWarmUp = 4;
constexpr int kRuns = 100;

program::Program program_of(const StepCase& one) {
  program::Config config = one.config();
  config.set_text(fmt::format("steps={}", kWarmUp + 1 + kRuns));
  return train::build_program(config, train::machine_of(config));
}

}  // namespace

void bench_steps() {
  fmt::print("\ntraining steps on the CPU, ms\n");
  for (const int threads : {1, 2}) {
    for (const StepCase& one : step_cases()) {
      const program::Program program = program_of(one);
      host::Interpreter numbers(program, threads);
      test::Stepper stepper(program, numbers);
      for (int i = 0; i < kWarmUp; ++i) stepper.step();
      double loss = 0;
      const Timing took = time_of(kRuns, [&] { loss = stepper.step().loss; });
      fmt::print("  {:22} {} threads: best {:7.3f}, median {:7.3f} (loss {:.4f})\n", one.name,
                 threads, took.best * 1e3, took.median * 1e3, loss);
    }
  }
}

}  // namespace trainscope::bench
