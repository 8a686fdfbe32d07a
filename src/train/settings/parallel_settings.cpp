#include "train/settings/parallel_settings.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "machine/topology.h"
#include "train/parallel/interleaved_order.h"
#include "train/parallel/parallel.h"
#include "train/parallel/ranks.h"

namespace trainscope::train {
namespace {

// Each costs what one does. With more, a run is timing only.
constexpr int kMostComputedRanks = 8;

// The slow one is among so many ranks.
void check_straggler(const program::Config& config, int ranks) {
  const std::int64_t slow = config.whole("straggler.rank");
  if (slow >= ranks)
    throw InputError("straggler.rank = " + std::to_string(slow) + " is no rank: there " +
                     (ranks == 1 ? "is 1" : "are " + std::to_string(ranks)) +
                     ", numbered from 0; write at most " + std::to_string(ranks - 1));
}

// Knobs that make one rank different from the others.
void check_odd_rank(const program::Config& config, const TrainSettings& settings) {
  check_straggler(config, settings.ranks);
  if (config.flag("uneven_batches") && (settings.ranks < 2 || settings.steps < 2))
    throw InputError(
        "uneven_batches takes a batch from the last of several ranks; set parallel.world_size = 2 "
        "and steps = 2, or more");
}

// One process, and so the GPUs of one node.
void read_data_parallel(const machine::Machine& machine, std::int64_t asked,
                        TrainSettings& settings) {
  const bool ddp_could = asked <= machine::all_gpus(machine);
  if (asked > machine.gpu_count)
    throw InputError("parallel.world_size = " + std::to_string(asked) +
                     " is more than DataParallel can use: it is one process, and a node of " +
                     machine.id + " has " + std::to_string(machine.gpu_count) +
                     (machine.gpu_count == 1 ? " GPU" : " GPUs") + "; write at most that, or " +
                     (ddp_could ? "parallel.strategy = ddp" : "choose a larger machine"));
  settings.gpus = static_cast<int>(asked);
  settings.all_gpus = asked == machine.gpu_count;
}

// FSDP asks for it by another name.
void check_no_sync(const TrainSettings& settings) {
  if (!settings.no_sync || settings.accumulate > 1) return;
  throw InputError(
      fmt::format("{} leaves out the sums of all batches but the last before an update, and "
                  "accumulate_steps is 1; set accumulate_steps = 4, or {}",
                  settings.fsdp ? "fsdp.gradient_sync = last" : "ddp.no_sync",
                  settings.fsdp ? "fsdp.gradient_sync = each" : "ddp.no_sync = false"));
}

void read_processes(const program::Config& config, const machine::Machine& machine,
                    std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  settings.ranks = static_cast<int>(asked);
  settings.gpus_of_node = machine.gpu_count;
  settings.shard_degree =
      settings.fsdp ? shard_degree(config, machine, settings.ranks) : settings.ranks;
  settings.uneven = config.flag("uneven_batches");
  check_odd_rank(config, settings);
  const bool last = settings.fsdp && config.word("fsdp.gradient_sync") == "last";
  settings.no_sync = last || (settings.ddp && config.flag("ddp.no_sync"));
  check_no_sync(settings);
}

// What ScheduleInterleaved1F1B asks for; and stages that send to one another.
void check_rounds(const TrainSettings& settings, const std::string& ranks) {
  const InterleavedShape shape{settings.pipeline_ranks, settings.stages_per_rank,
                               settings.micro_batches};
  if (shape.ranks < 2)
    throw InputError(
        "pipeline.schedule = interleaved_1f1b is built for stages that go round several GPUs; set "
        "parallel.world_size = 2, or more, or pipeline.schedule = 1f1b");
  if (!shape.rounds_are_equal())
    throw InputError(
        "pipeline.schedule = interleaved_1f1b needs rounds of equally many micro-batches, as "
        "PyTorch's ScheduleInterleaved1F1B does, and pipeline.microbatches = " +
        std::to_string(shape.micro_batches) + " cannot be cut into " +
        std::to_string(shape.rounds()) + "; set it to a multiple of " + ranks + " = " +
        std::to_string(shape.ranks));
}

// How many pipelines, and of how many ranks.
void read_pipelines(const program::Config& config, const machine::Machine& machine, int asked,
                    TrainSettings& settings) {
  settings.pipeline_ranks = pipeline_degree(config, machine, asked);
  settings.ranks = asked / settings.pipeline_ranks;
  settings.ddp = settings.by_process = settings.ranks > 1;
  if (settings.ddp && settings.pipeline_ranks == 1)
    throw InputError(
        "pipeline.degree = 1 is a pipeline of one stage on each rank, which is "
        "DistributedDataParallel; set parallel.strategy = ddp, or pipeline.degree = 2, or more");
}

// One stage of the model on each GPU of a pipeline, or several.
void read_pipeline(const program::Config& config, const machine::Machine& machine,
                   std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  const std::string& schedule = config.word("pipeline.schedule");
  read_pipelines(config, machine, static_cast<int>(asked), settings);
  const std::string ranks = settings.ranks > 1 ? "pipeline.degree" : "parallel.world_size";
  settings.interleaved = schedule == "interleaved_1f1b";
  if (settings.interleaved)
    settings.stages_per_rank = static_cast<int>(config.whole("pipeline.stages_per_rank"));
  settings.gpus_of_node = machine.gpu_count;
  settings.micro_batches = config.whole("pipeline.microbatches");
  settings.zero_first = true;
  settings.evaluates = false;
  if (settings.batch % settings.micro_batches != 0)
    throw InputError(
        "batch_size = " + std::to_string(settings.batch) +
        " cannot be cut into pipeline.microbatches = " + std::to_string(settings.micro_batches) +
        " equal parts; set batch_size to a multiple of it");
  if (schedule == "1f1b" && settings.micro_batches < settings.pipeline_ranks)
    throw InputError(
        "pipeline.schedule = 1f1b needs at least as many micro-batches as there are stages, as "
        "PyTorch's Schedule1F1B does, and pipeline.microbatches = " +
        std::to_string(settings.micro_batches) + " is less than " + ranks + " = " +
        std::to_string(settings.pipeline_ranks) + "; raise it, or set pipeline.schedule = gpipe");
  if (settings.interleaved) check_rounds(settings, ranks);
  check_straggler(config, settings.processes());
  // Each pipeline costs what one does.
  if (settings.ranks > kMostComputedRanks) settings.computes = false;
}

void check_sequence(const program::Config& config, std::int64_t tokens, int ranks) {
  if (tokens == 0)
    throw InputError("tensor.sequence_parallel shares out the tokens of a text, and model.name = " +
                     config.word("model.name") +
                     " reads none; set it back, or choose a transformer");
  if (tokens % ranks != 0)
    throw InputError(
        "tensor.sequence_parallel cannot share out model.seq_len = " + std::to_string(tokens) +
        " tokens to " + (is_grid(config) ? "tensor.degree" : "parallel.world_size") + " = " +
        std::to_string(ranks) + " ranks in equal parts; set a multiple of it");
}

void check_vocabulary(const program::Config& config, std::int64_t tokens) {
  if (tokens > 0) return;
  throw InputError("tensor.loss_parallel shares out the vocabulary of a text, and model.name = " +
                   config.word("model.name") + " reads none; set it back, or choose a transformer");
}

// Ranks that have the same parts of the layers, one of each group.
void read_between_groups(const program::Config& config, TrainSettings& settings) {
  settings.by_process = settings.ranks > 1;
  if (!settings.fsdp) {
    settings.ddp = settings.by_process;
    settings.no_sync = settings.ddp && config.flag("ddp.no_sync");
    return;
  }
  if (settings.ranks == 1)
    throw InputError(
        fmt::format("tensor.degree = {} are all ranks, and FSDP has no others to share parameters "
                    "with; set parallel.strategy = tensor, or tensor.degree to fewer ranks",
                    settings.tensor_ranks));
  settings.shard_degree = settings.ranks;
  settings.no_sync = config.word("fsdp.gradient_sync") == "last";
}

// A part of each layer on each GPU of a group.
void read_tensor_parallel(const program::Config& config, const machine::Machine& machine,
                          std::int64_t asked, TrainSettings& settings) {
  machine::check_ranks(machine, asked, "parallel.world_size");
  settings.tensor_ranks = tensor_degree(config, machine, static_cast<int>(asked));
  settings.ranks = static_cast<int>(asked) / settings.tensor_ranks;
  read_between_groups(config, settings);
  settings.sequence_parallel = config.flag("tensor.sequence_parallel");
  if (settings.sequence_parallel)
    check_sequence(config, settings.data.shape.tokens, settings.tensor_ranks);
  settings.loss_parallel = config.flag("tensor.loss_parallel");
  if (settings.loss_parallel) check_vocabulary(config, settings.data.shape.tokens);
  settings.gpus_of_node = machine.gpu_count;
  settings.evaluates = false;
  check_straggler(config, settings.processes());
  check_no_sync(settings);
}

}  // namespace

void read_parallel(const program::Config& config, const machine::Machine& machine,
                   TrainSettings& settings) {
  const std::string& strategy = config.word("parallel.strategy");
  settings.ddp = strategy == "ddp";
  settings.fsdp = strategy == "fsdp";
  settings.by_process = settings.ddp || settings.fsdp;
  settings.dp = strategy == "dp";
  settings.pipeline = strategy == "pipeline";
  settings.tensor_parallel = cuts_layers(config);
  const std::int64_t asked = config.whole("parallel.world_size");
  if (strategy == "none") {
    if (asked > 1)
      throw InputError("parallel.world_size = " + std::to_string(asked) +
                       " needs parallel.strategy = ddp, fsdp, tensor, pipeline or dp; set one, or "
                       "parallel.world_size = 1");
    return;
  }
  if (settings.on_cpu)
    throw InputError("parallel.strategy = " + strategy +
                     " runs on GPUs, over NCCL; set device = cuda, or parallel.strategy = none");
  if (settings.pipeline) return read_pipeline(config, machine, asked, settings);
  if (settings.tensor_parallel) {
    read_tensor_parallel(config, machine, asked, settings);
  } else if (settings.dp) {
    read_data_parallel(machine, asked, settings);
  } else {
    read_processes(config, machine, asked, settings);
  }
  // Of ranks that differ, no one's commands stand for all.
  if (settings.processes() > kMostComputedRanks || ranks_differ(config))
    settings.computes = settings.evaluates = false;
  if (settings.dp) settings.evaluates = false;
}

}  // namespace trainscope::train
