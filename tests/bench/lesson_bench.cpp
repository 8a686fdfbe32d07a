#include "analysis/run.h"
#include "bench/bench.h"
#include "scenario/lesson.h"
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

}  // namespace trainscope::bench
