// Device memory at a time, rebuilt from what the allocator did: every segment with its blocks, as
// torch.cuda.memory._snapshot() shows them. Of several GPUs it is the one that is asked for, else
// the one on which tensors held the most at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

enum class BlockState : std::uint8_t {
  kFree,
  kAllocated,
  kWaiting  // freed by the program, and another stream's work may still use it
};

struct MemoryBlock {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t requested = 0;  // what the program asked for; of a free block 0
  BlockState state = BlockState::kFree;
  trace::NameId owner = trace::kNone;  // the tensor; of a free block none
  trace::NameId role = trace::kNone;
};

struct MemorySegment {
  std::uint32_t number = 0;
  std::int64_t bytes = 0;
  std::int32_t device = 0;
  std::int32_t stream = 0;
  std::vector<MemoryBlock> blocks;  // by offset, without holes; free neighbours are one
};

// After all that happened up to `time`, segments by number. Empty where the trace has no actions.
std::vector<MemorySegment> memory_map(const trace::Trace& trace, Nanos time,
                                      std::optional<std::int32_t> device = {});

// The same at one time after another: what happened is kept every so often, so that no time is far
// from one that is known.
class MemoryMaps {
 public:
  // Keeps a reference to the trace; covers the actions that were there.
  explicit MemoryMaps(const trace::Trace& trace, std::optional<std::int32_t> device = {});
  ~MemoryMaps();
  MemoryMaps(MemoryMaps&&) noexcept;
  MemoryMaps& operator=(MemoryMaps&&) noexcept;

  bool empty() const;
  // As memory_map(); valid until the next call.
  const std::vector<MemorySegment>& at(Nanos time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The blocks that were handed out when they were the most bytes, the first time of several: the
// largest first. Of the whole trace.
std::vector<MemoryBlock> held_at_peak(const trace::Trace& trace,
                                      std::optional<std::int32_t> device = {});

using RoleBytes = std::map<std::string, double, std::less<>>;

// What each role had of the bytes of `held_at_peak`, by the role's name ("activations"): of the
// roles that the trace allocates, of all where it trains; 0 for one that had none then. Of a
// device, whose trace has no actions, by what it counts of roles. Else empty where there are none.
RoleBytes roles_at_peak(const trace::Trace& trace);

}  // namespace trainscope::analysis
