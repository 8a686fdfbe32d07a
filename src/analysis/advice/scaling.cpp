#include "analysis/advice/scaling.h"

#include <algorithm>
#include <set>

#include "analysis/steps/measured.h"
#include "base/error.h"
#include "base/stopped.h"
#include "base/time_ends.h"
#include "sim/simulation.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/settings/train_settings.h"

namespace trainscope::analysis {
namespace {

// The first have other buckets and are warm-up; then all are alike.
constexpr std::int64_t kSteps = 6;
constexpr std::uint64_t kBudget = 20'000;

// None where the machine is not there any more.
std::set<int> sizes_to_try(const program::Config& config, int own) {
  try {
    std::set<int> sizes = {own};
    const std::int64_t all = machine::all_gpus(train::machine_of(config));
    for (std::int64_t gpus = 1; gpus <= all; gpus *= 2) sizes.insert(static_cast<int>(gpus));
    return sizes;
  } catch (const InputError&) {
    return {};
  }
}

std::optional<double> throughput(const program::Config& config, const Stopped& stopped) {
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::build_program(config, machine);
  trace::Trace trace{trace::Origin{}};
  sim::Simulation simulation(program, machine, config.word("host.profile"), trace);
  while (!simulation.advance(kEndless, kBudget))
    if (stopped()) return std::nullopt;
  const Measured measured = measure(trace, &program, &machine);
  const Nanos time = measured.window.end - measured.window.start;
  if (simulation.ending() || measured.steps == 0 || time <= 0) return std::nullopt;
  return program.samples_per_step * measured.steps * 1e9 / static_cast<double>(time);
}

std::optional<double> throughput_if_it_runs(const program::Config& config, const Stopped& stopped) {
  try {
    return throughput(config, stopped);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

program::Config on(program::Config config, int gpus) {
  config.set("steps", std::min(kSteps, config.whole("steps")));
  config.set("loop.evaluate", false);
  config.set("validation.batches", std::int64_t{0});
  if (gpus == 1) return train::on_one_gpu(config);
  config.set("parallel.world_size", std::int64_t{gpus});
  return config;
}

}  // namespace

std::optional<ScalingCurve> scaling_curve(const program::Config& config, const Stopped& stopped) {
  if (!train::trains_in_parallel(config)) return std::nullopt;
  ScalingCurve curve;
  curve.own = static_cast<int>(config.whole("parallel.world_size"));
  for (const int gpus : sizes_to_try(config, curve.own)) {
    if (stopped()) return std::nullopt;
    if (const auto samples = throughput_if_it_runs(on(config, gpus), stopped))
      curve.points.push_back({gpus, *samples});
  }
  if (stopped() || curve.points.size() < 2 || curve.points.front().gpus != 1) return std::nullopt;
  return curve;
}

}  // namespace trainscope::analysis
