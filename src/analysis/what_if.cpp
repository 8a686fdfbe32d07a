#include "analysis/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/measured.h"
#include "base/error.h"
#include "base/units.h"
#include "train/build.h"
#include "train/replay/replay_program.h"

namespace trainscope::analysis {
namespace {

struct Question {
  const char* words;
  const char* setting;
};

// What is worth asking of a run, one thing at a time.
constexpr std::array kQuestions{
    Question{"The next batch is always there (num_workers, a lighter transform)",
             "replay.batches_ready=true"},
    Question{"The host costs nothing, as a CUDA graph has it", "replay.host_speed=1000"},
    Question{"The host is twice as fast (torch.compile, fewer and larger operators)",
             "replay.host_speed=2"},
    Question{"Kernels are twice as fast", "replay.kernel_speed=2"},
    Question{"Matrix products, convolutions and attention are twice as fast (BF16, channels_last)",
             "replay.product_speed=2"},
    Question{"Communication is hidden, or gone", "replay.communication_speed=1000"},
    Question{"Communication is twice as fast (a faster link, half the bytes)",
             "replay.communication_speed=2"},
    Question{"Copies come from pinned memory, non_blocking", "replay.non_blocking=true"},
    Question{"Copies are twice as fast", "replay.copy_speed=2"},
    Question{"The host never waits for the GPU (no .item(), no synchronize())",
             "replay.synchronise=false"},
};

struct Time {
  Nanos length = 0;
  int steps = 0;
  bool on_gpu = false;
};

Time time_of(const trace::Trace& trace, const program::Program* program,
             const machine::Machine* machine) {
  const Measured measured = measure(trace, program, machine);
  return {(measured.window.end - measured.window.start) / measured.per(), measured.steps,
          measured.on_gpu};
}

using Stopped = std::function<bool()>;

// Thrown out of a replay that is no longer wanted.
struct NotWanted {};

Time replay(const Run& run, const program::Config& config, const Stopped& stopped) {
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::replay_program(config, run.trace);
  trace::Trace trace(trace::Origin{});
  sim::Simulation simulation(program, machine, config.word("host.profile"), trace);
  constexpr std::uint64_t kEvents = 50'000;  // some milliseconds of them
  while (!simulation.advance(std::numeric_limits<Nanos>::max(), kEvents))
    if (stopped && stopped()) throw NotWanted();
  return time_of(trace, &program, &machine);
}

bool is_worth_telling(Nanos time, Nanos without) {
  constexpr double kLeast = 0.01;
  return time < without &&
         static_cast<double>(without - time) >= kLeast * static_cast<double>(without);
}

WhatIf ask(const Run& run, const Time& recorded, const Stopped& stopped) {
  const program::Config config = replay_of(run.trace->origin().subject);
  WhatIf result{recorded.length, replay(run, config, stopped).length, recorded.steps, {}};
  for (const Question& question : kQuestions) {
    program::Config changed = config;
    changed.set_text(question.setting);
    const Nanos time = replay(run, changed, stopped).length;
    if (is_worth_telling(time, result.replayed))
      result.changes.push_back({question.words, question.setting, time});
  }
  std::ranges::stable_sort(result.changes, {}, &Altered::time);
  return result;
}

}  // namespace

bool can_ask_what_if(const Run& run) {
  return !run.program && train::can_replay(*run.trace);
}

program::Config replay_of(const std::string& file) {
  program::Config config;
  config.set_text("workload=replay");
  for (const program::Knob& knob : program::knobs())
    if (knob.name.starts_with("replay.")) config.set(knob.name, knob.initial);
  config.set("replay.trace", file);
  return config;
}

std::string heading(const WhatIf& what_if) {
  const auto recorded = static_cast<double>(what_if.recorded);
  const auto replayed = static_cast<double>(what_if.replayed);
  const double error = what_if.recorded > 0 ? replayed / recorded - 1 : 0;
  return fmt::format(
      "SIMULATED: the trace replayed, which takes {}{} unchanged, recorded {}: {:+.1f} %",
      format_nanos(replayed), what_if.steps > 0 ? " a step" : "", format_nanos(recorded),
      error * 100);
}

std::optional<WhatIf> what_if(const Run& run, const Stopped& stopped) {
  constexpr std::uint32_t kMostSpans = 500'000;
  if (!can_ask_what_if(run) || run.trace->spans().size() > kMostSpans) return std::nullopt;
  const Time recorded = time_of(*run.trace, nullptr, nullptr);
  if (!recorded.on_gpu) return std::nullopt;
  try {
    return ask(run, recorded, stopped);
  } catch (const InputError&) {  // what a replay of it says
    return std::nullopt;
  } catch (const NotWanted&) {
    return std::nullopt;
  }
}

}  // namespace trainscope::analysis
