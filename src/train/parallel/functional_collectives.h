// Collectives as torch.distributed._functional_collectives has them, and with it DTensor: what goes
// in stays as it is, all happens on the process group's stream, and the compute stream waits for it
// (torch/csrc/distributed/c10d/Functional.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "program/program.h"
#include "train/writer.h"

namespace trainscope::train {

// In all of them `to` has memory, and `sequence` is the collective's number.
class FunctionalCollectives {
 public:
  // Of that communicator, on that stream of a program that outlives them.
  FunctionalCollectives(program::Program& program, program::Index communicator,
                        program::Index stream);

  // `to` gets the sums over all ranks of the numbers in `from`: an all-reduce of a copy.
  void sum(ThreadWriter& thread, program::Index from, program::Index to, std::int64_t sequence);
  // The same of the largest of them.
  void maximum(ThreadWriter& thread, program::Index from, program::Index to, std::int64_t sequence);
  // The numbers of all ranks, one's behind another's: an all-gather.
  void gather(ThreadWriter& thread, program::Index from, program::Index to, std::int64_t sequence);
  // Of the sums, cut in as many parts as there are ranks, this one's: a reduce-scatter.
  void scatter(ThreadWriter& thread, program::Index from, program::Index to, std::int64_t sequence);

 private:
  void reduce(ThreadWriter& thread, program::Index from, program::Index to,
              program::Collective all_reduce);
  void collect(ThreadWriter& thread, const program::Collective& collective, std::string_view name);
  program::Index payload_of(program::Index buffer);

  program::Program& program_;
  program::Index communicator_;
  program::Index stream_;
  program::Index done_event_;
  std::map<program::Index, program::Index> payloads_;  // by buffer
};

}  // namespace trainscope::train
