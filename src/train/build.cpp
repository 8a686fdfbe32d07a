#include "train/build.h"

#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "train/kernels/launch_shapes.h"

namespace trainscope::train {
namespace {

// A run is kept whole in memory, about 100 bytes an event.
constexpr std::int64_t kMostEvents = 20'000'000;

std::int64_t transfers_of(const program::Copy& copy, const program::Program& program,
                          std::int64_t chunk) {
  const auto pageable = [&](program::Index buffer) {
    return program.buffers[buffer].kind == program::MemoryKind::kPageable;
  };
  return pageable(copy.from) || pageable(copy.to) ? 2 * (copy.bytes / chunk + 1) : 1;
}

void refuse_what_is_too_long(const program::Program& program, const machine::Machine& machine) {
  std::int64_t events = 0;
  const std::vector<std::int64_t> nodes = program::graph_nodes(program);
  for (const program::Thread& thread : program.threads) {
    for (const program::Command& command : thread.commands) {
      const program::Copy* copy = program::copy_of(command.action);
      const auto* graph = std::get_if<program::GraphLaunch>(&command.action);
      if (graph) events += nodes[graph->graph];
      events += copy ? transfers_of(*copy, program, machine.host.staging_chunk_bytes) : 1;
    }
  }
  if (events > kMostEvents)
    throw InputError("this run would have " + format_count(static_cast<double>(events)) +
                     " events, more than the " + format_count(kMostEvents) +
                     " that are kept; give it fewer steps or copies, or smaller ones");
}

void refuse_no_gpu(const program::Config& config) {
  if (config.word("device") == "cpu" && config.word("workload") != "train")
    throw InputError("device = cpu is for training, and workload = " + config.word("workload") +
                     " is of a GPU; leave device out");
}

}  // namespace

program::Program build_program(const program::Config& config, const machine::Machine& machine) {
  const std::string& workload = config.word("workload");
  refuse_no_gpu(config);
  program::Program program = workload == "copy"         ? build_copy(config)
                             : workload == "launch"     ? build_launch(config)
                             : workload == "kernel"     ? build_kernel(config, machine)
                             : workload == "gemm"       ? build_gemm(config, machine)
                             : workload == "collective" ? build_collective(config, machine)
                             : workload == "replay"     ? build_replay(config)
                                                        : build_train(config, machine);
  if (workload == "train") shape_launches(program, machine.gpu);
  refuse_what_is_too_long(program, machine);
  program::validate(program);
  return program;
}

// It is no longer than the whole.
program::Program build_rank_of_pipeline(const program::Config& config,
                                        const machine::Machine& machine, int rank) {
  program::Program program = build_train_stages(config, machine, rank);
  shape_launches(program, machine.gpu);
  program::validate(program);
  return program;
}

}  // namespace trainscope::train
