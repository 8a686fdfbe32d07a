#include "analysis/advice/kernel_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/advice/advice.h"
#include "analysis/advice/advice_words.h"
#include "analysis/views/placed_kernels.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/occupancy.h"
#include "sim/block_cost.h"
#include "sim/sm_run.h"
#include "sim/wave_rows.h"

namespace trainscope::analysis {
namespace {

// Of a run of the workload `kernel`, whose knobs are its launch.
const program::Operation* set_kernel(const Run& run) {
  const bool is_kernel = is_alone(run) && run.config.word("workload") == "kernel";
  return is_kernel && run.machine && !run.program->operations.empty()
             ? &run.program->operations.front()
             : nullptr;
}

class Launch {
 public:
  Launch(const program::Operation& kernel, const machine::Gpu& gpu)
      : gpu_(gpu), shape_(sim::launch_shape(kernel, gpu)), now_(machine::occupancy(gpu, shape_)) {}

  const machine::Occupancy& occupancy() const { return now_; }

  // The most registers a thread, or bytes a block, with which an SM holds more blocks.
  std::optional<int> fewer_registers() const {
    constexpr int kFewest = 16;  // kernel.registers goes no lower
    machine::LaunchShape shape = shape_;
    while (--shape.registers >= kFewest)
      if (holds_more(shape)) return shape.registers;
    return std::nullopt;
  }
  std::optional<std::int64_t> less_shared() const {
    constexpr std::int64_t kKib = 1024;
    machine::LaunchShape shape = shape_;
    while (shape.dynamic_shared > 0) {
      shape.dynamic_shared = std::max<std::int64_t>(0, (shape.dynamic_shared - 1) / kKib * kKib);
      if (holds_more(shape)) return shape.dynamic_shared;
    }
    return std::nullopt;
  }
  // Half as many threads, again and again: the first of which an SM holds more warps.
  std::optional<int> smaller_blocks() const {
    machine::LaunchShape shape = shape_;
    while (shape.threads >= 2 * machine::kWarp) {
      shape.threads /= 2;
      if (machine::occupancy(gpu_, shape).warps_per_sm > now_.warps_per_sm) return shape.threads;
    }
    return std::nullopt;
  }
  int blocks_with_registers(int registers) const {
    machine::LaunchShape shape = shape_;
    shape.registers = registers;
    return machine::occupancy(gpu_, shape).blocks_per_sm;
  }
  int blocks_with_shared(std::int64_t bytes) const {
    machine::LaunchShape shape = shape_;
    shape.dynamic_shared = bytes;
    return machine::occupancy(gpu_, shape).blocks_per_sm;
  }

 private:
  bool holds_more(const machine::LaunchShape& shape) const {
    return machine::occupancy(gpu_, shape).blocks_per_sm > now_.blocks_per_sm;
  }

  const machine::Gpu& gpu_;
  machine::LaunchShape shape_;
  machine::Occupancy now_;
};

// As many instructions as keep the busiest resource busy: a power of two that the knob takes.
std::optional<int> enough_instructions(const Run& run, int ilp) {
  constexpr int kMost = 16;
  if (run.facts.roofline.kernels.empty()) return std::nullopt;
  const machine::Regime& regime = run.facts.roofline.kernels.front().regime;
  if (ilp >= kMost || !(regime.busiest() > 0) || regime.latency <= 0) return std::nullopt;
  const double times = std::max(2.0, regime.latency / regime.busiest());
  const double wanted = std::min<double>(kMost, std::ceil(ilp * times));
  return static_cast<int>(std::min<unsigned>(kMost, std::bit_ceil(static_cast<unsigned>(wanted))));
}

std::string blocks_words(int blocks, const Speech& speech) {
  return blocks == 1 ? speech.say("1 block fits") : told(speech, "{} blocks fit", blocks);
}

std::string limiters_words(const machine::Occupancy& occupancy, const Speech& speech) {
  std::string words;
  for (const machine::Limiter limiter : occupancy.limiters)
    if (limiter != machine::Limiter::kWarps)
      add_to_list(words, speech.say(machine::name_of(limiter)));
  return words;
}

// The longest kernel of a run without training, block by block.
std::optional<sim::SmRun> lone_run(const Run& run) {
  constexpr double kLeast = 0.1;
  if (!is_alone(run) || !run.machine || run.facts.sms.tail_idle.value_or(0) < kLeast)
    return std::nullopt;
  const auto longest = longest_placed(run);
  if (!longest) return std::nullopt;
  return sim::run_alone(run.program->operations[longest->operation], run.machine->gpu);
}

std::string share_of(double share, const Speech& speech) {
  return speech.number(format_value(share, "%"));
}

}  // namespace

std::string in_flight_words(const Run& run, const Speech& speech) {
  const program::Operation* kernel = set_kernel(run);
  if (!kernel || !kernel->block_work) return "";
  const machine::Occupancy occupancy = Launch(*kernel, run.machine->gpu).occupancy();
  const std::string limiters = limiters_words(occupancy, speech);
  const std::string held =
      told(speech, "; an SM holds {} of {} warps", occupancy.warps_per_sm, occupancy.most_warps) +
      (limiters.empty() ? "" : told(speech, " (limited by: {})", limiters));
  const int ilp = kernel->block_work->ilp;
  return held + (ilp == 1
                     ? speech.say(", each with 1 instruction on its way at a time")
                     : told(speech, ", each with {} instructions on their way at a time", ilp));
}

std::string latency_advice(const Run& run, const Speech& speech) {
  const program::Operation* kernel = set_kernel(run);
  if (!kernel || !kernel->block_work) return idle_units_advice(run, speech);
  std::vector<std::string> tries;
  if (const auto enough = enough_instructions(run, kernel->block_work->ilp))
    tries.push_back(
        told(speech, "more independent instructions in each thread (kernel.ilp={})", *enough));
  const Launch launch(*kernel, run.machine->gpu);
  if (const auto registers = launch.fewer_registers())
    tries.push_back(
        told(speech, "fewer registers a thread (kernel.registers={}), with which {} an SM",
             *registers, blocks_words(launch.blocks_with_registers(*registers), speech)));
  if (const auto bytes = launch.less_shared())
    tries.push_back(told(speech,
                         "less shared memory a block (kernel.shared_bytes={}), with which {} an SM",
                         *bytes, blocks_words(launch.blocks_with_shared(*bytes), speech)));
  if (const auto threads = launch.smaller_blocks())
    tries.push_back(told(
        speech, "smaller blocks (kernel.block={}), of which an SM holds more warps", *threads));
  return tries.empty()
             ? speech.say(
                   "Try more work for each thread, in parts that do not wait for one another.")
             : told(speech, "Try {}.", fmt::join(tries, "; "));
}

std::string uneven_words(const Run& run, const Speech& speech) {
  const auto lone = lone_run(run);
  if (!lone) return "";
  const std::string share = share_of(lone->tail_idle, speech);
  const int idle = sim::idle_sms(sim::last_wave_rows(*lone));
  if (idle > 0)
    return told(speech,
                lone->waves > 1
                    ? "; SMs are without a block for {} of their time: in the last wave {} of {} "
                      "have none"
                    : "; SMs are without a block for {} of their time: {} of {} have none",
                share, idle, lone->sms);
  const sim::Fullest fullest = sim::fullest_sms(*lone);
  if (fullest.sms == 0) return "";
  return told(speech,
              fullest.sms == 1
                  ? "; SMs are without a block for {} of their time: {} of {} has {} at the end, "
                    "the others have {}"
                  : "; SMs are without a block for {} of their time: {} of {} have {} at the end, "
                    "the others have {}",
              share, fullest.sms, lone->sms, fullest.blocks, fullest.blocks - 1);
}

std::string uneven_advice(const Run& run, const Speech& speech) {
  const auto lone = lone_run(run);
  if (!lone) return "";
  if (!set_kernel(run)) return speech.say("Try sizes whose tiles fill the SMs evenly.") + " ";
  const std::int64_t even =
      std::max<std::int64_t>(lone->sms, lone->blocks - lone->blocks % lone->sms);
  return told(speech,
              "Try a grid that fills all {} SMs alike (kernel.grid={}), or smaller blocks, which "
              "end more evenly.",
              lone->sms, even) +
         " ";
}

}  // namespace trainscope::analysis
