// Writes the commands of one host thread, each citing the listing line that is current.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// Throws InputError where a run of so many commands is more than a machine has room for: a program
// has at most 20 million, a gigabyte of them.
void check_room(double commands);

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
    if (commands.size() == commands.capacity()) make_room();
    commands.push_back(
        {action, name.empty() ? program::kNoIndex : program_.intern(name), line_, phase_});
  }

  std::size_t size() const { return program_.threads[thread_].commands.size(); }

 private:
  void make_room();

  program::Program& program_;
  program::Index thread_;
  std::uint16_t line_ = 0;
  program::Phase phase_ = program::Phase::kNone;
};

// Watches a loop that writes its steps one after another: what has been written tells, long before
// it fills the memory, that all of them would be too much.
class StepRoom {
 public:
  // `alike`: how many threads write the same.
  StepRoom(const ThreadWriter& thread, std::int64_t steps, std::int64_t alike = 1)
      : thread_(thread), steps_(steps), alike_(alike), size_(thread.size()) {}

  // After each step, counted from 0. Throws as check_room does.
  void after(std::int64_t step);

 private:
  static constexpr std::size_t kFirstLook = 1'000'000;  // commands, 60 MB

  const ThreadWriter& thread_;
  std::int64_t steps_;
  std::int64_t alike_;
  std::size_t size_;                                             // of the thread, a step ago
  std::size_t least_ = std::numeric_limits<std::size_t>::max();  // commands of a step
  std::size_t next_look_ = kFirstLook;
};

// The stream that PyTorch works on by default (number 7 in its profiles), of the kind stream.kind.
program::Stream compute_stream(const program::Config& config);

// "True" or "False", as a listing spells it.
std::string_view python(bool flag);

program::Index add_buffer(program::Program& program, std::string name, std::int64_t bytes,
                          program::MemoryKind kind, program::Role role);
// The same of so many numbers of a type.
program::Index add_numbers(program::Program& program, std::string name, std::int64_t elements,
                           program::ElementType type, program::MemoryKind kind, program::Role role);

}  // namespace trainscope::train
