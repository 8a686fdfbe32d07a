#include "analysis/caveats/gpu_caveat.h"

#include <fmt/format.h>

#include "program/idle_knobs.h"
#include "train/parallel/parallel.h"
#include "train/settings/precision_settings.h"

namespace trainscope::analysis {
namespace {

bool asks_for_tf32(const program::Config& config) {
  if (config.word("workload") == "gemm") return config.word("gemm.type") == "tf32";
  if (config.word("workload") != "train" || config.word("device") != "cuda") return false;
  return config.flag("matmul.allow_tf32");
}

bool asks_for_flash(const program::Config& config) {
  return config.word("attention.kernel") == "flash" && config.word("device") == "cuda" &&
         program::idle_because(config, "attention.kernel").empty();
}

std::string flash_caveat(const program::Config& config, const machine::Machine& machine) {
  if (!asks_for_flash(config)) return "";
  switch (train::flash_kernel(train::model_types(config, machine).computed, machine.gpu)) {
    case train::FlashKernel::kRuns:
      return "";
    case train::FlashKernel::kNotForType:
      return "PyTorch has no flash kernel for FP32: its memory-efficient one takes the place, "
             "which saves memory, but next to no time";
    case train::FlashKernel::kNotForGpu:
      return "PyTorch has no flash kernel for compute capabilities below 8.0: its "
             "memory-efficient one takes the place, which saves memory, but next to no time";
  }
  return "";
}

bool has_max_pools(const program::Config& config) {
  const std::string& model = config.word("model.name");
  return model == "cnn" || model.starts_with("resnet") || model.starts_with("resnext");
}

// Inductor keeps what eager code keeps, but for this (README.md of train): max pools with offsets
// in their windows (torch/_inductor/decomposition.py).
std::string memory_caveat(const program::Config& config) {
  const bool fuses = config.word("workload") == "train" && config.word("device") == "cuda" &&
                     config.flag("compile.fuse") &&
                     program::idle_because(config, "compile.fuse").empty();
  if (!fuses || !has_max_pools(config)) return "";
  return "Of each number that a max pool gives, eight bytes say here where it came from, as in "
         "eager code: Inductor keeps one, so a compiled model needs less memory";
}

// Where GPUs have nothing but PCIe, what is known of a sum is one measured rate: that of a
// collective which reaches them directly, or not.
bool asks_in_vain_for_no_peers(const program::Config& config, const machine::Machine& machine) {
  const machine::GpuLink& link = machine.gpu_link;
  if (link.kind != machine::LinkKind::kPcie || !link.peer_to_peer || machine.nodes > 1)
    return false;
  const bool asks = !config.flag("collective.p2p") &&
                    program::idle_because(config, "collective.p2p").empty() &&
                    !train::trains_in_stages(config) && !config.flag("collective.expanded");
  // Through the host's memory each byte is written there, and read again.
  return asks && machine.host.memory_bytes_per_s >= 2.0 * machine.gpu_count * link.ring_bytes_per_s;
}

}  // namespace

std::string gpu_caveat(const program::Config& config, const machine::Machine& machine) {
  const std::string& workload = config.word("workload");
  const int gpus = machine.gpu_count * machine.nodes;
  if (workload == "collective" && gpus == 1)
    return "A collective of one rank moves nothing; choose a machine of several GPUs";
  if (asks_in_vain_for_no_peers(config, machine))
    return "collective.p2p changes nothing here: how fast sums are through the host's memory is "
           "not known of these GPUs, and they are timed as measured over PCIe";
  if (asks_for_tf32(config) && machine.gpu.tf32_flops_per_s <= 0)
    return machine.gpu.name +
           " has no units for TF32, which came with compute capability 8.0: it computes in FP32";
  if (const std::string flash = flash_caveat(config, machine); !flash.empty()) return flash;
  if (workload == "kernel" && machine.gpu.l2_bytes_per_s <= 0)
    return "How fast its L2 is, is not known of " + machine.gpu.name +
           ": all traffic is timed as device memory's";
  const bool parallel = train::trains_in_parallel(config) && !config.is_set("parallel.world_size");
  if (parallel && gpus > 1)
    return fmt::format(
        "Only one of the machine's {} GPUs works; set parallel.world_size to {} for all of them",
        gpus, gpus);
  return memory_caveat(config);
}

}  // namespace trainscope::analysis
