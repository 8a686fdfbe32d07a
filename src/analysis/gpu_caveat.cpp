#include "analysis/gpu_caveat.h"

#include <fmt/format.h>

#include "train/parallel.h"

namespace trainscope::analysis {

std::string gpu_caveat(const program::Config& config, const machine::Machine& machine) {
  const std::string& workload = config.word("workload");
  const int gpus = machine.gpu_count * machine.nodes;
  if (workload == "collective" && gpus == 1)
    return "A collective of one rank moves nothing; choose a machine of several GPUs";
  const bool parallel = train::trains_in_parallel(config) && !config.is_set("parallel.world_size");
  if (!parallel || gpus == 1) return "";
  return fmt::format(
      "Only one of the machine's {0} GPUs works; set parallel.world_size to {0} for all of them",
      gpus);
}

}  // namespace trainscope::analysis
