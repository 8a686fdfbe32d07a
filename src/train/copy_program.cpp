// The workload `copy`: one tensor copied several times, and nothing else. All copies are one step;
// there are several where the config asks for them.

#include <fmt/format.h>

#include "trace/step_mark.h"
#include "train/build.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::MemoryKind;
using program::Role;

struct Lines {
  std::uint16_t loop = 0;
  std::uint16_t copy = 0;
  std::uint16_t synchronise = 0;
};

std::string tensor(std::int64_t bytes, const char* where) {
  return fmt::format("torch.empty({}, dtype=torch.uint8{})", bytes, where);
}

Lines write_listing(program::Listing& listing, const program::Config& config) {
  const std::int64_t bytes = config.whole("copy.bytes");
  const bool pinned = config.word("copy.memory") == "pinned";
  const std::string& direction = config.word("copy.direction");
  const bool within = direction == "d2d";
  listing.add("import torch");
  listing.add("");
  listing.add("x = " + tensor(bytes, within   ? ", device=\"cuda\""
                                     : pinned ? ", pin_memory=True"
                                              : ""));
  listing.add("y = " + tensor(bytes, ", device=\"cuda\""));
  listing.add("");
  Lines lines;
  const std::int64_t steps = config.whole("steps");
  const std::string indent = steps > 1 ? "    " : "";
  if (steps > 1) lines.loop = listing.add(fmt::format("for step in range({}):", steps));
  const std::uint16_t copies =
      listing.add(fmt::format("{}for i in range({}):", indent, config.whole("copy.count")));
  if (steps == 1) lines.loop = copies;
  const bool back = direction == "d2h";
  lines.copy =
      listing.add(fmt::format("{}    {}.copy_({}, non_blocking={})", indent, back ? "x" : "y",
                              back ? "y" : "x", python(config.flag("transfer.non_blocking"))));
  lines.synchronise = listing.add(indent + "torch.cuda.synchronize()");
  return lines;
}

}  // namespace

program::Program build_copy(const program::Config& config) {
  program::Program program;
  const std::int64_t bytes = config.whole("copy.bytes");
  const std::int64_t count = config.whole("copy.count");
  const std::string& direction = config.word("copy.direction");
  const MemoryKind host =
      config.word("copy.memory") == "pinned" ? MemoryKind::kPinned : MemoryKind::kPageable;
  const MemoryKind x_kind = direction == "d2d" ? MemoryKind::kDevice : host;
  const program::Index x = add_buffer(program, "x", bytes, x_kind, Role::kBatch);
  const program::Index y = add_buffer(program, "y", bytes, MemoryKind::kDevice, Role::kBatch);
  program.streams.push_back(compute_stream(config));
  program.threads.push_back({"host main", program::ThreadRole::kMain, 0, {}});
  const Lines lines = write_listing(program.listing, config);

  ThreadWriter main(program, 0);
  const bool blocking = !config.flag("transfer.non_blocking") && direction != "d2d";
  const program::Copy copy =
      direction == "d2h" ? program::Copy{y, x, bytes, 0} : program::Copy{x, y, bytes, 0};
  program.steps = static_cast<int>(config.whole("steps"));
  program.warmup_steps = program.steps > 1 ? 1 : 0;
  for (int step = 0; step < program.steps; ++step) {
    main.at(lines.loop).add(program::BeginMark{}, trace::step_mark(step));
    for (std::int64_t i = 0; i < count; ++i) {
      main.at(lines.copy).add(copy);
      if (blocking) main.add(program::StreamSync{0});
    }
    main.at(lines.synchronise).add(program::DeviceSync{});
    main.at(lines.loop).add(program::EndMark{});
  }
  return program;
}

}  // namespace trainscope::train
