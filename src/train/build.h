// Builds programs from configs: what a training job does, and the listing a learner reads.
#pragma once

#include "machine/machine.h"
#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// The program of a config. The machine decides whether the run would be too long to be kept,
// whether a kernel can be launched and the tiles of a matrix product; whether its memory suffices
// shows in the run. Throws InputError for a config that cannot run.
program::Program build_program(const program::Config& config, const machine::Machine& machine);

// Of a pipeline, the program of one rank alone, on the GPU of its number: for a process of its own,
// as only_rank is of other strategies (ranks.h). Its communicators have all their ranks, and those
// of its pipeline are there, too, that it is not in. Of a config that build_program takes.
program::Program build_rank_of_pipeline(const program::Config& config,
                                        const machine::Machine& machine, int rank);

// The machine of a config: as its file says, with what the knobs host.cores and pcie.lanes take
// away from it. Throws InputError.
machine::Machine machine_of(const program::Config& config);

// The workloads, one file each.
program::Program build_copy(const program::Config& config);
program::Program build_launch(const program::Config& config);
program::Program build_kernel(const program::Config& config, const machine::Machine& machine);
program::Program build_gemm(const program::Config& config, const machine::Machine& machine);
program::Program build_collective(const program::Config& config, const machine::Machine& machine);
program::Program build_replay(const program::Config& config);
program::Program build_train(const program::Config& config, const machine::Machine& machine);
program::Program build_train_stages(const program::Config& config, const machine::Machine& machine,
                                    int rank);

}  // namespace trainscope::train
