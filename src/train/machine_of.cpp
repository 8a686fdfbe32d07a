#include <fmt/format.h>

#include "base/error.h"
#include "train/build.h"

namespace trainscope::train {
namespace {

// Rates go with the lanes (PCIe: each lane carries the same); latencies stay.
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
  machine.name += fmt::format(", {} lane{} in use", lanes, lanes == 1 ? "" : "s");
}

void set_cores(machine::Machine& machine, std::int64_t cores) {
  if (cores > machine.host.cores)
    throw InputError(fmt::format("host.cores = {} cannot be: {} has {} cores", cores, machine.id,
                                 machine.host.cores));
  if (cores == machine.host.cores) return;
  machine.host.cores = static_cast<int>(cores);
  machine.name += fmt::format(", {} core{} for this job", cores, cores == 1 ? "" : "s");
}

}  // namespace

machine::Machine machine_of(const program::Config& config) {
  machine::Machine machine = machine::load_machine(config.word("machine"));
  if (const std::int64_t lanes = config.whole("pcie.lanes")) set_lanes(machine, lanes);
  if (const std::int64_t cores = config.whole("host.cores")) set_cores(machine, cores);
  return machine;
}

}  // namespace trainscope::train
