#include "machine/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace trainscope::machine {
namespace {

constexpr std::int64_t kKiB = 1024;

constexpr std::array<std::int64_t, 6> kVolta{0,         8 * kKiB,  16 * kKiB,
                                             32 * kKiB, 64 * kKiB, 96 * kKiB};
constexpr std::array<std::int64_t, 2> kTuring{32 * kKiB, 64 * kKiB};
constexpr std::array<std::int64_t, 8> kLargeAmpere{0,         8 * kKiB,   16 * kKiB,  32 * kKiB,
                                                   64 * kKiB, 100 * kKiB, 132 * kKiB, 164 * kKiB};
constexpr std::array<std::int64_t, 6> kSmall{0,         8 * kKiB,  16 * kKiB,
                                             32 * kKiB, 64 * kKiB, 100 * kKiB};
constexpr std::array<std::int64_t, 10> kHopper{0,          8 * kKiB,   16 * kKiB,  32 * kKiB,
                                               64 * kKiB,  100 * kKiB, 132 * kKiB, 164 * kKiB,
                                               196 * kKiB, 228 * kKiB};

// Allocation as in cuda_occupancy.h of CUDA 13.0. Lanes of 7.0, 7.5: CUDA C++ programming guide,
// throughput of native arithmetic instructions. From 8.0 on they follow from the peaks outside the
// tensor cores that NVIDIA's whitepapers give beside FP32's: A100 78 TFLOP/s in FP16, 39 in BF16,
// 9.7 in FP64, of 19.5; H100 twice FP32 in both 16-bit types, half in FP64; GA10x, AD10x and GB20x
// as FP32 in both, two FP64 units an SM. Measured on A100 and RTX 3090 alike (Accel-Sim's
// microbenchmarks). B200: published tables of 150 TFLOP/s in FP16 and BF16 and 37.5 in FP64, of 75.
const std::array kArchitectures{
    Architecture{70, 32, 256, 0, 96 * kKiB, kVolta, 64, 128, 64, 32},
    Architecture{75, 16, 256, 0, 64 * kKiB, kTuring, 64, 128, 64, 2},
    Architecture{80, 32, 128, kKiB, 163 * kKiB, kLargeAmpere, 64, 256, 128, 32},
    Architecture{86, 16, 128, kKiB, 99 * kKiB, kSmall, 128, 128, 128, 2},
    Architecture{89, 24, 128, kKiB, 99 * kKiB, kSmall, 128, 128, 128, 2},
    Architecture{90, 32, 128, kKiB, 227 * kKiB, kHopper, 128, 256, 256, 64},
    Architecture{100, 32, 128, kKiB, 227 * kKiB, kHopper, 128, 256, 256, 64},
    Architecture{120, 24, 128, kKiB, 99 * kKiB, kSmall, 128, 128, 128, 2},
};

double in_lanes(const Gpu& gpu, int lanes) {
  return gpu.fp32_flops_per_s * lanes / architecture_of(gpu).fp32_lanes;
}

}  // namespace

std::string_view name_of(Math math) {
  switch (math) {
    case Math::kFp32:
      return "FP32";
    case Math::kFp16:
      return "FP16";
    case Math::kBf16:
      return "BF16";
    case Math::kFp64:
      return "FP64";
    case Math::kTensorFp16:
      return "FP16 on tensor cores";
    case Math::kTensorTf32:
      return "TF32 on tensor cores";
  }
  return "";
}

const Architecture& architecture_of(const Gpu& gpu) {
  const auto capability = std::lround(gpu.compute_capability * 10);
  const auto found =
      std::find_if(kArchitectures.begin(), kArchitectures.end(),
                   [&](const Architecture& one) { return one.capability == capability; });
  if (found == kArchitectures.end())
    throw InputError(fmt::format(
        "{} has compute capability {}, whose SMs are not described; blocks can be placed on 7.0, "
        "7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0",
        gpu.name, gpu.compute_capability));
  return *found;
}

std::optional<double> peak_flops_per_s(const Gpu& gpu, Math math) {
  switch (math) {
    case Math::kFp32:
      return gpu.fp32_flops_per_s;
    case Math::kFp16:
      return in_lanes(gpu, architecture_of(gpu).fp16_lanes);
    case Math::kBf16:
      return in_lanes(gpu, architecture_of(gpu).bf16_lanes);
    case Math::kFp64:
      return in_lanes(gpu, architecture_of(gpu).fp64_lanes);
    case Math::kTensorFp16:
      return gpu.fp16_flops_per_s;
    case Math::kTensorTf32:
      if (gpu.tf32_flops_per_s > 0) return gpu.tf32_flops_per_s;
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainscope::machine
