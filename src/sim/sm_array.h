// The SMs of a GPU, and the blocks that are on them.
//
// A kernel is a grid of equal blocks. The scheduler places blocks in the order of their kernels'
// admission (lower priority numbers first), breadth first: each goes to the SM with the fewest
// warps of those with room, the lowest number among equals. A kernel gets room only once every
// block of those before it is placed ("leftover"). A block is done when its arithmetic and its
// memory traffic are: the resident blocks of an SM share its arithmetic, all blocks share device
// memory, each below its own limit (max-min fairness).
//
// Work and rates are whole numbers, so that blocks that are advanced together and blocks that are
// advanced one by one are done at the same nanosecond. SMs in the same state are one class and cost
// as much as one SM; while one kernel alone gets room, what comes again and again, as its full
// waves do, is taken in one stride; and a kernel that finds the SMs empty and has them to itself is
// looked up among those that went before it.
//
// What is no kernel, a collective, has some of the SMs to itself, the last of them, and some of
// device memory's rate. Blocks that are on such an SM go on to their end.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "machine/machine.h"

namespace trainscope::sim {

// What one SM, and device memory, serve in a nanosecond: the units of a block's work.
inline constexpr std::int64_t kArithmeticRate = std::int64_t{1} << 20;
inline constexpr std::int64_t kMemoryRate = std::int64_t{1} << 30;

// What one block needs of its SM and of device memory.
struct BlockCost {
  std::int64_t arithmetic = 0;                      // kArithmeticRate units: a ns of the whole SM
  std::int64_t arithmetic_limit = kArithmeticRate;  // units a ns that its warps can keep in flight
  std::int64_t memory = 0;                          // kMemoryRate units: a ns of all device memory
  std::int64_t memory_limit = kMemoryRate;
  int warps = 1;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  int per_sm = 1;                    // blocks of its kernel that an SM holds at most
  std::int64_t sm_shared_bytes = 0;  // that the SM is set to while the kernel is on it

  auto operator<=>(const BlockCost&) const = default;
};

// What an SM has.
struct SmLimits {
  int count = 1;  // of SMs
  int warps = 64;
  int blocks = 32;
  std::int64_t registers = 65536;
};
SmLimits sm_limits(const machine::Gpu& gpu);

// SM time and warp time, of all SMs together, in ns.
struct SmUse {
  std::int64_t busy = 0;   // with a block at least
  std::int64_t warps = 0;  // of resident warps
};

// What blocks cannot have: SMs, at most all but one, and units of kMemoryRate, at most all but one.
struct SetAside {
  int sms = 0;
  std::int64_t memory = 0;

  auto operator<=>(const SetAside&) const = default;
};
// Resident on an SM that is set aside: a block of 512 threads.
inline constexpr int kWarpsAside = 16;

class LoneRuns;
struct LoneRun;

class SmArray {
 public:
  // `known`: kernels that had the SMs to themselves, of arrays with the same limits. None: each
  // kernel is carried out.
  explicit SmArray(const SmLimits& limits, std::shared_ptr<LoneRuns> known = nullptr);

  // A kernel of `blocks` > 0 blocks, each of which fits an empty SM. `id` is the caller's.
  void admit(Nanos now, std::uint32_t id, const BlockCost& cost, std::int64_t blocks,
             int priority = 0);

  // From now on, in place of what was set aside before.
  void set_aside(Nanos now, SetAside aside);

  bool idle() const { return kernels_.empty() && done_.empty() && !lone_; }
  // When to call finish next, if nothing comes before; call only when not idle.
  Nanos next_event() const;
  // Goes on to `now` and returns the kernels that are done, in the order of their admission; valid
  // until the next call.
  const std::vector<std::uint32_t>& finish(Nanos now);
  // The kernels whose first block the last admit, set_aside or finish placed: it began then.
  const std::vector<std::uint32_t>& begun() const { return begun_; }
  // Changes with each of those calls: tells a stale appointment from a good one.
  std::uint64_t version() const { return version_; }

  // Now: SMs with a block or set aside, resident warps.
  int busy_sms() const;
  std::int64_t resident_warps() const;
  // Up to the last of those calls; of a kernel that has the SMs to itself, up to its start.
  SmUse use() const { return use_; }

 private:
  struct Kernel {
    std::uint32_t id = 0;
    std::uint64_t order = 0;
    int priority = 0;
    BlockCost cost;
    std::int64_t unplaced = 0;
    bool begun = false;
    std::int64_t running = 0;
  };
  // Blocks of one kernel on one SM that were placed at the same time.
  struct Cohort {
    std::uint64_t kernel = 0;  // its order
    int blocks = 0;
    Nanos start = 0;
    std::int64_t arithmetic = 0;  // left, of each block
    std::int64_t memory = 0;
    std::int64_t arithmetic_rate = 0;
    std::int64_t memory_rate = 0;

    bool same_as(const Cohort& other) const;
  };
  // SMs that hold the same blocks in the same state.
  struct SmClass {
    std::vector<int> sms;  // ascending
    std::vector<Cohort> cohorts;
    int blocks = 0;
    int warps = 0;
    std::int64_t registers = 0;
    std::int64_t shared_bytes = 0;
    bool aside = false;

    bool busy() const { return blocks > 0 || aside; }
    int resident_warps() const { return warps + (aside ? kWarpsAside : 0); }
  };
  // What the SMs held just after blocks were placed, all of them of one kernel that has more.
  struct Moment {
    Nanos time = 0;
    std::uint64_t kernel = 0;  // its order
    std::int64_t unplaced = 0;
    SmUse use;
    int busy = 0;  // SMs; as many ever since
    std::int64_t warps = 0;
    std::vector<SmClass> classes;  // by their first SM
    int looks = 0;                 // that found something else, and when to give it up
    int most_looks = 0;
  };
  // From such a moment on the same again and again.
  struct Stride {
    Nanos start = 0;
    Nanos period = 0;
    std::int64_t periods = 0;
    std::uint64_t kernel = 0;
    std::int64_t blocks = 0;  // placed in each
    SmUse use;                // of each
    Nanos end() const { return start + period * periods; }
  };
  // A kernel that has the SMs to itself, and how that goes.
  struct Lone {
    Kernel kernel;
    Nanos start = 0;
    Nanos seen = 0;  // the last moment that was asked for
    const LoneRun* run = nullptr;
  };

  std::size_t place_of(std::uint64_t order) const;  // in kernels_
  const BlockCost& cost_of(const Cohort& cohort) const {
    return kernels_[place_of(cohort.kernel)].cost;
  }
  void begin_alone(Nanos now, Kernel kernel);
  void end_alone();
  void interrupt_alone(Nanos now);
  void interrupt(Nanos now);
  void regroup();
  void go_to(Nanos now);
  void step(Nanos now);
  void serve(Nanos now);
  void retire();
  void place(Nanos now);
  bool place_some(Kernel& kernel, Nanos now);
  bool has_room(const SmClass& one, const Kernel& kernel) const;
  void put(SmClass& on, Kernel& kernel, Nanos now);
  void split(std::size_t index, std::size_t kept);
  void merge_equals();
  void share();
  void share_memory();
  void share_arithmetic(SmClass& one);
  Nanos next_end() const;
  void note_moment(Nanos now);
  bool is_again(const Moment& seen, Nanos now) const;
  std::vector<SmClass> classes_in_order() const;
  bool try_stride(Kernel& kernel, Nanos now);
  void end_stride(Nanos now);

  SmLimits limits_;
  std::shared_ptr<LoneRuns> known_;
  SetAside aside_;
  std::optional<Lone> lone_;
  std::vector<Kernel> kernels_;  // by priority, then admission
  std::vector<SmClass> classes_;
  std::vector<std::uint32_t> done_;
  std::vector<std::uint32_t> reported_;
  std::vector<std::uint32_t> begun_;
  std::optional<Stride> stride_;
  std::optional<Moment> seen_;
  Nanos now_ = 0;
  SmUse use_;
  std::uint64_t next_order_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace trainscope::sim
