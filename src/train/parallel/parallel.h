// Whether a config trains on several GPUs, and what every program of several ranks has: a
// communicator, as the knobs collective.* tell NCCL, the stream that PyTorch's process group keeps
// for it, and the command that starts its processes.
#pragma once

#include <string>
#include <string_view>

#include "machine/machine.h"
#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// Whether it trains with nn.DataParallel, DistributedDataParallel, FSDP, tensor parallelism or a
// pipeline; the knobs of each mean nothing to another workload.
bool trains_in_parallel(const program::Config& config);
// With a process a rank: all of these but nn.DataParallel.
bool trains_by_processes(const program::Config& config);

// With a stage of the model on each rank.
bool trains_in_stages(const program::Config& config);

// With FSDP's parameters shared by fewer ranks than there are, in groups alike.
bool is_hybrid(const program::Config& config);

// With layers that ranks share out: all of them, or with FSDP those of a group (tensor.degree).
bool cuts_layers(const program::Config& config);

// With tensor parallelism among fewer ranks than there are, and DistributedDataParallel or FSDP
// between them.
bool is_grid(const program::Config& config);

// Of these, with FSDP: what a rank has of a layer is shared with the ranks that have the same.
bool shards_between_groups(const program::Config& config);

// With several pipelines alike, and DistributedDataParallel between them.
bool has_pipelines(const program::Config& config);

// Of so many ranks, those that share FSDP's parameters, those that share a model's layers, or those
// of one pipeline. Throws InputError where groups of them would not be alike.
int shard_degree(const program::Config& config, const machine::Machine& machine, int ranks);
int tensor_degree(const program::Config& config, const machine::Machine& machine, int ranks);
int pipeline_degree(const program::Config& config, const machine::Machine& machine, int ranks);

// The default process group of so many ranks; of those one is simulated, until told otherwise.
program::Communicator& add_communicator(program::Program& program, const program::Config& config,
                                        int ranks);

// Of so many ranks in groups of `degree` neighbours, a group of these and one of the ranks that
// have the same place in each: rank 0's, which stand for those that are alike.
program::Communicator& add_neighbours(program::Program& program, const program::Config& config,
                                      int ranks, int degree);
program::Communicator& add_counterparts(program::Program& program, const program::Config& config,
                                        int ranks, int degree);

// Of a rank, on the GPU of its number, which has so many of them already.
program::Stream nccl_stream(int rank, int others = 0);
// Those of a program of one rank.
int nccl_streams(const program::Program& program);

// The environment in which knobs force NCCL's way: "NCCL_ALGO=Tree "; empty where none does.
std::string nccl_environment(const program::Config& config);

// The command that starts so many ranks of a script in that environment, node after node filled:
// "NCCL_ALGO=Tree torchrun --nproc_per_node=8 train.py".
std::string torchrun(const program::Config& config, int ranks, int gpus_of_node,
                     std::string_view script);

}  // namespace trainscope::train
