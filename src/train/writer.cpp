#include "train/writer.h"

#include <algorithm>

#include "base/error.h"

namespace trainscope::train {
namespace {

constexpr std::size_t kMostCommands = 20'000'000;

}  // namespace

void check_room(double commands) {
  if (commands <= static_cast<double>(kMostCommands)) return;
  throw InputError("this run has more than " + std::to_string(kMostCommands / 1'000'000) +
                   " million commands; give fewer steps, or fewer things in a step");
}

// Doubles, but for no more than may come.
void ThreadWriter::make_room() {
  auto& commands = program_.threads[thread_].commands;
  check_room(static_cast<double>(commands.size() + 1));
  commands.reserve(std::min(std::max<std::size_t>(16, 2 * commands.size()), kMostCommands));
}

// The smallest step counts: first ones set up what the others use.
void StepRoom::after(std::int64_t step) {
  const std::size_t size = thread_.size();
  least_ = std::min(least_, size - size_);
  size_ = size;
  if (size * static_cast<std::size_t>(alike_) < next_look_) return;
  next_look_ *= 2;
  const auto left = static_cast<double>(steps_ - 1 - step);
  check_room((static_cast<double>(size) + left * static_cast<double>(least_)) *
             static_cast<double>(alike_));
}

program::Stream compute_stream(const program::Config& config) {
  program::Stream stream;
  stream.name = "stream 7";
  stream.number = 7;
  const std::string& kind = config.word("stream.kind");
  stream.kind = kind == "legacy"     ? program::StreamKind::kLegacyDefault
                : kind == "blocking" ? program::StreamKind::kBlocking
                                     : program::StreamKind::kNonBlocking;
  return stream;
}

std::string_view python(bool flag) {
  return flag ? "True" : "False";
}

program::Index add_buffer(program::Program& program, std::string name, std::int64_t bytes,
                          program::MemoryKind kind, program::Role role) {
  program.buffers.push_back({std::move(name), bytes, kind, role});
  return static_cast<program::Index>(program.buffers.size() - 1);
}

program::Index add_numbers(program::Program& program, std::string name, std::int64_t elements,
                           program::ElementType type, program::MemoryKind kind,
                           program::Role role) {
  const program::Index buffer =
      add_buffer(program, std::move(name), elements * program::size_of(type), kind, role);
  program.buffers[buffer].type = type;
  return buffer;
}

}  // namespace trainscope::train
