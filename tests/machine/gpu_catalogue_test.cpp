// What the shipped GPUs must be: as their makers say, and consistent with one another.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "machine/machine.h"
#include "machine/shipped_gpus.h"

using namespace trainscope;
using namespace trainscope::machine;

namespace {

// Arithmetic in one clock cycle of one SM, from NVIDIA's whitepapers.
struct PerCycle {
  double fp32;
  double fp16;  // on the tensor cores, dense, FP32 accumulation
};

PerCycle per_cycle(const Gpu& gpu) {
  const bool geforce = gpu.name.find("GeForce") != std::string::npos;
  static const std::map<double, PerCycle> table{
      {7.0, {128, 1024}}, {7.5, {128, 1024}}, {8.0, {128, 2048}},  {8.6, {256, 1024}},
      {8.9, {256, 1024}}, {9.0, {256, 4096}}, {10.0, {256, 8192}}, {12.0, {256, 1024}}};
  PerCycle found = table.at(gpu.compute_capability);
  if (geforce) found.fp16 /= 2;
  return found;
}

// The clocks that the peaks of a data sheet imply, where that is not the boost clock.
struct ImpliedClocks {
  double fp32_hz;
  double tf32_hz;
  double fp16_hz;
};

ImpliedClocks implied_clocks(const Gpu& gpu) {
  const double boost = gpu.boost_clock_hz;
  static const std::map<std::string, double> tensor_hz{
      {"h100-sxm", 1.829e9}, {"h200", 1.829e9}, {"h100-pcie", 1.619e9}, {"b200", 1.856e9}};
  ImpliedClocks clocks{boost, boost, boost};
  if (const auto found = tensor_hz.find(gpu.id); found != tensor_hz.end())
    clocks.tf32_hz = clocks.fp16_hz = found->second;
  if (gpu.id == "l40s") clocks.fp16_hz = 2.490e9;  // not its TF32
  if (gpu.id == "b200") clocks.fp32_hz = 2.111e9;
  return clocks;
}

}  // namespace

TEST_CASE("a peak is SMs times arithmetic a cycle times the clock") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const PerCycle cycle = per_cycle(gpu);
    const ImpliedClocks clocks = implied_clocks(gpu);
    const double fp16_per_hz = gpu.sm_count * cycle.fp16;
    CHECK(gpu.fp32_flops_per_s == Approx(gpu.sm_count * cycle.fp32 * clocks.fp32_hz).epsilon(0.01));
    CHECK(gpu.fp16_flops_per_s == Approx(fp16_per_hz * clocks.fp16_hz).epsilon(0.01));
    if (gpu.tf32_flops_per_s > 0)
      CHECK(gpu.tf32_flops_per_s == Approx(fp16_per_hz / 2 * clocks.tf32_hz).epsilon(0.01));
  }
}

TEST_CASE("the exceptions to the peaks are exceptions") {
  std::set<std::string> found;
  for (const Gpu& gpu : test::shipped_gpus()) {
    const ImpliedClocks clocks = implied_clocks(gpu);
    for (const double hz : {clocks.fp32_hz, clocks.tf32_hz, clocks.fp16_hz})
      if (std::abs(hz / gpu.boost_clock_hz - 1) > 0.01) found.insert(gpu.id);
  }
  // Published for all five: on an H200 it is that of the H100 SXM, whose chip it is.
  CHECK(found == std::set<std::string>{"b200", "h100-pcie", "h100-sxm", "h200", "l40s"});
  CHECK(test::shipped_gpus().size() == 25);
}

TEST_CASE("a GPU computes faster in fewer bits") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    CHECK(gpu.fp16_flops_per_s > gpu.fp32_flops_per_s);
    CHECK((gpu.tf32_flops_per_s > 0) == (gpu.compute_capability >= 8.0));
    if (gpu.tf32_flops_per_s == 0) continue;
    CHECK(gpu.tf32_flops_per_s > 0.97 * gpu.fp32_flops_per_s);  // a GeForce: the same
    CHECK(gpu.tf32_flops_per_s < gpu.fp16_flops_per_s);
  }
}

TEST_CASE("the SM of a compute capability is the same on all its GPUs") {
  struct Sm {
    int threads, blocks;
    std::int64_t shared_kib;
  };
  const std::map<double, Sm> table{{7.0, {2048, 32, 96}},   {7.5, {1024, 16, 64}},
                                   {8.0, {2048, 32, 164}},  {8.6, {1536, 16, 100}},
                                   {8.9, {1536, 24, 100}},  {9.0, {2048, 32, 228}},
                                   {10.0, {2048, 32, 228}}, {12.0, {1536, 24, 100}}};
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const Sm sm = table.at(gpu.compute_capability);
    CHECK(gpu.threads_per_sm == sm.threads);
    CHECK(gpu.blocks_per_sm == sm.blocks);
    CHECK(gpu.shared_bytes_per_sm == sm.shared_kib * 1024);
    CHECK(gpu.registers_per_sm == 65'536);
  }
}

TEST_CASE("a GPU is as its published data have it") {
  struct Row {
    const char* id;
    int sm, l2_mib, mhz;
    double fp32, tf32, fp16, memory_gb_per_s;
    int copy_engines;
  };
  // deviceQuery output and data sheets. L2 of the H200 and the B200: as the devices say it; the
  // copy engines of a GPU that nobody published are those of its sister.
  for (const Row& row : {Row{"t4", 40, 4, 1590, 8.1, 0, 65, 320, 3},
                         Row{"v100-sxm2-32", 80, 6, 1530, 15.7, 0, 125, 900, 6},
                         Row{"rtx3090", 82, 6, 1695, 35.6, 35.6, 71, 936, 2},
                         Row{"l4", 58, 48, 2040, 30.3, 60, 121, 300, 2},
                         Row{"rtx4090", 128, 72, 2520, 82.6, 82.6, 165, 1008, 2},
                         Row{"l40s", 142, 96, 2520, 91.6, 183, 362, 864, 2},
                         Row{"rtx6000-ada", 142, 96, 2505, 91.1, 182, 364, 960, 2},
                         Row{"a100-sxm-40", 108, 40, 1410, 19.5, 156, 312, 1555, 3},
                         Row{"a100-sxm-80", 108, 40, 1410, 19.5, 156, 312, 2039, 3},
                         Row{"h100-pcie", 114, 50, 1755, 51, 378, 756, 2039, 3},
                         Row{"h100-sxm", 132, 50, 1980, 67, 494.5, 989, 3350, 3},
                         Row{"h200", 132, 60, 1980, 67, 494.5, 989, 4800, 3},
                         Row{"b200", 148, 126, 1965, 80, 1125, 2250, 8000, 3}}) {
    CAPTURE(row.id);
    const auto gpus = test::shipped_gpus();
    const auto gpu =
        std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& one) { return one.id == row.id; });
    REQUIRE(gpu != gpus.end());
    CHECK(gpu->sm_count == row.sm);
    CHECK(gpu->l2_bytes / (1 << 20) == row.l2_mib);
    CHECK(gpu->boost_clock_hz == Approx(row.mhz * 1e6));
    CHECK(gpu->fp32_flops_per_s == Approx(row.fp32 * 1e12));
    CHECK(gpu->tf32_flops_per_s == Approx(row.tf32 * 1e12));
    CHECK(gpu->fp16_flops_per_s == Approx(row.fp16 * 1e12));
    CHECK(gpu->memory_bytes_per_s == Approx(row.memory_gb_per_s * 1e9));
    CHECK(gpu->copy_engines == row.copy_engines);
  }
}

TEST_CASE("GPUs that are easily taken for one another differ") {
  std::map<std::string, Gpu> gpus;
  for (Gpu& gpu : test::shipped_gpus()) gpus[gpu.id] = gpu;
  CHECK(gpus.at("l4").sm_count == 58);
  CHECK(gpus.at("a10").sm_count == 72);
  CHECK(gpus.at("a6000").memory_bytes_per_s == Approx(768e9));
  CHECK(gpus.at("rtx6000-ada").memory_bytes_per_s == Approx(960e9));
  CHECK(gpus.at("a100-pcie-40").memory_bytes_per_s < gpus.at("a100-pcie-80").memory_bytes_per_s);
  CHECK(gpus.at("a100-pcie-80").memory_bytes_per_s < gpus.at("a100-sxm-80").memory_bytes_per_s);
  CHECK(gpus.at("h100-pcie").sm_count < gpus.at("h100-sxm").sm_count);
}

TEST_CASE("the memory that CUDA reports is near to what is sold") {
  const std::map<std::string, double> sold_gib{{"t4", 16},
                                               {"v100-sxm2-32", 32},
                                               {"v100-pcie-16", 16},
                                               {"v100-pcie-32", 32},
                                               {"titan-rtx", 24},
                                               {"a100-sxm-40", 40},
                                               {"a100-sxm-80", 80},
                                               {"a100-pcie-40", 40},
                                               {"a100-pcie-80", 80},
                                               {"a10", 24},
                                               {"a6000", 48},
                                               {"rtx3060", 12},
                                               {"rtx3080", 10},
                                               {"rtx3090", 24},
                                               {"l4", 24},
                                               {"l40s", 48},
                                               {"rtx6000-ada", 48},
                                               {"rtx4070-ti", 12},
                                               {"rtx4060-laptop", 8},
                                               {"rtx4090", 24},
                                               {"rtx5090", 32},
                                               {"h100-pcie", 80},
                                               {"h100-sxm", 80},
                                               {"h200", 141},
                                               {"b200", 180}};
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const double share = static_cast<double>(gpu.memory_bytes) / (sold_gib.at(gpu.id) * 0x1p30);
    CHECK(share > 0.9);
    CHECK(share <= 1);
  }
}

TEST_CASE("of every GPU it is known how fast its L2 is, a few times its memory") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    CHECK(gpu.l2_bytes_per_s > 1.5 * gpu.memory_bytes_per_s);
    CHECK(gpu.l2_bytes_per_s < 9 * gpu.memory_bytes_per_s);
    // An SM's port to L2 carries 64 bytes a cycle.
    CHECK(gpu.l2_bytes_per_s < 72.0 * gpu.sm_count * gpu.boost_clock_hz);
  }
}
