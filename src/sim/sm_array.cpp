#include "sim/sm_array.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>

#include "machine/architecture.h"
#include "sim/fair_shares.h"
#include "sim/lone_runs.h"

namespace trainscope::sim {
namespace {

Nanos time_for(std::int64_t work, std::int64_t rate) {
  return work / rate + (work % rate != 0);
}

// Of a run of many years it is the most that there can be: no one waits for such a run's end.
Nanos with_waves(Nanos use, std::int64_t waves, Nanos of_a_wave) {
  Nanos all = 0;
  const bool too_much =
      __builtin_mul_overflow(waves, of_a_wave, &all) || __builtin_add_overflow(use, all, &all);
  return too_much ? std::numeric_limits<Nanos>::max() / 2 : all;
}

}  // namespace

SmLimits sm_limits(const machine::Gpu& gpu) {
  return {gpu.sm_count, gpu.threads_per_sm / machine::kWarp, gpu.blocks_per_sm,
          gpu.registers_per_sm};
}

SmArray::SmArray(const SmLimits& limits, std::shared_ptr<LoneRuns> known)
    : limits_(limits), known_(std::move(known)) {
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
  if (known_ && kernels_.empty() && !lone_) return begin_alone(now, std::move(kernel));
  interrupt(now);
  kernels_.insert(std::find_if(kernels_.begin(), kernels_.end(),
                               [&](const Kernel& other) { return other.priority > priority; }),
                  kernel);
  place(now);
}

void SmArray::set_aside(Nanos now, SetAside aside) {
  begun_.clear();
  go_to(now);
  ++version_;
  interrupt(now);
  aside_.sms = std::clamp(aside.sms, 0, limits_.count - 1);
  aside_.memory = std::clamp<std::int64_t>(aside.memory, 0, kMemoryRate - 1);
  regroup();
  place(now);
}

// What was foreseen no longer holds: from here on each block is carried out again.
void SmArray::interrupt(Nanos now) {
  interrupt_alone(now);
  end_stride(now);
  seen_.reset();
}

Nanos SmArray::next_event() const {
  if (!done_.empty()) return now_;
  if (lone_) return lone_->start + lone_->run->after(lone_->seen - lone_->start);
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
  if (lone_) return lone_->run->at(lone_->seen - lone_->start).busy;
  int busy = 0;
  for (const SmClass& one : classes_)
    if (one.busy()) busy += static_cast<int>(one.sms.size());
  return busy;
}

std::int64_t SmArray::resident_warps() const {
  if (lone_) return lone_->run->at(lone_->seen - lone_->start).warps;
  std::int64_t warps = 0;
  for (const SmClass& one : classes_)
    warps += std::int64_t{one.resident_warps()} * static_cast<std::int64_t>(one.sms.size());
  return warps;
}

// ---- Time --------------------------------------------------------------------------------------

void SmArray::go_to(Nanos now) {
  while (true) {
    if (lone_) {
      lone_->seen = now;
      if (now < lone_->start + lone_->run->duration) return;
      end_alone();
    } else if (stride_) {
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
  place(now);
}

void SmArray::serve(Nanos now) {
  const Nanos passed = now - now_;
  now_ = now;
  if (passed == 0) return;
  for (SmClass& one : classes_) {
    const auto sms = static_cast<std::int64_t>(one.sms.size());
    if (one.busy()) use_.busy += sms * passed;
    use_.warps += sms * one.resident_warps() * passed;
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

// ---- A kernel alone ----------------------------------------------------------------------------

void SmArray::begin_alone(Nanos now, Kernel kernel) {
  begun_.push_back(kernel.id);
  kernel.begun = true;
  const LoneRun& run = known_->run(limits_, aside_, kernel.cost, kernel.unplaced);
  lone_ = Lone{std::move(kernel), now, now, &run};
}

void SmArray::end_alone() {
  const Lone lone = std::move(*lone_);
  lone_.reset();
  now_ = lone.start + lone.run->duration;
  use_.busy += lone.run->use.busy;
  use_.warps += lone.run->use.warps;
  done_.push_back(lone.kernel.id);
}

// Carried out from its start, up to now.
void SmArray::interrupt_alone(Nanos now) {
  if (!lone_) return;
  Lone lone = std::move(*lone_);
  lone_.reset();
  now_ = lone.start;
  kernels_.push_back(std::move(lone.kernel));
  place(now_);
  go_to(now);
}

// ---- The same again and again, in one stride ---------------------------------------------------

// Where one kernel alone has blocks on the SMs, and more of them, what the SMs will hold follows
// from what they hold: those behind it get nothing before its last block is placed.
void SmArray::note_moment(Nanos now) {
  const auto waits = [](const Kernel& kernel) { return kernel.unplaced > 0; };
  const auto next = std::ranges::find_if(kernels_, waits);
  const auto is_next_or_waits = [&](const Kernel& kernel) {
    return kernel.order == next->order || kernel.running == 0;
  };
  if (next == kernels_.end() || !std::ranges::all_of(kernels_, is_next_or_waits))
    return seen_.reset();
  constexpr int kFirstLooks = 16;
  int looks = kFirstLooks;
  if (seen_ && seen_->kernel == next->order) {
    const bool alike = busy_sms() == seen_->busy && resident_warps() == seen_->warps;
    if (alike && try_stride(*next, now)) return;
    if (alike && ++seen_->looks < seen_->most_looks) return;
    if (alike) looks = 2 * seen_->most_looks;
  }
  seen_ = {now, next->order, next->unplaced, use_, busy_sms(), resident_warps(), classes_in_order(),
           0,   looks};
}

std::vector<SmArray::SmClass> SmArray::classes_in_order() const {
  std::vector<SmClass> classes = classes_;
  std::ranges::sort(classes, {}, [](const SmClass& one) { return one.sms.front(); });
  return classes;
}

bool SmArray::is_again(const Moment& seen, Nanos now) const {
  if (seen.classes.size() != classes_.size()) return false;
  const auto same_cohort = [&](const Cohort& a, const Cohort& b) {
    return a.blocks == b.blocks && a.arithmetic == b.arithmetic && a.memory == b.memory &&
           a.start - seen.time == b.start - now;
  };
  const auto same_class = [&](const SmClass& a, const SmClass& b) {
    return a.sms == b.sms && std::ranges::equal(a.cohorts, b.cohorts, same_cohort);
  };
  return std::ranges::equal(seen.classes, classes_in_order(), same_class);
}

// One block stays unplaced, so that until the end nothing of another kernel is.
bool SmArray::try_stride(Kernel& kernel, Nanos now) {
  const std::int64_t blocks = seen_->unplaced - kernel.unplaced;
  if (blocks == 0 || !is_again(*seen_, now)) return false;
  const std::int64_t periods = (kernel.unplaced - 1) / blocks;
  const SmUse use{use_.busy - seen_->use.busy, use_.warps - seen_->use.warps};
  if (periods > 0) {
    stride_ = Stride{now, now - seen_->time, periods, kernel.order, blocks, use};
    kernel.unplaced -= periods * blocks;
  }
  seen_.reset();
  return true;
}

// At its end, or before: then what is left of the period under way is carried out as any other.
void SmArray::end_stride(Nanos now) {
  if (!stride_) return;
  const Stride stride = *stride_;
  stride_.reset();
  const std::int64_t whole = std::min(stride.periods, (now - stride.start) / stride.period);
  const Nanos passed = whole * stride.period;
  use_.busy = with_waves(use_.busy, whole, stride.use.busy);
  use_.warps = with_waves(use_.warps, whole, stride.use.warps);
  now_ = stride.start + passed;
  for (SmClass& one : classes_)
    for (Cohort& cohort : one.cohorts) cohort.start += passed;
  kernels_[place_of(stride.kernel)].unplaced += (stride.periods - whole) * stride.blocks;
  go_to(now);
}

}  // namespace trainscope::sim
