#include "sim/block_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "machine/architecture.h"
#include "machine/roofline.h"
#include "sim/kernel_model.h"

namespace trainscope::sim {
namespace {

using machine::Math;

constexpr double kMostWork = 0x1p62;
constexpr double kLoadBytes = 4;  // of one load of one thread: a float

std::int64_t units(double nanos, std::int64_t rate, const program::Operation& operation) {
  const double work = std::ceil(nanos * static_cast<double>(rate));
  if (!(work < kMostWork))
    throw InputError(
        fmt::format("a block of {} would take {:.2g} s; give it less arithmetic or memory traffic",
                    operation.kernel, nanos / 1e9));
  return static_cast<std::int64_t>(work);
}

// At least 1, at most all of it.
std::int64_t limit(double share, std::int64_t rate) {
  return std::clamp<std::int64_t>(std::llround(std::min(share, 1.0) * static_cast<double>(rate)), 1,
                                  rate);
}

// Additions and multiplications of one arithmetic instruction of a warp: a multiply-add of each
// thread, of two numbers in 16-bit types.
double operations_of_instruction(Math math, const machine::Gpu& gpu) {
  const bool in_pairs =
      math == Math::kFp16 || (math == Math::kBf16 && gpu.compute_capability >= 8.0);
  return machine::kWarp * (in_pairs ? 4.0 : 2.0);
}

// Memory as the blocks see it: what L2 holds comes from there, the rest from device memory, both
// at once.
struct MemoryPath {
  double bytes_per_ns = 0;
  double latency = 0;  // cycles, on average
};

MemoryPath memory_path(double hits, const machine::Gpu& gpu) {
  const double reached = gpu.memory_efficiency * 1e-9;
  const double device = (1 - hits) / (gpu.memory_bytes_per_s * reached);
  const double l2 = gpu.l2_bytes_per_s > 0 ? 1 / (gpu.l2_bytes_per_s * reached) : 0;
  return {1 / std::max(device, l2),
          hits * machine::kL2Latency + (1 - hits) * machine::kMemoryLatency};
}

// The resources that a block takes.
BlockCost resources(const machine::Gpu& gpu, const machine::LaunchShape& shape) {
  machine::check_launch(gpu, shape);
  const machine::Occupancy occupancy = machine::occupancy(gpu, shape);
  BlockCost cost;
  cost.warps = occupancy.warps_per_block;
  cost.registers = occupancy.block_registers;
  cost.shared_bytes = occupancy.block_shared;
  cost.per_sm = occupancy.blocks_per_sm;
  cost.sm_shared_bytes = occupancy.sm_shared;
  return cost;
}

// Threads that a block's warps have room for, to those that it has: a warp with one thread takes as
// long as a full one.
double lanes(const BlockCost& cost, const program::Operation& operation) {
  return static_cast<double>(cost.warps) * machine::kWarp / operation.threads;
}

// Of all memory's rate a block gets at most its part of its SM's port.
double port_share(const BlockCost& cost, std::int64_t blocks, const MemoryPath& memory,
                  const machine::Gpu& gpu) {
  const std::int64_t on_an_sm = (blocks + gpu.sm_count - 1) / gpu.sm_count;
  const auto beside = static_cast<double>(std::min<std::int64_t>(on_an_sm, cost.per_sm));
  return machine::kSmPort * gpu.boost_clock_hz * 1e-9 / memory.bytes_per_ns / beside;
}

// The SMs with the most blocks have `most` one after another and beside each other, and are at work
// all the time. Rounded down, so that what is left of the length is the kernel's shortest time.
void give_length(BlockCost& cost, Nanos length, std::int64_t most,
                 const program::Operation& operation) {
  const std::int64_t beside = std::min<std::int64_t>(most, cost.per_sm);
  const auto wave =
      static_cast<double>(length) * static_cast<double>(beside) / static_cast<double>(most);
  cost.arithmetic = units(std::floor(wave), kArithmeticRate / beside, operation);
}

}  // namespace

machine::LaunchShape launch_shape(const program::Operation& operation, const machine::Gpu& gpu) {
  const program::BlockWork work = block_work(operation, gpu);
  machine::LaunchShape shape;
  shape.blocks = grid_blocks(operation, gpu);
  shape.threads = operation.threads;
  shape.registers = work.registers;
  shape.dynamic_shared = work.shared_bytes;
  return shape;
}

BlockCost block_cost(const program::Operation& operation, const machine::Gpu& gpu,
                     std::optional<double> l2_hits) {
  const machine::LaunchShape shape = launch_shape(operation, gpu);
  BlockCost cost = resources(gpu, shape);
  if (operation.kind == program::OperationKind::kOpaque) {
    const std::int64_t most = (shape.blocks + gpu.sm_count - 1) / gpu.sm_count;
    give_length(cost, operation.opaque_duration, most, operation);
    return cost;
  }
  const program::BlockWork work = block_work(operation, gpu);
  const auto peak = machine::peak_flops_per_s(gpu, work.math);
  if (!peak)
    throw InputError(fmt::format("{} has no unit for {}; choose another type", gpu.name,
                                 machine::name_of(work.math)));
  const double cycle_ns = 1e9 / gpu.boost_clock_hz;
  const double sm_flops_per_ns = *peak * work.efficiency / gpu.sm_count * 1e-9;
  const MemoryPath memory =
      memory_path(l2_hits.value_or(machine::l2_hits(gpu, work.footprint)), gpu);
  const double threads_worth = work.flops * lanes(cost, operation);
  cost.arithmetic = units(threads_worth / sm_flops_per_ns, kArithmeticRate, operation);
  cost.memory = units(work.bytes / memory.bytes_per_ns, kMemoryRate, operation);
  double arithmetic_share = static_cast<double>(cost.warps) / machine::kSubPartitions;
  double memory_share = port_share(cost, shape.blocks, memory, gpu);
  if (work.ilp > 0) {
    const double flops_per_ns = cost.warps * work.ilp * operations_of_instruction(work.math, gpu) /
                                (machine::kArithmeticLatency * cycle_ns);
    arithmetic_share = std::min(arithmetic_share, flops_per_ns / sm_flops_per_ns);
    const double in_flight = operation.threads * work.ilp * kLoadBytes;
    memory_share =
        std::min(memory_share, in_flight / (memory.latency * cycle_ns) / memory.bytes_per_ns);
  }
  cost.arithmetic_limit = limit(arithmetic_share, kArithmeticRate);
  cost.memory_limit = limit(memory_share, kMemoryRate);
  return cost;
}

machine::KernelWork work_in_flight(const program::Operation& operation, const machine::Gpu& gpu) {
  machine::KernelWork work = kernel_work(operation, gpu);
  if (!operation.block_work || operation.block_work->ilp <= 0) return work;
  const machine::Occupancy occupancy = machine::occupancy(gpu, launch_shape(operation, gpu));
  const double blocks = static_cast<double>(occupancy.blocks_per_sm) * gpu.sm_count;
  const double instructions = blocks * operation.threads * operation.block_work->ilp;
  work.bytes_in_flight = instructions * kLoadBytes;
  work.flops_in_flight = instructions * operations_of_instruction(work.math, gpu) / machine::kWarp;
  return work;
}

BlockCost slowed(BlockCost cost, double slowness) {
  const auto longer = [&](std::int64_t work) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(work) * slowness));
  };
  cost.arithmetic = longer(cost.arithmetic);
  cost.memory = longer(cost.memory);
  return cost;
}

}  // namespace trainscope::sim
