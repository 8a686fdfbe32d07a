// Which of several processes this one is, as who started it says in the environment.
//
// torchrun: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE (may be missing), MASTER_ADDR and
// MASTER_PORT (https://docs.pytorch.org/docs/stable/elastic/run.html, "Environment Variables").
// Where TORCHELASTIC_USE_AGENT_STORE is "True" torchrun's agent itself listens at MASTER_PORT
// (torch/distributed/rendezvous.py, _create_c10d_store), so the port is MASTER_PORT + 1.
//
// Slurm: SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and a list of nodes, whose first is the master
// (https://slurm.schedmd.com/srun.html, "Output environment variables"): SLURM_STEP_NODELIST, else
// SLURM_NODELIST, else SLURM_JOB_NODELIST. MASTER_ADDR and MASTER_PORT go before it. Without
// MASTER_PORT it is 15000 + SLURM_JOB_ID % 10000, as in Lightning, which adds the last four digits
// (https://lightning.ai/docs/fabric/stable/_modules/lightning/fabric/plugins/environments/slurm.html).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope::cuda {

struct ProcessPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;  // among those of its node: which GPU is its own
  std::string master;  // where rank 0 is
  int port = 0;        // where its store listens; 0 for a single task of Slurm: any that is free
  std::string node;    // what this machine is called; empty: not told
};

// All but the node. `look_up` gives a variable's value or null, as std::getenv. torchrun's words go
// before Slurm's. Nothing: it was started alone, without RANK and SLURM_PROCID, or as a batch
// script of Slurm's without --ntasks (SLURM_PROCID is 0, SLURM_NTASKS is missing). A single task of
// Slurm's (srun --pty bash) is a place of one, whatever else is set. Throws InputError naming the
// variable that is missing, not a number, out of range, or a list of nodes that cannot be read.
std::optional<ProcessPlace> process_place(const std::function<const char*(const char*)>& look_up);

// The first host of Slurm's list: "node[01-03,7],gpu5" is node01
// (https://slurm.schedmd.com/scontrol.html, "show hostnames"; slurm_hostlist_create(3)). Nothing
// where it cannot be read.
std::optional<std::string> first_host(std::string_view list);

}  // namespace trainscope::cuda
