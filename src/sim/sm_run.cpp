#include "sim/sm_run.h"

#include <algorithm>

#include "sim/block_cost.h"
#include "sim/kernel_model.h"

namespace trainscope::sim {
namespace {

struct OneWave {
  Nanos length = 0;
  Nanos light = 0;  // until the first SMs have no block left
  SmUse use;
};

OneWave one_wave(const BlockCost& cost, std::int64_t blocks, const SmLimits& limits) {
  SmArray array(limits);
  array.admit(0, 0, cost, blocks);
  const int busy = array.busy_sms();
  OneWave wave;
  while (!array.idle()) {
    const Nanos now = array.next_event();
    array.finish(now);
    if (wave.light == 0 && array.busy_sms() < busy) wave.light = now;
    wave.length = now;
  }
  wave.use = array.use();
  return wave;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

SmRun run_alone(const BlockCost& cost, std::int64_t blocks, const SmLimits& limits) {
  SmRun run;
  run.sms = limits.count;
  run.blocks = blocks;
  run.blocks_a_wave = std::int64_t{cost.per_sm} * limits.count;
  run.waves = (blocks - 1) / run.blocks_a_wave + 1;
  const std::int64_t last_blocks = blocks - (run.waves - 1) * run.blocks_a_wave;
  const OneWave last = one_wave(cost, last_blocks, limits);
  const OneWave full = run.waves > 1 ? one_wave(cost, run.blocks_a_wave, limits) : last;
  run.full_wave = full.length;
  run.last_wave = last.length;
  run.last_wave_light = last_blocks % limits.count == 0 ? 0 : last.light;
  run.duration = (run.waves - 1) * full.length + last.length;
  run.kernel = run.duration;
  run.use.busy = (run.waves - 1) * full.use.busy + last.use.busy;
  run.use.warps = (run.waves - 1) * full.use.warps + last.use.warps;
  run.tail_idle = share(last.length * limits.count - last.use.busy, run.duration * limits.count);
  return run;
}

SmRun run_alone(const program::Operation& operation, const machine::Gpu& gpu) {
  SmRun run = run_alone(block_cost(operation, gpu), grid_blocks(operation, gpu), sm_limits(gpu));
  run.occupancy = machine::occupancy(gpu, launch_shape(operation, gpu));
  run.kernel = std::max(run.duration, kernel_floor(operation, gpu));
  return run;
}

Wave SmRun::wave(std::int64_t index) const {
  Wave wave;
  wave.start = index * full_wave;
  wave.end = wave.start + (index + 1 < waves ? full_wave : last_wave);
  wave.first_block = index * blocks_a_wave;
  wave.blocks = std::min(blocks_a_wave, blocks - wave.first_block);
  wave.sms = static_cast<int>(std::min<std::int64_t>(sms, wave.blocks));
  return wave;
}

// Breadth first: the blocks of a wave go round the SMs, one slot after another.
BlockBar SmRun::bar(std::int64_t block) const {
  BlockBar bar;
  bar.block = block;
  bar.wave = block / blocks_a_wave;
  const Wave in = wave(bar.wave);
  const std::int64_t nth = block - in.first_block;
  bar.sm = static_cast<int>(nth % sms);
  bar.slot = static_cast<int>(nth / sms);
  bar.start = in.start;
  const bool light = bar.wave + 1 == waves && bar.sm >= in.blocks % sms && last_wave_light > 0;
  bar.end = light ? in.start + last_wave_light : in.end;
  return bar;
}

std::vector<BlockBar> SmRun::bars(std::int64_t first, std::int64_t count) const {
  std::vector<BlockBar> all;
  const std::int64_t end = first + std::min(count, blocks - first);
  for (std::int64_t block = first; block < end; ++block) all.push_back(bar(block));
  return all;
}

}  // namespace trainscope::sim
