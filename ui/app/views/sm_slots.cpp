#include "ui/app/views/sm_slots.h"

#include <algorithm>
#include <cmath>

namespace trainscope::ui {
namespace {

class Builder {
 public:
  Builder(const sim::SmRun& run, int sm, const WaveRange& waves, Nanos shown, const Box& box)
      : run_(run), box_(box), held_(slots_held(run)) {
    slots_.sm = sm;
    slots_.waves = waves;
    start_ = run.wave(waves.first).start;
    pixels_ = box.width() / static_cast<double>(std::max<Nanos>(shown, 1));
    row_ = box.height() / slots_by_warps(run);
  }

  SmSlots build() {
    const std::int64_t end = slots_.waves.first + slots_.waves.count;
    for (std::int64_t wave = slots_.waves.first; wave < end; ++wave) add_wave(run_.wave(wave));
    add_unused(run_.wave(end - 1).end);
    return std::move(slots_);
  }

 private:
  float x(Nanos time) const {
    return box_.min.x + static_cast<float>(static_cast<double>(time - start_) * pixels_);
  }
  float y(double slot) const { return box_.min.y + std::round(static_cast<float>(slot * row_)); }
  // Neighbours stay apart where there is room for that.
  Box place(double slot, double below, Nanos from, Nanos to) const {
    Box box{{x(from), y(slot)}, {x(to), y(below)}};
    if (box.height() >= 4) box.max.y -= 1;
    if (box.width() >= 3) box.max.x -= 1;
    return box;
  }
  void add(SlotKind kind, const Box& box) {
    if (box.width() > 0 && box.height() > 0) slots_.boxes.push_back({kind, box, {}});
  }

  // The wave's blocks on the SM are in its first slots, all for as long.
  void add_wave(const sim::Wave& wave) {
    int filled = 0;
    Nanos done = wave.start;
    for (; filled < held_; ++filled) {
      const std::int64_t nth = std::int64_t{filled} * run_.sms + slots_.sm;
      if (nth >= wave.blocks) break;
      const sim::BlockBar block = run_.bar(wave.first_block + nth);
      done = block.end;
      slots_.boxes.push_back(
          {SlotKind::kBlock, place(filled, filled + 1, block.start, block.end), block});
    }
    // An SM that never had a block waits for no other.
    const bool never = filled == 0 && run_.waves == 1;
    if (filled < held_)
      add(SlotKind::kEmpty, place(filled, held_, wave.start, never ? wave.end : done));
    if (done < wave.end && !never) add(SlotKind::kIdle, place(0, held_, done, wave.end));
  }

  // The last of them is lower, where the warps are too few for another block.
  void add_unused(Nanos end) {
    const double all = slots_by_warps(run_);
    if (y(all) - y(held_) < 1) return;
    slots_.unused = {{box_.min.x, y(held_)}, {x(end), y(all)}};
    for (int slot = held_; slot < all; ++slot)
      add(SlotKind::kUnused, place(slot, std::min<double>(slot + 1, all), start_, end));
  }

  const sim::SmRun& run_;
  const Box& box_;
  int held_ = 0;
  Nanos start_ = 0;
  double pixels_ = 0, row_ = 0;
  SmSlots slots_;
};

}  // namespace

WaveRange waves_around(const sim::SmRun& run, std::int64_t wave, std::int64_t most) {
  const std::int64_t count = std::min(std::max<std::int64_t>(most, 1), run.waves);
  return {std::clamp<std::int64_t>(wave - count / 2, 0, run.waves - count), count};
}

Nanos length_of(const sim::SmRun& run, const WaveRange& waves) {
  return run.wave(waves.first + waves.count - 1).end - run.wave(waves.first).start;
}

int slots_held(const sim::SmRun& run) {
  return static_cast<int>(run.blocks_a_wave / run.sms);
}

double slots_by_warps(const sim::SmRun& run) {
  const double held = slots_held(run);
  const machine::Occupancy& occupancy = run.occupancy;
  if (occupancy.warps_per_block == 0) return held;
  return std::max(held, static_cast<double>(occupancy.most_warps) / occupancy.warps_per_block);
}

SmSlots lay_out_slots(const sim::SmRun& run, int sm, const WaveRange& waves, Nanos shown,
                      const Box& box) {
  return Builder(run, sm, waves, shown, box).build();
}

const SlotBox* slot_at(const SmSlots& slots, ImVec2 point) {
  for (const SlotBox& one : slots.boxes)
    if (point.x >= one.box.min.x && point.x < one.box.max.x && point.y >= one.box.min.y &&
        point.y < one.box.max.y)
      return &one;
  return nullptr;
}

}  // namespace trainscope::ui
