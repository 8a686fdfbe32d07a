#include "machine/power.h"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "machine/machine_json.h"

using namespace trainscope;
using namespace trainscope::machine;

TEST_CASE("a GPU keeps its clock at its own power, and holds less of it under less") {
  const Gpu gpu = load_machine("rtx3090-1").gpu;
  CHECK(gpu.tdp_watts == 350);
  CHECK(clock_under(gpu, 350) == Approx(1));
  double last = 1;
  for (double watts = 345; watts >= 140; watts -= 5) {
    const double share = clock_under(gpu, watts);
    CHECK(share < last);
    CHECK(share > watts / 350);  // the last watts bring the least
    last = share;
  }
  CHECK(last > 0.5);
}

TEST_CASE("the clock under a limit is near what was measured") {
  const Gpu gpu = load_machine("rtx3090-1").gpu;
  // ViT-Base trained in TF32, of its best (blog.qwertyforce.dev).
  CHECK(clock_under(gpu, 230) == Approx(0.80).margin(0.02));
  CHECK(clock_under(gpu, 280) == Approx(0.90).margin(0.02));
  CHECK(clock_under(gpu, 320) == Approx(0.95).margin(0.02));
}

TEST_CASE("a limit slows the SMs and nothing else, and a saved machine still has it") {
  const Machine whole = load_machine("h200-1");
  Machine limited = whole;
  limit_power(limited, 400);
  const double share = clock_under(whole.gpu, 400);
  CHECK(limited.name == whole.name + ", limited to 400 W");
  CHECK(limited.gpu.clock_share == share);
  CHECK(limited.gpu.boost_clock_hz == Approx(share * whole.gpu.boost_clock_hz));
  CHECK(limited.gpu.fp32_flops_per_s == Approx(share * whole.gpu.fp32_flops_per_s));
  CHECK(limited.gpu.tf32_flops_per_s == Approx(share * whole.gpu.tf32_flops_per_s));
  CHECK(limited.gpu.fp16_flops_per_s == Approx(share * whole.gpu.fp16_flops_per_s));
  CHECK(limited.gpu.l2_bytes_per_s == Approx(share * whole.gpu.l2_bytes_per_s));
  CHECK(limited.gpu.memory_bytes_per_s == whole.gpu.memory_bytes_per_s);
  CHECK(limited.pcie.h2d_bytes_per_s == whole.pcie.h2d_bytes_per_s);
  CHECK(limited.gpu_link.bytes_per_s == whole.gpu_link.bytes_per_s);

  const Machine read = machine_from_json(to_json(limited));
  CHECK(read.gpu.clock_share == share);
  CHECK(read.gpu.tdp_watts == 700);
  CHECK(to_json(read) == to_json(limited));
}

TEST_CASE("a limit that cannot be set is refused with the range, and so is one of unknown power") {
  Gpu gpu = load_machine("rtx3090-1").gpu;
  CHECK_THROWS_WITH(clock_under(gpu, 351), Catch::Contains("draws 350 W at most"));
  CHECK_THROWS_WITH(clock_under(gpu, 100), Catch::Contains("is below 140 W is not known"));
  gpu.tdp_watts = 0;
  CHECK_THROWS_WITH(clock_under(gpu, 200), Catch::Contains("is not known"));
}
