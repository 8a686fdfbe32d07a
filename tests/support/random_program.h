// Random programs for property tests: several threads, streams, copies of every kind, events,
// graphs, queues, locks and synchronisations, all of which can run to their end.
#pragma once

#include <cstdint>
#include <random>

#include "program/program.h"

namespace trainscope::test {

// Any block that every GPU can launch, of 256 threads.
program::BlockWork random_block_work(const program::Operation& operation, std::mt19937& random);

program::Program random_program(std::uint32_t seed);

}  // namespace trainscope::test
