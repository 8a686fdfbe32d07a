// Training steps on the CPU, as `run` computes them beside the simulator: batch, forward, backward,
// update. tests/bench/vs_torch.py takes the same steps in PyTorch.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/bench.h"
#include "host/interpreter.h"
#include "support/stepper.h"
#include "train/build.h"

namespace trainscope::bench {
namespace {

constexpr int kWarmUp = 4;
constexpr int kRuns = 100;

struct StepCase {
  std::string name;
  std::vector<std::string> settings;
};

const StepCase kCases[] = {
    {"mlp-784-256-256-10",
     {"model.name=mlp", "data.name=digits", "batch_size=64", "model.layers=2", "model.hidden=256"}},
    {"mlp-784-1024-1024-10",
     {"model.name=mlp", "data.name=digits", "batch_size=128", "model.layers=2",
      "model.hidden=1024"}},
    {"cnn-28x28-16-32",
     {"model.name=cnn", "data.name=digits", "batch_size=64", "cudnn.allow_tf32=false"}},
    {"gpt-mini-2x128",
     {"model.name=gpt-mini", "data.name=text", "batch_size=16", "model.seq_len=64"}},
};

program::Program program_of(const StepCase& one) {
  program::Config config;
  for (const std::string& setting : one.settings) config.set_text(setting);
  config.set_text("optimizer.name=adamw");
  config.set_text("optimizer.lr=0.001");
  config.set_text("optimizer.weight_decay=0.01");
  config.set_text("loop.evaluate=false");
  config.set_text(fmt::format("steps={}", kWarmUp + 1 + kRuns));
  return train::build_program(config, train::machine_of(config));
}

}  // namespace

void bench_steps() {
  fmt::print("\ntraining steps on the CPU, ms\n");
  for (const int threads : {1, 2}) {
    for (const StepCase& one : kCases) {
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
