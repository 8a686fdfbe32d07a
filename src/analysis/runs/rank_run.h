// A run that several processes carry out, each one rank on a GPU of its own: started by torchrun or
// Slurm, joined by NCCL, and at the end one run with the traces of all.
#pragma once

#include <optional>
#include <string>

#include "analysis/runs/run.h"
#include "cuda/device_calls.h"
#include "cuda/process_place.h"
#include "cuda/store.h"

namespace trainscope::analysis {

// The config as these processes carry it out: parallel.world_size is their number. Throws
// InputError for one that does not train by processes, has another world size, ranks that differ,
// or groups of them that are not alike. Before anyone waits for another: each process finds the
// same fault by itself.
program::Config config_of_ranks(program::Config config, const cuda::ProcessPlace& place);

struct RankRun {
  std::optional<Run> run;    // on rank 0; its trace has every rank's, on rank 0's clock
  bool ended_early = false;  // on every rank: no other run can follow
};

// All processes call it with the same config, of config_of_ranks. A rank that fails, or whose
// process ends, ends the run, by name; what was measured before is in it. `store` is used under
// keys that begin with `label`. Throws MissingError where NCCL does not start, Error where a rank
// does not come.
RankRun rank_run(const std::string& label, const program::Config& config, cuda::DeviceCalls& device,
                 const cuda::ProcessPlace& place, cuda::Store& store);

}  // namespace trainscope::analysis
