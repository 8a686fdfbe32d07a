// The workload `copy`: one tensor copied several times, and nothing else. All copies are one step;
// there are several where the config asks for them. A round trip is another program.

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "trace/step_mark.h"
#include "train/build.h"
#include "train/round_trip_program.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::MemoryKind;
using program::Role;

struct Lines {
  std::uint16_t pin = 0;  // of a tensor that is pinned once; 0: there is none
  std::uint16_t loop = 0;
  std::uint16_t copy = 0;
  std::uint16_t synchronise = 0;
};

enum class Pinning : std::uint8_t { kAhead, kOnce, kEach };

// Of what lies in pageable memory at first.
Pinning pinning_of(const program::Config& config) {
  const bool pins =
      config.word("copy.memory") == "pinned" && config.word("copy.direction") == "h2d";
  const std::string& when = config.word("copy.pin");
  if (!pins || when == "ahead") return Pinning::kAhead;
  return when == "once" ? Pinning::kOnce : Pinning::kEach;
}

std::string tensor(std::int64_t bytes, const char* where) {
  return fmt::format("torch.empty({}, dtype=torch.uint8{})", bytes, where);
}

Lines write_listing(program::Listing& listing, const program::Config& config) {
  const std::int64_t bytes = config.whole("copy.bytes");
  const bool pinned = config.word("copy.memory") == "pinned";
  const std::string& direction = config.word("copy.direction");
  const bool within = direction == "d2d";
  const Pinning pinning = pinning_of(config);
  listing.add("import torch");
  listing.add("");
  listing.add("x = " + tensor(bytes, within                                 ? ", device=\"cuda\""
                                     : pinned && pinning == Pinning::kAhead ? ", pin_memory=True"
                                                                            : ""));
  listing.add("y = " + tensor(bytes, ", device=\"cuda\""));
  listing.add("");
  Lines lines;
  if (pinning == Pinning::kOnce) lines.pin = listing.add("x = x.pin_memory()");
  const std::int64_t steps = config.whole("steps");
  const std::string indent = steps > 1 ? "    " : "";
  if (steps > 1) lines.loop = listing.add(fmt::format("for step in range({}):", steps));
  const std::uint16_t copies =
      listing.add(fmt::format("{}for i in range({}):", indent, config.whole("copy.count")));
  if (steps == 1) lines.loop = copies;
  const bool back = direction == "d2h";
  const char* from = back ? "y" : pinning == Pinning::kEach ? "x.pin_memory()" : "x";
  lines.copy =
      listing.add(fmt::format("{}    {}.copy_({}, non_blocking={})", indent, back ? "x" : "y", from,
                              python(config.flag("transfer.non_blocking"))));
  lines.synchronise = listing.add(indent + "torch.cuda.synchronize()");
  return lines;
}

// x.pin_memory(): a copy of x into page-locked memory. PyTorch keeps that, in blocks of powers of
// two (aten/src/ATen/core/CachingHostAllocator.h), and gives a block away again once the copies out
// of it are over.
class PinnedBlocks {
 public:
  PinnedBlocks(program::Program& program, std::int64_t bytes, std::size_t blocks) : bytes_(bytes) {
    for (std::size_t i = 0; i < blocks; ++i)
      blocks_.push_back(add_buffer(program, "x, pinned", bytes, MemoryKind::kPinned, Role::kBatch));
  }

  // Into the block that has been free for the longest time.
  program::Index pin(ThreadWriter& main) {
    main.add(program::FrameworkCall{}, "aten::pin_memory");
    if (pinned_ < blocks_.size())
      main.add(program::HostAlloc{
          static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes_)))});
    main.add(program::HostCopy{bytes_}, "pin x");
    return blocks_[pinned_++ % blocks_.size()];
  }

 private:
  std::int64_t bytes_;
  std::vector<program::Index> blocks_;
  std::size_t pinned_ = 0;
};

// A copy that is not waited for still reads its block when the next is pinned: that takes another
// one, and longer than the copy, so that two are enough.
std::size_t blocks_of(const program::Config& config) {
  switch (pinning_of(config)) {
    case Pinning::kAhead:
      return 0;
    case Pinning::kOnce:
      return 1;
    case Pinning::kEach:
      break;
  }
  return config.flag("transfer.non_blocking") ? 2 : 1;
}

}  // namespace

program::Program build_copy(const program::Config& config) {
  if (config.word("copy.direction") == "round_trip") return build_round_trip(config);
  program::Program program;
  const std::int64_t bytes = config.whole("copy.bytes");
  const std::int64_t count = config.whole("copy.count");
  const std::string& direction = config.word("copy.direction");
  const Pinning pinning = pinning_of(config);
  const bool is_pinned = config.word("copy.memory") == "pinned" && pinning == Pinning::kAhead;
  const MemoryKind host = is_pinned ? MemoryKind::kPinned : MemoryKind::kPageable;
  const MemoryKind x_kind = direction == "d2d" ? MemoryKind::kDevice : host;
  const program::Index x = add_buffer(program, "x", bytes, x_kind, Role::kBatch);
  const program::Index y = add_buffer(program, "y", bytes, MemoryKind::kDevice, Role::kBatch);
  program.streams.push_back(compute_stream(config));
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  const Lines lines = write_listing(program.listing, config);

  ThreadWriter main(program, 0);
  const bool blocking = !config.flag("transfer.non_blocking") && direction != "d2d";
  program::Copy copy =
      direction == "d2h" ? program::Copy{y, x, bytes, 0} : program::Copy{x, y, bytes, 0};
  PinnedBlocks pinned(program, bytes, blocks_of(config));
  program.steps = static_cast<int>(config.whole("steps"));
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  const bool pins_once = pinning == Pinning::kOnce;  // of one step, or before all of several
  if (pins_once && program.steps > 1) copy.from = pinned.pin(main.at(lines.pin));
  for (int step = 0; step < program.steps; ++step) {
    main.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    if (pins_once && program.steps == 1) copy.from = pinned.pin(main.at(lines.pin));
    for (std::int64_t i = 0; i < count; ++i) {
      if (pinning == Pinning::kEach) copy.from = pinned.pin(main.at(lines.copy));
      main.at(lines.copy).add(copy);
      if (blocking) main.add(program::StreamSync{0});
    }
    main.at(lines.synchronise).add(program::DeviceSync{});
    main.at(lines.loop).add(program::EndMark{});
  }
  return program;
}

}  // namespace trainscope::train
