// What every program of several ranks has: a communicator, as the knobs collective.* tell NCCL, and
// the stream that PyTorch's process group keeps for it.
#pragma once

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// The default process group of so many ranks; of those one is simulated, until told otherwise.
program::Communicator& add_communicator(program::Program& program, const program::Config& config,
                                        int ranks);

// Of a rank, on the GPU of its number.
program::Stream nccl_stream(int rank);

}  // namespace trainscope::train
