#include "sim/cpu_model.h"

#include <algorithm>
#include <cmath>

namespace trainscope::sim {
namespace {

// PyTorch gives a thread at least so many elements (at::internal::GRAIN_SIZE,
// aten/src/ATen/Parallel.h).
constexpr double kGrain = 32768;

// Of a core's peak at its base clock, in a matrix product. Fitted to PyTorch 2.11 on one core of a
// cloud Xeon of 2.0 GHz with AVX-512 (128 GFLOP/s): a step takes an MLP 784-1024-1024-10 with batch
// 128 14.2 ms and one 784-1024-10 with batch 512 18.0 ms, the least of many. Two threads took 0.55
// of it.
constexpr double kGemmEfficiency = 0.75;

double threads_of(const program::Operation& operation, const machine::Host& host) {
  const double tasks = operation.kind == program::OperationKind::kGemm
                           ? static_cast<double>(operation.blocks)
                           : std::ceil(static_cast<double>(operation.m) / kGrain);
  return std::clamp(tasks, 1.0, static_cast<double>(host.cores));
}

}  // namespace

Nanos cpu_time(const program::Operation& operation, const machine::Host& host) {
  const double threads = threads_of(operation, host);
  const bool gemm = operation.kind == program::OperationKind::kGemm;
  const double flops = threads * host.core_flops_per_s * (gemm ? kGemmEfficiency : 1.0);
  // One thread moves as much as it copies: a byte read and a byte written each.
  const double bytes = std::min(threads * 2 * host.memcpy_bytes_per_s, host.memory_bytes_per_s);
  return std::llround(std::max(operation.flops / flops, operation.bytes / bytes) * 1e9);
}

}  // namespace trainscope::sim
