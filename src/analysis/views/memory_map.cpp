#include "analysis/views/memory_map.h"

#include <algorithm>

#include "analysis/views/memory_history.h"
#include "program/program.h"

namespace trainscope::analysis {
namespace {

using trace::AllocatorAction;
using trace::AllocatorEvent;

using Device = std::optional<std::int32_t>;  // none: the fullest

// When tensors held the most on a GPU, the first time of several.
struct Peak {
  std::int32_t device = 0;
  std::uint32_t events = 0;  // that had happened by then, of all GPUs
};

Peak peak_of(const trace::Trace& trace, Device asked) {
  std::map<std::int32_t, double> held;  // a damaged file may claim any number of bytes
  double most = 0;
  Peak peak{asked.value_or(0), 0};
  auto last = held.try_emplace(0, 0).first;  // mostly the next one's, too
  trace::for_each(trace.allocator_events(), [&](const AllocatorEvent& event, std::uint32_t i) {
    if (asked && event.device != *asked) return;
    if (event.device != last->first) last = held.try_emplace(event.device, 0).first;
    double& here = last->second;
    if (event.action == AllocatorAction::kAlloc) here += static_cast<double>(event.bytes);
    if (event.action == AllocatorAction::kFreeRequested) here -= static_cast<double>(event.bytes);
    if (here <= most) return;
    most = here;
    peak = {event.device, i + 1};
  });
  return peak;
}

// The segments of one GPU and the blocks in them that are not free.
class Replay {
 public:
  explicit Replay(std::int32_t device) : device_(device) {}

  void take(const AllocatorEvent& event) {
    if (event.device != device_) return;
    switch (event.action) {
      case AllocatorAction::kSegmentAlloc:
        segments_[event.segment] = {{event.segment, event.bytes, event.device, event.stream, {}},
                                    {}};
        break;
      case AllocatorAction::kSegmentFree:
        segments_.erase(event.segment);
        break;
      case AllocatorAction::kAlloc:
        segments_[event.segment].held[event.offset] = {event.offset,    event.bytes,
                                                       event.requested, BlockState::kAllocated,
                                                       event.owner,     event.role};
        break;
      case AllocatorAction::kFreeRequested:
        segments_[event.segment].held[event.offset].state = BlockState::kWaiting;
        break;
      case AllocatorAction::kFreeCompleted:
        segments_[event.segment].held.erase(event.offset);
        break;
      case AllocatorAction::kRetry:
      case AllocatorAction::kOutOfMemory:
        break;
    }
  }

  std::vector<MemorySegment> map() const {
    std::vector<MemorySegment> map;
    for (const auto& [number, segment] : segments_) map.push_back(with_free_blocks(segment));
    return map;
  }

 private:
  struct Segment {
    MemorySegment what;
    std::map<std::int64_t, MemoryBlock> held;  // by offset
  };

  static MemorySegment with_free_blocks(const Segment& segment) {
    MemorySegment out = segment.what;
    std::int64_t end = 0;
    const auto fill = [&](std::int64_t to) {
      if (to > end) out.blocks.push_back({end, to - end});
    };
    for (const auto& [offset, block] : segment.held) {
      fill(offset);
      out.blocks.push_back(block);
      end = offset + block.bytes;
    }
    fill(out.bytes);
    return out;
  }

  std::int32_t device_;
  std::map<std::uint32_t, Segment> segments_;  // by number
};

Replay replay(const trace::Trace& trace, std::int32_t device, std::uint32_t events) {
  Replay replay(device);
  for (std::uint32_t i = 0; i < events; ++i) replay.take(trace.allocator_events()[i]);
  return replay;
}

// How many of the first `events` actions had happened by then.
std::uint32_t happened_by(const trace::Trace& trace, std::uint32_t events, Nanos time) {
  std::uint32_t first = 0, last = events;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (trace.allocator_events()[middle].time <= time)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

}  // namespace

std::vector<MemorySegment> memory_map(const trace::Trace& trace, Nanos time, Device device) {
  return replay(trace, device ? *device : peak_of(trace, {}).device,
                happened_by(trace, trace.allocator_events().size(), time))
      .map();
}

struct MemoryMaps::State {
  static constexpr std::uint32_t kBetween = 1024;  // actions from one that is kept to the next

  const trace::Trace* trace;
  std::uint32_t events;
  std::int32_t device;
  std::vector<Replay> kept;  // after 0, kBetween, 2 kBetween, ... actions
  Replay now;
  std::uint32_t taken = 0;  // by `now`
  std::vector<MemorySegment> map;
};

MemoryMaps::MemoryMaps(const trace::Trace& trace, Device asked) {
  const std::int32_t device = asked ? *asked : peak_of(trace, {}).device;
  state_ = std::make_unique<State>(
      State{&trace, trace.allocator_events().size(), device, {}, Replay(device), 0, {}});
  Replay so_far(state_->device);
  for (std::uint32_t i = 0; i < state_->events; ++i) {
    if (i % State::kBetween == 0) state_->kept.push_back(so_far);
    so_far.take(trace.allocator_events()[i]);
  }
}

MemoryMaps::~MemoryMaps() = default;
MemoryMaps::MemoryMaps(MemoryMaps&&) noexcept = default;
MemoryMaps& MemoryMaps::operator=(MemoryMaps&&) noexcept = default;

bool MemoryMaps::empty() const {
  return state_->events == 0;
}

const std::vector<MemorySegment>& MemoryMaps::at(Nanos time) {
  State& state = *state_;
  const std::uint32_t wanted = happened_by(*state.trace, state.events, time);
  if (wanted == state.taken) return state.map;
  if (wanted < state.taken || wanted - state.taken > State::kBetween) {
    const std::uint32_t from = (wanted - 1) / State::kBetween;
    state.now = wanted == 0 ? Replay(state.device) : state.kept[from];
    state.taken = wanted == 0 ? 0 : from * State::kBetween;
  }
  while (state.taken < wanted) state.now.take(state.trace->allocator_events()[state.taken++]);
  state.map = state.now.map();
  return state.map;
}

std::vector<MemoryBlock> held_at_peak(const trace::Trace& trace, Device device) {
  const Peak peak = peak_of(trace, device);
  std::vector<MemoryBlock> blocks;
  for (const MemorySegment& segment : replay(trace, peak.device, peak.events).map())
    for (const MemoryBlock& block : segment.blocks)
      if (block.state == BlockState::kAllocated) blocks.push_back(block);
  std::ranges::stable_sort(blocks, std::ranges::greater{}, &MemoryBlock::bytes);
  return blocks;
}

namespace {

// Of a device it is counted what there is of each role, and not which blocks.
RoleBytes counted_at_peak(const trace::Trace& trace) {
  RoleBytes roles;
  const MemoryHistory history(trace);
  if (history.empty()) return roles;
  const std::vector<double>& bytes = history.peak().by_role;
  for (std::size_t i = 0; i < bytes.size(); ++i) roles[history.roles()[i]] = bytes[i];
  return roles;
}

// The roles of what a trace allocates. Where parameters are among them it trains, and has all
// roles: SGD without momentum keeps nothing for the optimizer.
RoleBytes allocated_roles(const trace::Trace& trace) {
  RoleBytes roles;
  trace::for_each(trace.allocator_events(), [&](const AllocatorEvent& event, std::uint32_t) {
    if (event.action == AllocatorAction::kAlloc && event.role != trace::kNone)
      roles.try_emplace(std::string(trace.name(event.role)), 0);
  });
  if (!roles.contains(program::name_of(program::Role::kParameter))) return roles;
  for (std::size_t role = 0; role < program::kRoles; ++role)
    roles.try_emplace(std::string(program::name_of(static_cast<program::Role>(role))), 0);
  return roles;
}

}  // namespace

RoleBytes roles_at_peak(const trace::Trace& trace) {
  if (trace.allocator_events().empty())
    return trace::is_measured(trace) ? counted_at_peak(trace) : RoleBytes();
  RoleBytes roles = allocated_roles(trace);
  for (const MemoryBlock& block : held_at_peak(trace))
    if (block.role != trace::kNone)
      roles[trace.name(block.role)] += static_cast<double>(block.bytes);
  return roles;
}

}  // namespace trainscope::analysis
