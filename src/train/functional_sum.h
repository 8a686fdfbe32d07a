// An all-reduce as torch.distributed._functional_collectives has it, and with it DTensor: of a
// copy, on the process group's stream; the compute stream waits for it
// (torch/csrc/distributed/c10d/Functional.cpp).
#pragma once

#include <cstdint>
#include <map>

#include "program/program.h"
#include "train/writer.h"

namespace trainscope::train {

class FunctionalSum {
 public:
  // Of that communicator, on that stream of a program that outlives it.
  FunctionalSum(program::Program& program, program::Index communicator, program::Index stream);

  // `to`, which has memory, gets the sums over all ranks of the numbers in `from`; `sequence` is
  // the collective's number.
  void operator()(ThreadWriter& thread, program::Index from, program::Index to,
                  std::int64_t sequence);

 private:
  program::Index payload_of(program::Index buffer);

  program::Program& program_;
  program::Index communicator_;
  program::Index stream_;
  program::Index summed_event_;
  std::map<program::Index, program::Index> payloads_;  // by buffer
};

}  // namespace trainscope::train
