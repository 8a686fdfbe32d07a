#include "train/parallel/parallel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "program/knobs.h"

namespace trainscope::train {
namespace {

constexpr int kFirstOfNccl = 24;  // stream, as PyTorch gives them out

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t one = 1; one <= number; ++one)
    if (number % one == 0) divisors.push_back(one);
  return divisors;
}

// One rank stands for all: their groups have to be alike.
void check_groups(const machine::Machine& machine, const char* knob, std::int64_t degree,
                  std::int64_t ranks) {
  const std::int64_t node = machine.gpu_count;
  if (degree > ranks)
    throw InputError(
        fmt::format("{} = {} is more than parallel.world_size = {}; write {}, or 0 for all", knob,
                    degree, ranks, ranks));
  if (ranks % degree != 0)
    throw InputError(
        fmt::format("{} = {} does not divide {} ranks into equal groups; write one of {}, or 0 for "
                    "all",
                    knob, degree, ranks, fmt::join(divisors_of(ranks), ", ")));
  if (degree == ranks || ranks <= node) return;
  if (ranks % node != 0)
    throw InputError(fmt::format(
        "{} ranks do not fill their nodes of {} GPUs, and groups of {} = {} would differ; write "
        "parallel.world_size = {}, or {} = 0",
        ranks, node, knob, degree, (ranks + node - 1) / node * node, knob));
  if (node % degree != 0 && degree % node != 0)
    throw InputError(
        fmt::format("{} = {} puts some groups into one node of {} GPUs and others across two; "
                    "write a divisor or a multiple of {}, or 0 for all",
                    knob, degree, node, node));
}

int degree_of(const program::Config& config, const char* knob, const machine::Machine& machine,
              int ranks) {
  const std::int64_t degree = config.whole(knob);
  if (degree == 0) return ranks;
  check_groups(machine, knob, degree, ranks);
  return static_cast<int>(degree);
}

bool has_groups(const program::Config& config, const char* strategy, const char* knob) {
  const std::int64_t degree = config.whole(knob);
  return trains_by_processes(config) && config.word("parallel.strategy") == strategy &&
         degree > 0 && degree != config.whole("parallel.world_size");
}

}  // namespace

bool trains_in_parallel(const program::Config& config) {
  return config.word("workload") == "train" && config.word("parallel.strategy") != "none";
}

bool trains_by_processes(const program::Config& config) {
  return trains_in_parallel(config) && config.word("parallel.strategy") != "dp";
}

bool trains_in_stages(const program::Config& config) {
  return trains_in_parallel(config) && config.word("parallel.strategy") == "pipeline";
}

bool is_hybrid(const program::Config& config) {
  return has_groups(config, "fsdp", "fsdp.shard_degree");
}

bool cuts_layers(const program::Config& config) {
  if (!trains_by_processes(config)) return false;
  const std::string& strategy = config.word("parallel.strategy");
  return strategy == "tensor" || (strategy == "fsdp" && config.whole("tensor.degree") > 1);
}

bool is_grid(const program::Config& config) {
  return has_groups(config, "tensor", "tensor.degree") || shards_between_groups(config);
}

bool shards_between_groups(const program::Config& config) {
  return cuts_layers(config) && has_groups(config, "fsdp", "tensor.degree");
}

bool has_pipelines(const program::Config& config) {
  return has_groups(config, "pipeline", "pipeline.degree");
}

int shard_degree(const program::Config& config, const machine::Machine& machine, int ranks) {
  return degree_of(config, "fsdp.shard_degree", machine, ranks);
}

int tensor_degree(const program::Config& config, const machine::Machine& machine, int ranks) {
  return degree_of(config, "tensor.degree", machine, ranks);
}

int pipeline_degree(const program::Config& config, const machine::Machine& machine, int ranks) {
  return degree_of(config, "pipeline.degree", machine, ranks);
}

program::Communicator& add_communicator(program::Program& program, const program::Config& config,
                                        int ranks) {
  program::Communicator communicator;
  communicator.name = "default process group";
  communicator.ranks = ranks;
  communicator.algorithm = config.word("collective.algorithm");
  communicator.protocol = config.word("collective.protocol");
  communicator.channels = static_cast<int>(config.whole("collective.channels"));
  communicator.peer_to_peer = config.flag("collective.p2p");
  return program.communicators.emplace_back(std::move(communicator));
}

program::Communicator& add_neighbours(program::Program& program, const program::Config& config,
                                      int ranks, int degree) {
  program::Communicator& group = add_communicator(program, config, degree);
  group.groups = ranks / degree;
  group.apart = degree;
  for (int gpu = 0; gpu < degree; ++gpu) group.gpus.push_back(gpu);
  return group;
}

program::Communicator& add_counterparts(program::Program& program, const program::Config& config,
                                        int ranks, int degree) {
  program::Communicator& group = add_communicator(program, config, ranks / degree);
  group.groups = degree;
  group.apart = 1;
  for (int gpu = 0; gpu < ranks; gpu += degree) group.gpus.push_back(gpu);
  return group;
}

int nccl_streams(const program::Program& program) {
  return static_cast<int>(std::ranges::count_if(
      program.streams, [](const program::Stream& one) { return one.number >= kFirstOfNccl; }));
}

program::Stream nccl_stream(int rank, int others) {
  const int number = kFirstOfNccl + 4 * others;
  return {fmt::format("stream {}, NCCL", number),
          number,
          program::StreamKind::kNonBlocking,
          0,
          rank,
          rank};
}

std::string nccl_environment(const program::Config& config) {
  const auto forced = [&](const char* knob, auto names) -> std::string {
    const std::string& word = config.word(knob);
    return word == "auto" ? ""
                          : fmt::format("{}={} ", program::find_knob(knob).pytorch, names.at(word));
  };
  using Names = std::map<std::string, const char*>;
  std::string words =
      forced("collective.algorithm", Names{{"ring", "Ring"}, {"tree", "Tree"}, {"nvls", "NVLS"}}) +
      forced("collective.protocol", Names{{"ll", "LL"}, {"ll128", "LL128"}, {"simple", "Simple"}});
  if (const std::int64_t channels = config.whole("collective.channels"))
    words += fmt::format("NCCL_MAX_NCHANNELS={} ", channels);
  if (!config.flag("collective.p2p") || config.word("nvlink") == "off")
    words += "NCCL_P2P_DISABLE=1 ";
  return words;
}

std::string torchrun(const program::Config& config, int ranks, int gpus_of_node,
                     std::string_view script) {
  const std::string command = nccl_environment(config) + "torchrun";
  if (ranks <= gpus_of_node)
    return fmt::format("{} --nproc_per_node={} {}", command, ranks, script);
  const int nodes = (ranks + gpus_of_node - 1) / gpus_of_node;
  const int last = ranks - (nodes - 1) * gpus_of_node;
  const std::string fewer = last == gpus_of_node ? "" : fmt::format(" ({} on the last)", last);
  return fmt::format(
      "{} --nnodes={} --nproc_per_node={}{} --rdzv_backend=c10d --rdzv_endpoint=node0:29500 {}",
      command, nodes, gpus_of_node, fewer, script);
}

}  // namespace trainscope::train
