#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "machine/power.h"
#include "machine/topology.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/parallel/ranks.h"

namespace trainscope::train {
namespace {

// What the GPUs' lanes carry between them, where nothing else joins them.
void scale_link(machine::GpuLink& link, double share) {
  if (link.kind != machine::LinkKind::kPcie) return;
  link.bytes_per_s *= share;
  link.ring_bytes_per_s *= share;
}

// Rates go with the lanes (PCIe: each lane carries the same), for the file's are those of all of
// them; latencies stay.
void set_lanes(machine::Machine& machine, std::int64_t lanes) {
  machine::Pcie& pcie = machine.pcie;
  const bool slot = lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16;
  if (!slot || lanes > pcie.lanes)
    throw InputError(
        fmt::format("pcie.lanes = {} cannot be: {} has {} lanes; write 1, 2, 4, 8 or "
                    "16 of them",
                    lanes, machine.id, pcie.lanes));
  const double share = static_cast<double>(lanes) / pcie.lanes;
  if (share == 1) return;
  pcie.lanes = static_cast<int>(lanes);
  pcie.h2d_bytes_per_s *= share;
  pcie.d2h_bytes_per_s *= share;
  pcie.both_bytes_per_s *= share;
  scale_link(machine.gpu_link, share);
  machine.name += ", " + counted(static_cast<std::size_t>(lanes), "lane") + " in use";
}

void set_cores(machine::Machine& machine, std::int64_t cores) {
  if (cores > machine.host.cores)
    throw InputError(
        fmt::format("host.cores = {} cannot be: {} has {} cores; write host.cores = {} "
                    "or less, or choose another machine",
                    cores, machine.id, machine.host.cores, machine.host.cores));
  if (cores == machine.host.cores) return;
  machine.host.cores = static_cast<int>(cores);
  machine.name += ", " + counted(static_cast<std::size_t>(cores), "core") + " for this job";
}

// As NCCL_P2P_DISABLE=1 has it (transformers, perf_train_gpu_many.md).
void cut_nvlinks(machine::Machine& machine) {
  machine::GpuLink& link = machine.gpu_link;
  if (!link.is_nvlink())
    throw InputError(machine.id +
                     " has no NVLinks that nvlink = off could cut; leave nvlink out, or choose a "
                     "machine with NVLink");
  link = machine::link_without_nvlinks(machine);
  machine.name += ", NVLink off";
}

// One rank is simulated of several that do the same at once: what they share of a host it has in
// equal parts, of cores also less than one. A shared rate serves each of them as it would among
// all.
void share_host(machine::Machine& machine, std::int64_t world_size) {
  const auto ranks = static_cast<int>(std::min<std::int64_t>(world_size, machine.gpu_count));
  if (ranks <= 1) return;
  machine.host.sharers = ranks;
  machine.host.memory_bytes_per_s /= ranks;
  machine.host.disk_bytes_per_s /= ranks;
}

// Everything takes as long as the recording says: nothing of the machine is asked but that it has
// a core for every thread.
machine::Machine recorded_machine(machine::Machine machine) {
  constexpr int kMostCores = 65'536;  // that a machine's file may have
  machine.id = "recorded";
  machine.name = "the machine of the trace";
  machine.gpu.name = "the GPU of the trace";
  machine.host.cores = kMostCores;
  return machine;
}

}  // namespace

machine::Machine machine_of(const program::Config& config) {
  machine::Machine machine = machine::load_machine(config.word("machine"));
  if (config.word("workload") == "replay") return recorded_machine(std::move(machine));
  if (const std::int64_t lanes = config.whole("pcie.lanes")) set_lanes(machine, lanes);
  if (const std::int64_t cores = config.whole("host.cores")) set_cores(machine, cores);
  if (const double watts = config.number("power_limit"); watts > 0)
    machine::limit_power(machine, watts);
  if (config.word("nvlink") == "off") cut_nvlinks(machine);
  const std::int64_t ranks = config.whole("parallel.world_size");
  // Where every rank is simulated, those of a node share its host as they go.
  if (trains_by_processes(config) && !ranks_differ(config)) share_host(machine, ranks);
  return machine;
}

}  // namespace trainscope::train
