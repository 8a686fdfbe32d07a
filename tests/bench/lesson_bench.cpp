#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "bench/bench.h"
#include "scenario/lesson.h"
#include "support/step_facts.h"
#include "train/build.h"

namespace trainscope::bench {

void bench_lessons() {
  std::printf("\nlessons: both sides from config to metrics\n");
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    const Timing timing = time_of(21, [&] {
      analysis::run_config("A", lesson.side("A"));
      analysis::run_config("B", lesson.side("B"));
    });
    std::printf("  %-28s %7.2f ms median, %7.2f ms best\n", lesson.id.c_str(), timing.median * 1e3,
                timing.best * 1e3);
  }
}

void bench_series() {
  std::printf("\nseries: facts of each step of amp-underflow's A\n");
  for (const char* steps : {"steps=100", "steps=400", "steps=1600"}) {
    program::Config more;
    more.set_text(steps);
    const analysis::Run run =
        analysis::run_config("A", scenario::find_lesson("amp-underflow").side("A", more));
    const Timing timing = time_of(
        3, [&] { test::gather_step_facts(*run.trace, run.program.get(), run.machine.get()); });
    std::printf("  %-12s %u spans: %8.1f ms median, %6.3f ms a step\n", steps,
                run.trace->spans().size(), timing.median * 1e3,
                timing.median * 1e3 / run.facts.measured.steps);
  }
}

void bench_simulator() {
  std::printf("\nsimulator: the training program, commands a second\n");
  program::Config config;
  config.set_text("workload=train");
  config.set_text("steps=2000");
  config.set_text("loader.num_workers=4");
  config.set_text("loader.pin_memory=true");
  config.set_text("transfer.non_blocking=true");
  const machine::Machine machine = machine::load_machine("h200-1");
  const program::Program program = train::build_program(config, machine);
  std::uint64_t commands = 0;
  std::uint32_t spans = 0;
  const Timing timing = time_of(7, [&] {
    trace::Trace trace{trace::Origin{}};
    sim::Simulation simulation(program, machine, "pytorch-eager", trace);
    simulation.finish();
    commands = simulation.commands_done();
    spans = trace.spans().size();
  });
  std::printf("  %.2f million commands/s median (%llu commands, %u spans in %.1f ms)\n",
              static_cast<double>(commands) / timing.median / 1e6,
              static_cast<unsigned long long>(commands), spans, timing.median * 1e3);
}

namespace {

struct TrainingCase {
  std::string name;
  std::vector<std::string> settings;
};

const TrainingCase kTrainings[] = {
    {"gpt2-large", {"machine=h200-1", "model.name=gpt2-large", "batch_size=8"}},
    {"gpt2-large, 8 ranks of DDP",
     {"machine=h200-8", "model.name=gpt2-large", "batch_size=8", "parallel.strategy=ddp",
      "parallel.world_size=8"}},
    {"resnet50, 8 ranks of DDP",
     {"machine=h200-8", "model.name=resnet50", "batch_size=32", "parallel.strategy=ddp",
      "parallel.world_size=8"}},
};

}  // namespace

void bench_training_steps() {
  std::printf("\nsimulator: a training step, its kernels block by block\n");
  for (const TrainingCase& one : kTrainings) {
    program::Config config;
    for (const std::string& setting : one.settings) config.set_text(setting);
    config.set_text("steps=1");
    const machine::Machine machine = machine::load_machine(config.word("machine"));
    const Timing built = time_of(11, [&] { train::build_program(config, machine); });
    const program::Program program = train::build_program(config, machine);
    std::size_t kernels = 0;
    const Timing simulated = time_of(11, [&] {
      trace::Trace trace{trace::Origin{}};
      sim::Simulation simulation(program, machine, "pytorch-eager", trace);
      simulation.finish();
      kernels = 0;
      for (std::uint32_t i = 0; i < trace.spans().size(); ++i)
        kernels += trace::is_kernel(trace.spans()[i].category);
    });
    std::printf("  %-28s %7.2f ms median, %7.2f ms best; %zu kernels; its program %.2f ms\n",
                one.name.c_str(), simulated.median * 1e3, simulated.best * 1e3, kernels,
                built.median * 1e3);
  }
}

}  // namespace trainscope::bench
