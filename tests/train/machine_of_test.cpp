#include <catch2/catch.hpp>

#include "train/build.h"

using namespace trainscope;

namespace {

machine::Machine machine_with(const std::string& assignment, const std::string& id = "h200-1") {
  program::Config config;
  config.set_text("machine=" + id);
  config.set_text(assignment);
  return train::machine_of(config);
}

}  // namespace

TEST_CASE("fewer lanes carry their share in each direction, and the name says so") {
  const machine::Machine all = machine_with("pcie.lanes=0"), half = machine_with("pcie.lanes=8");
  CHECK(half.pcie.lanes == 8);
  CHECK(half.pcie.h2d_bytes_per_s == Approx(all.pcie.h2d_bytes_per_s / 2));
  CHECK(half.pcie.d2h_bytes_per_s == Approx(all.pcie.d2h_bytes_per_s / 2));
  CHECK(half.pcie.both_bytes_per_s == Approx(all.pcie.both_bytes_per_s / 2));
  CHECK(half.pcie.h2d_latency_ns == all.pcie.h2d_latency_ns);
  CHECK(half.name == all.name + ", 8 lanes in use");
  CHECK_THROWS_WITH(machine_with("pcie.lanes=3"), Catch::Contains("write 1, 2, 4, 8 or 16"));
}

TEST_CASE("GPUs that nothing but PCIe joins talk over the lanes that are left") {
  const auto l40s = [](const std::string& lanes) {
    return machine_with("pcie.lanes=" + lanes, "l40s-4").gpu_link;
  };
  CHECK(l40s("4").ring_bytes_per_s == Approx(l40s("16").ring_bytes_per_s / 4));
  CHECK(l40s("1").bytes_per_s == Approx(l40s("0").bytes_per_s / 16));
  // NVLinks are no lanes of PCIe.
  CHECK(machine_with("pcie.lanes=1", "h200-8").gpu_link.ring_bytes_per_s ==
        machine_with("pcie.lanes=0", "h200-8").gpu_link.ring_bytes_per_s);
}

TEST_CASE("a job may have fewer cores than its machine, not more") {
  CHECK(machine_with("host.cores=1").host.cores == 1);
  CHECK(machine_with("host.cores=1").name ==
        machine_with("host.cores=0").name + ", 1 core for this job");
  CHECK_THROWS_WITH(machine_with("host.cores=4000"), Catch::Contains("h200-1 has 112 cores"));
}
