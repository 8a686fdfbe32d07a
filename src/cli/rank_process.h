// `trainscope run` as one of several processes, each with one rank on a GPU of its own, as torchrun
// or Slurm start them: `torchrun --no-python --nproc-per-node 4 trainscope run …`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/opened.h"
#include "cli/sides.h"
#include "cuda/process_place.h"

namespace trainscope::cli {

// Nothing: this process was started alone. Throws InputError for a starter that says half of it.
std::optional<cuda::ProcessPlace> place_among_processes();

// The GPU that a process is to see, as CUDA_VISIBLE_DEVICES has it: of those that it names now the
// one of the local rank; the only one, where the starter has chosen already. Throws InputError
// where there are fewer than the local ranks.
std::string visible_gpu(int local_rank, const char* visible);

struct RunsOfRanks {
  std::vector<RunPointer> runs;  // on rank 0
  bool ended_early = false;      // one of them did, on every rank
};

// Carries all sides out, one after another; their configs are analysis::config_of_ranks'. Throws
// what analysis::rank_run throws, and what opening the device does.
RunsOfRanks measure_among(const cuda::ProcessPlace& place, const Request& request);

}  // namespace trainscope::cli
