// A rank's commands in the order in which they are carried out.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "program/program.h"

namespace trainscope::test {

// Those of its main thread, which waits for backward, and where it does, those of autograd's
// thread.
inline void in_order(const program::Program& program, int rank,
                     const std::function<void(const program::Command&)>& look) {
  const auto thread_of = [&](program::ThreadRole role) -> const program::Thread& {
    for (const program::Thread& thread : program.threads)
      if (thread.role == role && thread.rank == rank) return thread;
    FAIL("no such thread");
    return program.threads.front();
  };
  const auto& backward = thread_of(program::ThreadRole::kAutograd).commands;
  std::size_t next = 0;
  for (const program::Command& command : thread_of(program::ThreadRole::kMain).commands) {
    look(command);
    const auto* push = std::get_if<program::Push>(&command.action);
    if (!push || program.queues[push->queue].name != "backward to do") continue;
    do look(backward[next]);
    while (!std::holds_alternative<program::Push>(backward[next++].action));
  }
  REQUIRE(next == backward.size());
}

// In that order.
inline std::vector<program::Collective> collectives_of(const program::Program& program,
                                                       int rank = 0) {
  std::vector<program::Collective> found;
  in_order(program, rank, [&](const program::Command& command) {
    if (const auto* one = std::get_if<program::Collective>(&command.action)) found.push_back(*one);
  });
  return found;
}

}  // namespace trainscope::test
