// Writes the commands of one host thread, each citing the listing line that is current.
#pragma once

#include <string_view>

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

class ThreadWriter {
 public:
  ThreadWriter(program::Program& program, program::Index thread)
      : program_(program), thread_(thread) {}

  // Commands from here on cite this line.
  ThreadWriter& at(std::uint16_t line) {
    line_ = line;
    return *this;
  }
  ThreadWriter& in(program::Phase phase) {
    phase_ = phase;
    return *this;
  }
  // Throws InputError when the thread has more commands than a machine has room for.
  void add(program::Action action, std::string_view name = {}) {
    auto& commands = program_.threads[thread_].commands;
    if (commands.size() >= kMostCommands) refuse_more();
    commands.push_back(
        {action, name.empty() ? program::kNoIndex : program_.intern(name), line_, phase_});
  }

 private:
  static constexpr std::size_t kMostCommands = 20'000'000;  // a gigabyte of them
  [[noreturn]] static void refuse_more();

  program::Program& program_;
  program::Index thread_;
  std::uint16_t line_ = 0;
  program::Phase phase_ = program::Phase::kNone;
};

// The stream that PyTorch works on by default (number 7 in its profiles), of the kind stream.kind.
program::Stream compute_stream(const program::Config& config);

// "True" or "False", as a listing spells it.
std::string_view python(bool flag);

program::Index add_buffer(program::Program& program, std::string name, std::int64_t bytes,
                          program::MemoryKind kind, program::Role role);

}  // namespace trainscope::train
