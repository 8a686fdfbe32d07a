#include "train/parallel.h"

#include <fmt/format.h>

#include <map>

#include "program/knobs.h"

namespace trainscope::train {

bool trains_in_parallel(const program::Config& config) {
  return config.word("workload") == "train" && config.word("parallel.strategy") != "none";
}

bool trains_by_processes(const program::Config& config) {
  return trains_in_parallel(config) && config.word("parallel.strategy") != "dp";
}

bool trains_in_stages(const program::Config& config) {
  return trains_in_parallel(config) && config.word("parallel.strategy") == "pipeline";
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

program::Stream nccl_stream(int rank) {
  return {"stream 24, NCCL", 24, program::StreamKind::kNonBlocking, 0, rank, rank};
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
