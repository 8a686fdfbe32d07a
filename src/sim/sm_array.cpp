#include "sim/sm_array.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <tuple>

#include "machine/architecture.h"
#include "sim/fair_shares.h"

namespace trainscope::sim {
namespace {

Nanos time_for(std::int64_t work, std::int64_t rate) {
  return work / rate + (work % rate != 0);
}

}  // namespace

SmLimits sm_limits(const machine::Gpu& gpu) {
  return {gpu.sm_count, gpu.threads_per_sm / machine::kWarp, gpu.blocks_per_sm,
          gpu.registers_per_sm};
}

SmArray::SmArray(const SmLimits& limits) : limits_(limits) {
  SmClass all;
  for (int sm = 0; sm < limits.count; ++sm) all.sms.push_back(sm);
  classes_.push_back(std::move(all));
}

// ---- From outside ------------------------------------------------------------------------------

void SmArray::admit(Nanos now, std::uint32_t id, const BlockCost& cost, std::int64_t blocks,
                    int priority) {
  assert(blocks > 0 && cost.per_sm > 0);
  assert(cost.arithmetic_limit > 0 && cost.memory_limit > 0);
  begun_.clear();
  go_to(now);
  Kernel kernel{id, next_order_++, priority, cost, blocks};
  // A block of nothing lasts a nanosecond too, so that every wave ends after it began.
  kernel.cost.arithmetic = std::max<std::int64_t>(kernel.cost.arithmetic, 1);
  ++version_;
  end_stride(now);
  full_wave_start_.reset();
  kernels_.insert(std::find_if(kernels_.begin(), kernels_.end(),
                               [&](const Kernel& other) { return other.priority > priority; }),
                  kernel);
  place(now);
}

Nanos SmArray::next_event() const {
  if (!done_.empty()) return now_;
  return stride_ ? stride_->end() : next_end();
}

const std::vector<std::uint32_t>& SmArray::finish(Nanos now) {
  begun_.clear();
  go_to(now);
  reported_.clear();
  std::swap(reported_, done_);
  ++version_;
  return reported_;
}

int SmArray::busy_sms() const {
  if (stride_) return limits_.count;
  int busy = 0;
  for (const SmClass& one : classes_)
    if (one.blocks > 0) busy += static_cast<int>(one.sms.size());
  return busy;
}

std::int64_t SmArray::resident_warps() const {
  if (stride_) return stride_->warps;
  std::int64_t warps = 0;
  for (const SmClass& one : classes_)
    warps += std::int64_t{one.warps} * static_cast<std::int64_t>(one.sms.size());
  return warps;
}

// ---- Time --------------------------------------------------------------------------------------

void SmArray::go_to(Nanos now) {
  while (true) {
    if (stride_) {
      if (now < stride_->end()) return;
      end_stride(stride_->end());
    } else if (!kernels_.empty() && next_end() <= now) {
      step(next_end());
    } else {
      break;
    }
  }
  serve(now);
}

// To the next moment at which a part of some block is done.
void SmArray::step(Nanos now) {
  serve(now);
  retire();
  try_stride(now);
  if (!stride_) place(now);
}

void SmArray::serve(Nanos now) {
  const Nanos passed = now - now_;
  now_ = now;
  if (passed == 0) return;
  for (SmClass& one : classes_) {
    const auto sms = static_cast<std::int64_t>(one.sms.size());
    if (one.blocks > 0) use_.busy += sms * passed;
    use_.warps += sms * one.warps * passed;
    for (Cohort& cohort : one.cohorts) {
      cohort.arithmetic =
          std::max<std::int64_t>(0, cohort.arithmetic - cohort.arithmetic_rate * passed);
      cohort.memory = std::max<std::int64_t>(0, cohort.memory - cohort.memory_rate * passed);
    }
  }
}

Nanos SmArray::next_end() const {
  Nanos next = std::numeric_limits<Nanos>::max();
  for (const SmClass& one : classes_) {
    for (const Cohort& cohort : one.cohorts) {
      if (cohort.arithmetic > 0)
        next = std::min(next, now_ + time_for(cohort.arithmetic, cohort.arithmetic_rate));
      if (cohort.memory > 0)
        next = std::min(next, now_ + time_for(cohort.memory, cohort.memory_rate));
    }
  }
  return next;
}

// ---- Blocks that are done ----------------------------------------------------------------------

std::size_t SmArray::place_of(std::uint64_t order) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const Kernel& kernel) { return kernel.order == order; });
  assert(found != kernels_.end());
  return static_cast<std::size_t>(found - kernels_.begin());
}

void SmArray::retire() {
  for (SmClass& one : classes_) {
    std::erase_if(one.cohorts, [&](const Cohort& cohort) {
      if (cohort.arithmetic > 0 || cohort.memory > 0) return false;
      Kernel& kernel = kernels_[place_of(cohort.kernel)];
      kernel.running -= std::int64_t{cohort.blocks} * static_cast<std::int64_t>(one.sms.size());
      one.blocks -= cohort.blocks;
      one.warps -= cohort.blocks * kernel.cost.warps;
      one.registers -= cohort.blocks * kernel.cost.registers;
      one.shared_bytes -= cohort.blocks * kernel.cost.shared_bytes;
      return true;
    });
  }
  std::vector<Kernel> ended;
  std::erase_if(kernels_, [&](const Kernel& kernel) {
    const bool over = kernel.unplaced == 0 && kernel.running == 0;
    if (over) ended.push_back(kernel);
    return over;
  });
  std::sort(ended.begin(), ended.end(),
            [](const Kernel& a, const Kernel& b) { return a.order < b.order; });
  for (const Kernel& kernel : ended) done_.push_back(kernel.id);
}

// ---- Placing -----------------------------------------------------------------------------------

void SmArray::place(Nanos now) {
  for (Kernel& kernel : kernels_) {
    while (kernel.unplaced > 0 && place_some(kernel, now)) {
    }
    if (kernel.unplaced > 0) break;  // those behind it get what is left after its last block
  }
  merge_equals();
  share();
  note_full_wave(now);
}

// One block more on each of the emptiest SMs with room, or on as many of them as there are blocks.
bool SmArray::place_some(Kernel& kernel, Nanos now) {
  int fewest = std::numeric_limits<int>::max();
  for (const SmClass& one : classes_)
    if (has_room(one, kernel)) fewest = std::min(fewest, one.warps);
  if (fewest == std::numeric_limits<int>::max()) return false;
  std::vector<int> sms;
  for (const SmClass& one : classes_)
    if (one.warps == fewest && has_room(one, kernel))
      sms.insert(sms.end(), one.sms.begin(), one.sms.end());
  int last = std::numeric_limits<int>::max();  // SMs from here on get none
  if (static_cast<std::int64_t>(sms.size()) > kernel.unplaced) {
    const auto nth = sms.begin() + static_cast<std::ptrdiff_t>(kernel.unplaced);
    std::nth_element(sms.begin(), nth, sms.end());
    last = *nth;
  }
  for (std::size_t i = 0, classes = classes_.size(); i < classes; ++i) {
    if (classes_[i].warps != fewest || !has_room(classes_[i], kernel)) continue;
    const auto& members = classes_[i].sms;
    const auto kept = static_cast<std::size_t>(
        std::lower_bound(members.begin(), members.end(), last) - members.begin());
    if (kept == 0) continue;
    if (kept < members.size()) split(i, kept);
    put(classes_[i], kernel, now);
  }
  return true;
}

bool SmArray::has_room(const SmClass& one, const Kernel& kernel) const {
  const BlockCost& cost = kernel.cost;
  std::int64_t shared = cost.sm_shared_bytes;
  int own = 0;
  for (const Cohort& cohort : one.cohorts) {
    shared = std::max(shared, kernels_[place_of(cohort.kernel)].cost.sm_shared_bytes);
    if (cohort.kernel == kernel.order) own += cohort.blocks;
  }
  return own < cost.per_sm && one.blocks < limits_.blocks &&
         one.warps + cost.warps <= limits_.warps &&
         one.registers + cost.registers <= limits_.registers &&
         one.shared_bytes + cost.shared_bytes <= shared;
}

void SmArray::put(SmClass& on, Kernel& kernel, Nanos now) {
  const auto fresh = std::find_if(on.cohorts.begin(), on.cohorts.end(), [&](const Cohort& cohort) {
    return cohort.kernel == kernel.order && cohort.start == now;
  });
  if (fresh != on.cohorts.end()) {
    ++fresh->blocks;
  } else {
    on.cohorts.push_back({kernel.order, 1, now, kernel.cost.arithmetic, kernel.cost.memory, 0, 0});
  }
  ++on.blocks;
  on.warps += kernel.cost.warps;
  on.registers += kernel.cost.registers;
  on.shared_bytes += kernel.cost.shared_bytes;
  if (!kernel.begun) begun_.push_back(kernel.id);
  kernel.begun = true;
  const auto sms = static_cast<std::int64_t>(on.sms.size());
  kernel.unplaced -= sms;
  kernel.running += sms;
}

// Leaves the first `kept` SMs in the class; the others become one of their own.
void SmArray::split(std::size_t index, std::size_t kept) {
  SmClass rest = classes_[index];
  const auto at = static_cast<std::ptrdiff_t>(kept);
  rest.sms.erase(rest.sms.begin(), rest.sms.begin() + at);
  classes_[index].sms.resize(kept);
  classes_.push_back(std::move(rest));
}

bool SmArray::Cohort::same_as(const Cohort& other) const {
  return std::tie(kernel, blocks, start, arithmetic, memory) ==
         std::tie(other.kernel, other.blocks, other.start, other.arithmetic, other.memory);
}

void SmArray::merge_equals() {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    for (std::size_t j = i + 1; j < classes_.size();) {
      const bool same = std::equal(classes_[i].cohorts.begin(), classes_[i].cohorts.end(),
                                   classes_[j].cohorts.begin(), classes_[j].cohorts.end(),
                                   [](const Cohort& a, const Cohort& b) { return a.same_as(b); });
      if (!same) {
        ++j;
        continue;
      }
      std::vector<int> sms;
      std::merge(classes_[i].sms.begin(), classes_[i].sms.end(), classes_[j].sms.begin(),
                 classes_[j].sms.end(), std::back_inserter(sms));
      classes_[i].sms = std::move(sms);
      classes_.erase(classes_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

// ---- Rates -------------------------------------------------------------------------------------

void SmArray::share() {
  share_memory();
  for (SmClass& one : classes_) share_arithmetic(one);
}

void SmArray::share_memory() {
  std::vector<FairGroup> groups;
  for (const SmClass& one : classes_)
    for (const Cohort& cohort : one.cohorts)
      if (cohort.memory > 0)
        groups.push_back({cost_of(cohort).memory_limit,
                          std::int64_t{cohort.blocks} * static_cast<std::int64_t>(one.sms.size())});
  share_fairly(kMemoryRate, groups);
  const auto rate_at = [&](std::int64_t limit) {
    return std::lower_bound(
               groups.begin(), groups.end(), limit,
               [](const FairGroup& group, std::int64_t at) { return group.limit < at; })
        ->rate;
  };
  for (SmClass& one : classes_)
    for (Cohort& cohort : one.cohorts)
      cohort.memory_rate = cohort.memory > 0 ? rate_at(cost_of(cohort).memory_limit) : 0;
}

void SmArray::share_arithmetic(SmClass& one) {
  std::vector<FairGroup> groups;
  for (const Cohort& cohort : one.cohorts)
    if (cohort.arithmetic > 0) groups.push_back({cost_of(cohort).arithmetic_limit, cohort.blocks});
  share_fairly(kArithmeticRate, groups);
  for (Cohort& cohort : one.cohorts) {
    cohort.arithmetic_rate = 0;
    if (cohort.arithmetic == 0) continue;
    const std::int64_t limit = cost_of(cohort).arithmetic_limit;
    for (const FairGroup& group : groups)
      if (group.limit == limit) cohort.arithmetic_rate = group.rate;
  }
}

// ---- Full waves in one stride ------------------------------------------------------------------

// A wave that fills every SM with blocks of the only kernel, all begun now, is like the one after
// it.
void SmArray::note_full_wave(Nanos now) {
  if (kernels_.size() != 1 || classes_.size() != 1 || kernels_[0].unplaced == 0) return;
  const auto& cohorts = classes_[0].cohorts;
  if (cohorts.size() != 1 || cohorts[0].start != now) return;
  full_wave_start_ = now;
  use_at_wave_ = use_;
  wave_blocks_ = kernels_[0].running;
}

// At the end of such a wave the SMs are empty, and the waves that are full take as long each. Until
// then nothing is placed: the kernel has blocks left, and no SM has room.
void SmArray::try_stride(Nanos now) {
  if (!full_wave_start_ || (!kernels_.empty() && kernels_[0].running > 0)) return;
  const Nanos wave = now - *full_wave_start_;
  full_wave_start_.reset();
  const std::int64_t waves = kernels_.empty() ? 0 : kernels_[0].unplaced / wave_blocks_;
  if (waves < 2) return;
  Kernel& kernel = kernels_[0];
  const SmUse use{use_.busy - use_at_wave_.busy, use_.warps - use_at_wave_.warps};
  stride_ = Stride{now, wave, waves, wave_blocks_, use, wave_blocks_ * kernel.cost.warps};
  kernel.unplaced -= waves * wave_blocks_;
}

// At its end, or before: then the wave under way is carried out as any other.
void SmArray::end_stride(Nanos now) {
  if (!stride_) return;
  const Stride stride = *stride_;
  stride_.reset();
  const std::int64_t whole = std::min(stride.waves, (now - stride.start) / stride.wave);
  use_.busy += whole * stride.use.busy;
  use_.warps += whole * stride.use.warps;
  now_ = stride.start + whole * stride.wave;
  kernels_[0].unplaced += (stride.waves - whole) * stride.blocks;
  if (kernels_[0].unplaced == 0) retire();
  place(now_);
  while (next_end() <= now) step(next_end());
  serve(now);
}

}  // namespace trainscope::sim
