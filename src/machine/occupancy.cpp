#include "machine/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/architecture.h"

namespace trainscope::machine {
namespace {

constexpr int kPartitions = 4;      // of an SM, each with its own registers
constexpr int kRegisterUnit = 256;  // registers are given to a warp in multiples of this

template <class Number>
Number rounded_up(Number value, Number unit) {
  return (value + unit - 1) / unit * unit;
}

[[noreturn]] void refuse(const Gpu& gpu, const std::string& what, const std::string& instead,
                         std::string_view error) {
  throw InputError(fmt::format("{} cannot launch {}; {} ({})", gpu.name, what, instead, error));
}

void check_shape(const Gpu& gpu, const LaunchShape& shape) {
  const auto threads = [&](const char* instead) {
    refuse(gpu,
           fmt::format("a block of {} threads: a block has 1 to {}", shape.threads, kMostThreads),
           instead, "cudaErrorInvalidConfiguration");
  };
  if (shape.threads < 1) threads("give it at least 1");
  if (shape.threads > kMostThreads) threads("give it fewer, and more blocks");
  if (shape.blocks < 1 || shape.blocks > kMostBlocks)
    refuse(gpu, fmt::format("a grid of {} blocks: a grid has 1 to {}", shape.blocks, kMostBlocks),
           shape.blocks < 1 ? "give it at least 1"
                            : "give it fewer: a smaller kernel.grid, batch or model",
           "cudaErrorInvalidConfiguration");
  if (shape.registers < 0 || shape.registers > kMostRegisters)
    refuse(gpu,
           fmt::format("{} registers a thread: a thread has at most {}", shape.registers,
                       kMostRegisters),
           "give it fewer", "cudaErrorInvalidValue");
  if (shape.cluster != 1)
    refuse(gpu,
           fmt::format("clusters of {} blocks here: only single blocks are placed", shape.cluster),
           "give a cluster of 1", "cudaErrorInvalidClusterSize");
  if (shape.static_shared < 0 || shape.dynamic_shared < 0)
    refuse(gpu, "a block of less than no shared memory", "give it 0 or more",
           "cudaErrorInvalidValue");
  if (shape.carve_out < -1 || shape.carve_out > 100)
    refuse(gpu, fmt::format("with a carve-out of {} %", shape.carve_out),
           "give 0 to 100, or -1 for the default", "cudaErrorInvalidValue");
}

// The smallest size that shared memory can be set to and that holds `bytes`.
std::int64_t carve_out_for(const Architecture& architecture, std::int64_t bytes) {
  for (const std::int64_t size : architecture.carve_outs)
    if (bytes <= size) return size;
  return architecture.carve_outs.back();
}

void limit_by_warps(const Gpu& gpu, Occupancy& result) {
  result.most_warps = gpu.threads_per_sm / kWarp;
  result.by_warps = result.most_warps / result.warps_per_block;
}

// A warp's registers all lie in one partition. The hardware checks a launch as if the warps filled
// the partitions evenly.
void limit_by_registers(const Gpu& gpu, int registers, Occupancy& result) {
  const int a_warp = rounded_up(registers * kWarp, kRegisterUnit);
  result.block_registers = std::int64_t{a_warp} * result.warps_per_block;
  const int even_warps = rounded_up(result.warps_per_block, kPartitions);
  if (a_warp == 0) {
    result.by_registers = Occupancy::kNoLimit;
  } else if (std::int64_t{a_warp} * even_warps > gpu.registers_per_sm) {
    result.by_registers = 0;
  } else {
    const int warps = gpu.registers_per_sm / kPartitions / a_warp * kPartitions;
    result.by_registers = warps / result.warps_per_block;
  }
}

void limit_by_shared(const Gpu& gpu, const Architecture& architecture, const LaunchShape& shape,
                     Occupancy& result) {
  const std::int64_t used =
      shape.static_shared + shape.dynamic_shared + architecture.reserved_shared;
  result.block_shared = rounded_up(used, architecture.shared_unit);
  const std::int64_t preferred = shape.carve_out < 0
                                     ? gpu.shared_bytes_per_sm
                                     : shape.carve_out * gpu.shared_bytes_per_sm / 100;
  // A preference that holds not even one block is passed over.
  result.sm_shared = carve_out_for(architecture, std::max(preferred, std::int64_t{0}));
  if (result.sm_shared < result.block_shared)
    result.sm_shared = carve_out_for(architecture, result.block_shared);
  if (result.block_shared > architecture.most_shared + architecture.reserved_shared) {
    result.by_shared = 0;
  } else if (result.block_shared == 0) {
    result.by_shared = Occupancy::kNoLimit;
  } else {
    result.by_shared = static_cast<int>(result.sm_shared / result.block_shared);
  }
}

void name_limiters(Occupancy& result) {
  const auto add = [&](int blocks, Limiter limiter) {
    if (blocks == result.blocks_per_sm) result.limiters.push_back(limiter);
  };
  add(result.by_warps, Limiter::kWarps);
  add(result.by_registers, Limiter::kRegisters);
  add(result.by_shared, Limiter::kSharedMemory);
  add(result.by_blocks, Limiter::kBlocks);
}

}  // namespace

std::string_view name_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::kWarps:
      return "warps";
    case Limiter::kRegisters:
      return "registers";
    case Limiter::kSharedMemory:
      return "shared memory";
    case Limiter::kBlocks:
      return "blocks";
  }
  return "";
}

Occupancy occupancy(const Gpu& gpu, const LaunchShape& shape) {
  const Architecture& architecture = architecture_of(gpu);
  check_shape(gpu, shape);
  Occupancy result;
  result.warps_per_block = (shape.threads + kWarp - 1) / kWarp;
  limit_by_warps(gpu, result);
  limit_by_registers(gpu, shape.registers, result);
  limit_by_shared(gpu, architecture, shape, result);
  result.by_blocks = gpu.blocks_per_sm;
  result.blocks_per_sm =
      std::min({result.by_warps, result.by_registers, result.by_shared, result.by_blocks});
  result.warps_per_sm = result.blocks_per_sm * result.warps_per_block;
  result.theoretical = static_cast<double>(result.warps_per_sm) / result.most_warps;
  name_limiters(result);
  return result;
}

void check_launch(const Gpu& gpu, const LaunchShape& shape) {
  const Occupancy result = occupancy(gpu, shape);
  if (result.blocks_per_sm > 0) return;
  const Architecture& architecture = architecture_of(gpu);
  if (result.by_shared == 0)
    refuse(gpu,
           fmt::format("a block of {} B of shared memory: a block has at most {} B",
                       shape.static_shared + shape.dynamic_shared, architecture.most_shared),
           "give it less", "cudaErrorInvalidValue");
  if (result.by_registers == 0)
    refuse(gpu,
           fmt::format("a block of {} threads with {} registers each: its SMs have {} registers",
                       shape.threads, shape.registers, gpu.registers_per_sm),
           "give it fewer threads or registers", "cudaErrorLaunchOutOfResources");
  refuse(gpu,
         fmt::format("a block of {} threads: its SMs hold {}", shape.threads, gpu.threads_per_sm),
         "give it fewer", "cudaErrorLaunchOutOfResources");
}

std::int64_t blocks_at_once(const Gpu& gpu, const Occupancy& occupancy) {
  return std::int64_t{occupancy.blocks_per_sm} * gpu.sm_count;
}

std::int64_t waves(const Gpu& gpu, const LaunchShape& shape, const Occupancy& occupancy) {
  const std::int64_t at_once = blocks_at_once(gpu, occupancy);
  return at_once == 0 ? 0 : (shape.blocks + at_once - 1) / at_once;
}

}  // namespace trainscope::machine
