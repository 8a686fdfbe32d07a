// The roofline against NVIDIA's GPU performance background guide, and what must hold on any GPU.
#include "machine/roofline.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "machine/gemm_tiles.h"
#include "machine/shipped_gpus.h"

using namespace trainscope;
using namespace trainscope::machine;

namespace {

Gpu gpu_of(const char* machine) {
  return load_machine(machine).gpu;
}

// The ridge on the slope of L2, whose bandwidth is known.
double l2_ridge(const Gpu& gpu, Math math) {
  return *peak_flops_per_s(gpu, math) / gpu.l2_bytes_per_s;
}

// Of C[m,n] = A[m,k] B[k,n] in FP16, each matrix moved once.
double gemm_intensity(double m, double n, double k) {
  return 2 * m * n * k / (2 * (m * k + k * n + m * n));
}

}  // namespace

TEST_CASE("arithmetic intensities are those of the background guide") {
  // A linear layer of 1,024 inputs and 4,096 outputs in FP16, by its batch.
  CHECK(std::lround(gemm_intensity(512, 4096, 1024)) == 315);
  CHECK(std::lround(gemm_intensity(1, 4096, 1024)) == 1);
  CHECK(gemm_intensity(8192, 8192, 128) == Approx(124.1).epsilon(0.001));
  // ReLU: an operation for two bytes read and two written.
  CHECK(KernelWork{.flops = 1000, .bytes = 4000}.intensity() == 0.25);
  const GemmPlan plan = plan_product(gpu_of("v100-sxm-1"), 512, 4096, 1024, GemmType::kFp16);
  CHECK(plan.flops / plan.bytes == gemm_intensity(512, 4096, 1024));
}

TEST_CASE("a V100 balances 139 operations a byte of device memory, and 40 of L2") {
  const Gpu gpu = gpu_of("v100-sxm-1");
  CHECK(std::lround(*ridge(gpu, Math::kTensorFp16)) == 139);
  CHECK(std::lround(l2_ridge(gpu, Math::kTensorFp16)) == 40);
  CHECK_FALSE(ridge(gpu, Math::kTensorTf32));
}

TEST_CASE("the ridge of a narrower type lies further right, and L2's further left") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    INFO(gpu.id);
    CHECK(*ridge(gpu, Math::kTensorFp16) > *ridge(gpu, Math::kFp32));
    CHECK(*ridge(gpu, Math::kFp64) < *ridge(gpu, Math::kFp32));
    if (gpu.l2_bytes_per_s > 0) CHECK(l2_ridge(gpu, Math::kFp32) < *ridge(gpu, Math::kFp32));
  }
}

TEST_CASE("units outside the tensor cores reach what NVIDIA's whitepapers give") {
  const Gpu a100 = gpu_of("a100-sxm-1");
  CHECK(*peak_flops_per_s(a100, Math::kFp16) == Approx(78e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(a100, Math::kBf16) == Approx(39e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(a100, Math::kFp64) == Approx(9.7e12).epsilon(0.01));
  const Gpu h100 = gpu_of("h100-sxm-1");
  CHECK(*peak_flops_per_s(h100, Math::kFp16) == Approx(133.8e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(h100, Math::kBf16) == Approx(133.8e12).epsilon(0.01));
  const Gpu rtx4090 = gpu_of("rtx4090-1");
  CHECK(*peak_flops_per_s(rtx4090, Math::kFp16) == Approx(82.6e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(rtx4090, Math::kBf16) == Approx(82.6e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(rtx4090, Math::kFp64) == Approx(1.29e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(gpu_of("rtx5090-1"), Math::kFp64) == Approx(1.64e12).epsilon(0.01));
  const Gpu v100 = gpu_of("v100-sxm-1");
  CHECK(*peak_flops_per_s(v100, Math::kBf16) == v100.fp32_flops_per_s);
}

TEST_CASE("L2 serves what fits it, and ever less of what does not") {
  Gpu gpu = gpu_of("a100-sxm-1");
  const auto l2 = static_cast<double>(gpu.l2_bytes);
  CHECK(l2_hits(gpu, 1) == 1);
  CHECK(l2_hits(gpu, l2) == 1);
  double last = 1;
  for (double times = 1.01; times < 20; times *= 1.07) {
    const double hits = l2_hits(gpu, times * l2);
    INFO(times);
    CHECK(hits < last);
    CHECK(hits == Approx(std::exp(-times * (1 - hits))).epsilon(1e-6));
    last = hits;
  }
  CHECK(last < 1e-6);
  CHECK(l2_hits(gpu, 0) == 0);
  gpu.l2_bytes_per_s = 0;
  CHECK(l2_hits(gpu, 1) == 0);
}

TEST_CASE("a kernel is bound by what takes longest, and by overhead where nothing takes half") {
  const Gpu gpu = gpu_of("a100-sxm-1");
  const auto peak = *peak_flops_per_s(gpu, Math::kFp32);
  const double rate = gpu.memory_bytes_per_s * gpu.memory_efficiency;
  const KernelWork computes{
      .flops = peak * 1e-6, .bytes = rate * 1e-7, .device_bytes = rate * 1e-7};
  CHECK(regime(gpu, computes, 1000).bound == Bound::kCompute);
  CHECK(regime(gpu, computes, 1000).arithmetic == Approx(1));
  CHECK(regime(gpu, computes, 1000).memory == Approx(0.1));
  CHECK(regime(gpu, computes, 2100).bound == Bound::kOverhead);
  const KernelWork moves{.flops = peak * 1e-7, .bytes = rate * 1e-6, .device_bytes = rate * 1e-6};
  CHECK(regime(gpu, moves, 1500).bound == Bound::kMemory);
  CHECK(regime(gpu, {}, 1000).bound == Bound::kOverhead);
  CHECK(regime(gpu, moves, 0).bound == Bound::kOverhead);
}

TEST_CASE("a kernel is bound by latency where what is in flight leaves every resource idle") {
  const machine::Gpu gpu = machine::load_machine("a100-sxm-1").gpu;
  machine::KernelWork moves;
  moves.bytes = moves.device_bytes = 1e9;
  // At half of what bandwidth times latency is, Little's law gives half of the bandwidth.
  const double reached = gpu.memory_bytes_per_s * gpu.memory_efficiency;
  const double latency = machine::kMemoryLatency / gpu.boost_clock_hz;
  moves.bytes_in_flight = 0.5 * reached * latency;
  const double nanos = 2 * moves.bytes / reached * 1e9;
  const machine::Regime half = machine::regime(gpu, moves, nanos);
  CHECK(half.latency == Approx(1));
  CHECK(half.memory == Approx(0.5));
  CHECK(half.bound == Bound::kLatency);
  moves.bytes_in_flight *= 1.7;  // 0.85 of what memory could do
  CHECK(machine::regime(gpu, moves, nanos / 1.7).bound == Bound::kMemory);
  CHECK(machine::regime(gpu, moves, 10 * nanos).bound == Bound::kOverhead);
}
