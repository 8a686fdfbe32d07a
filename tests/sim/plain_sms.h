// The SM array told block by block: every block on its own, every SM on its own, no stride. Slow
// and plain: what sim/sm_array.h must equal to the nanosecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "sim/sm_array.h"

namespace trainscope::test {

struct Arrival {
  Nanos time = 0;
  sim::BlockCost cost;
  std::int64_t blocks = 1;
  int priority = 0;
};

// From then on; after what arrives at the same time.
struct Aside {
  Nanos time = 0;
  sim::SetAside what;
};

struct PlainResult {
  std::vector<Nanos> ends;  // of each arrival
  sim::SmUse use;
  struct Bar {
    std::size_t kernel;
    std::int64_t block;
    int sm;
    Nanos start;
    Nanos end;
  };
  std::vector<Bar> bars;
};

class PlainSms {
 public:
  PlainSms(const sim::SmLimits& limits, const std::vector<Arrival>& arrivals,
           const std::vector<Aside>& asides = {})
      : limits_(limits), arrivals_(arrivals), asides_(asides), placed_(arrivals.size()) {
    result_.ends.resize(arrivals.size());
  }

  // Arrivals in the order of their times.
  PlainResult run() {
    std::size_t next = 0, changes = 0;
    while (next < arrivals_.size() || !running_.empty()) {
      const Nanos ends = next_end();
      const Nanos arrives = next < arrivals_.size() ? arrivals_[next].time : kNever;
      const Nanos changed = changes < asides_.size() ? asides_[changes].time : kNever;
      if (changed < arrives && (running_.empty() || changed < ends)) {
        go_to(changed);
        aside_ = asides_[changes++].what;
      } else if (next < arrivals_.size() && (running_.empty() || arrives < ends)) {
        go_to(arrives);
        arrived_ = ++next;
      } else {
        go_to(ends);
        retire();
      }
      place();
      share();
    }
    return result_;
  }

 private:
  struct Block {
    std::size_t kernel;
    std::int64_t number;
    int sm;
    Nanos start;
    std::int64_t arithmetic, memory;
    std::int64_t arithmetic_rate = 0, memory_rate = 0;
  };

  static constexpr Nanos kNever = std::numeric_limits<Nanos>::max();
  bool is_aside(int sm) const { return sm >= limits_.count - aside_.sms; }

  const sim::BlockCost& cost(std::size_t kernel) const { return arrivals_[kernel].cost; }

  Nanos next_end() const {
    Nanos next = std::numeric_limits<Nanos>::max();
    for (const Block& block : running_) {
      const auto part = [&](std::int64_t work, std::int64_t rate) {
        if (work > 0) next = std::min(next, now_ + (work + rate - 1) / rate);
      };
      part(block.arithmetic, block.arithmetic_rate);
      part(block.memory, block.memory_rate);
    }
    return next;
  }

  void go_to(Nanos now) {
    for (int sm = 0; sm < limits_.count; ++sm) {
      int warps = 0;
      for (const Block& block : running_)
        if (block.sm == sm) warps += cost(block.kernel).warps;
      if (is_aside(sm)) warps += sim::kWarpsAside;
      result_.use.busy += warps > 0 ? now - now_ : 0;
      result_.use.warps += warps * (now - now_);
    }
    for (Block& block : running_) {
      block.arithmetic =
          std::max<std::int64_t>(0, block.arithmetic - block.arithmetic_rate * (now - now_));
      block.memory = std::max<std::int64_t>(0, block.memory - block.memory_rate * (now - now_));
    }
    now_ = now;
  }

  void retire() {
    for (const Block& block : running_) {
      if (block.arithmetic > 0 || block.memory > 0) continue;
      result_.bars.push_back({block.kernel, block.number, block.sm, block.start, now_});
      result_.ends[block.kernel] = now_;
    }
    std::erase_if(running_,
                  [](const Block& block) { return block.arithmetic == 0 && block.memory == 0; });
  }

  void place() {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < arrived_; ++k)
      if (placed_[k] < arrivals_[k].blocks) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return arrivals_[a].priority < arrivals_[b].priority;
    });
    for (const std::size_t kernel : order) {
      while (placed_[kernel] < arrivals_[kernel].blocks && place_one(kernel)) {
      }
      if (placed_[kernel] < arrivals_[kernel].blocks) return;
    }
  }

  bool place_one(std::size_t kernel) {
    const sim::BlockCost& wanted = cost(kernel);
    int best = -1, fewest = std::numeric_limits<int>::max();
    for (int sm = 0; sm < limits_.count && !is_aside(sm); ++sm) {
      int own = 0, blocks = 0, warps = 0;
      std::int64_t registers = 0, shared = 0, set_to = wanted.sm_shared_bytes;
      for (const Block& block : running_) {
        if (block.sm != sm) continue;
        const sim::BlockCost& has = cost(block.kernel);
        own += block.kernel == kernel;
        ++blocks;
        warps += has.warps;
        registers += has.registers;
        shared += has.shared_bytes;
        set_to = std::max(set_to, has.sm_shared_bytes);
      }
      const bool room = own < wanted.per_sm && blocks < limits_.blocks &&
                        warps + wanted.warps <= limits_.warps &&
                        registers + wanted.registers <= limits_.registers &&
                        shared + wanted.shared_bytes <= set_to;
      if (room && warps < fewest) {
        best = sm;
        fewest = warps;
      }
    }
    if (best < 0) return false;
    running_.push_back({kernel, placed_[kernel]++, best, now_,
                        std::max<std::int64_t>(1, wanted.arithmetic), wanted.memory});
    return true;
  }

  // The blocks of the lowest limit first, all of one limit alike.
  template <class Wants, class Limit, class Give>
  void divide(std::int64_t capacity, Wants wants, Limit limit, Give give) {
    std::map<std::int64_t, std::int64_t> blocks;
    std::int64_t count = 0;
    for (const Block& block : running_)
      if (wants(block)) ++blocks[limit(block)], ++count;
    std::map<std::int64_t, std::int64_t> rates;
    for (const auto& [at, number] : blocks) {
      rates[at] = std::max<std::int64_t>(1, std::min(at, capacity / count));
      capacity = std::max<std::int64_t>(0, capacity - rates[at] * number);
      count -= number;
    }
    for (Block& block : running_)
      if (wants(block)) give(block, rates[limit(block)]);
  }

  void share() {
    for (Block& block : running_) block.arithmetic_rate = block.memory_rate = 0;
    divide(
        sim::kMemoryRate - aside_.memory, [](const Block& block) { return block.memory > 0; },
        [&](const Block& block) { return cost(block.kernel).memory_limit; },
        [](Block& block, std::int64_t rate) { block.memory_rate = rate; });
    for (int sm = 0; sm < limits_.count; ++sm)
      divide(
          sim::kArithmeticRate,
          [&](const Block& block) { return block.sm == sm && block.arithmetic > 0; },
          [&](const Block& block) { return cost(block.kernel).arithmetic_limit; },
          [](Block& block, std::int64_t rate) { block.arithmetic_rate = rate; });
  }

  sim::SmLimits limits_;
  std::vector<Arrival> arrivals_;
  std::vector<Aside> asides_;
  sim::SetAside aside_;
  std::vector<std::int64_t> placed_;
  std::vector<Block> running_;
  std::size_t arrived_ = 0;
  Nanos now_ = 0;
  PlainResult result_;
};

}  // namespace trainscope::test
