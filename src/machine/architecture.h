// What every GPU of one compute capability has in common: how its SMs hand out their resources, and
// how many operations they finish a cycle. What differs from chip to chip stands in machine.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "machine/machine.h"

namespace trainscope::machine {

// The type and the unit of arithmetic: kTensorFp16 and kTensorTf32 run on the tensor cores.
enum class Math : std::uint8_t { kFp32, kFp16, kBf16, kFp64, kTensorFp16, kTensorTf32 };
std::string_view name_of(Math math);  // "FP32", "FP16 on tensor cores"

inline constexpr int kWarp = 32;                         // threads
inline constexpr int kMostThreads = 1024;                // of a block
inline constexpr int kMostRegisters = 255;               // of a thread
inline constexpr std::int64_t kMostBlocks = 0x7fffffff;  // of a grid, in x

struct Architecture {
  int capability = 0;  // 10 x major + minor: 90 for 9.0
  int blocks_per_sm = 0;
  std::int64_t shared_unit = 0;      // shared memory is given to blocks in multiples of this
  std::int64_t reserved_shared = 0;  // that CUDA takes for itself in every block
  std::int64_t most_shared = 0;      // of a block, opted in to
  std::span<const std::int64_t>
      carve_outs;  // sizes that shared memory of an SM can have, ascending
  // Results of additions, multiplications or fused multiply-adds a cycle of one SM.
  int fp32_lanes = 0;
  int fp16_lanes = 0;
  int bf16_lanes = 0;  // where there is no unit for it, FP32's: such code computes in FP32
  int fp64_lanes = 0;
};

// Throws InputError for a GPU whose compute capability is not known here.
const Architecture& architecture_of(const Gpu& gpu);

// Peak of all SMs, in operations a second; nothing where the GPU has no such unit.
std::optional<double> peak_flops_per_s(const Gpu& gpu, Math math);

// Cycles from the issue of an arithmetic instruction to one that needs its result, and from a load
// to its arrival from device memory: 4 and 400 on V100, A100 and H100 (table 3 of
// PMC10448217, Ultrasonics Sonochemistry 99:106546); carried over to the others.
inline constexpr double kArithmeticLatency = 4;
inline constexpr double kMemoryLatency = 400;
inline constexpr double kL2Latency = 200;  // the same from L2, of the same table

// A warp issues to one of these parts of its SM, each with as much of the SM's arithmetic (of all
// capabilities here; cuda_occupancy.h gives warps to 4 of them).
inline constexpr int kSubPartitions = 4;

// Bytes a cycle that L2 sends to one SM at most: assumed, as the power of two above 5120 a cycle to
// the 108 SMs of an A100 (NVIDIA A100 Tensor Core GPU Architecture, L2 cache).
inline constexpr double kSmPort = 64;

}  // namespace trainscope::machine
