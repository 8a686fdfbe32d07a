#include "sim/kernel_model.h"

#include <catch2/catch.hpp>

#include "machine/machine.h"
#include "sim/block_cost.h"
#include "sim/sm_run.h"

namespace trainscope::sim {
namespace {

program::Operation product(std::int64_t m, std::int64_t n, std::int64_t k) {
  program::Operation operation;
  operation.kind = program::OperationKind::kGemm;
  operation.m = m;
  operation.n = n;
  operation.k = k;
  operation.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  operation.blocks = ((m + 63) / 64) * ((n + 63) / 64);
  return operation;
}

const machine::Gpu& v100() {
  static const machine::Machine machine = machine::load_machine("v100-sxm-1");
  return machine.gpu;
}

TEST_CASE("A product with few tiles and a long k fills the GPU by cutting k") {
  // The weights of resnet50's first convolution: 3 tiles, a sum over 64 images of 112 x 112.
  const program::Operation weights = product(64, 147, 64 * 112 * 112);
  CHECK(weights.blocks == 3);
  CHECK(grid_blocks(weights, v100()) == 78);  // 26 parts: the most that 80 SMs hold at once
  CHECK(run_alone(weights, v100()).waves == 1);
}

TEST_CASE("A product is not cut where its tiles fill the GPU, or k is short") {
  CHECK(grid_blocks(product(4096, 4096, 4096), v100()) == 64 * 64);
  CHECK(grid_blocks(product(64, 128, 255), v100()) == 2);
  CHECK(grid_blocks(product(64, 128, 784), v100()) == 6);  // parts of at least 256
}

TEST_CASE("A longer k never makes a product fill fewer of the SMs") {
  std::int64_t before = 0;
  for (std::int64_t k = 16; k < 1 << 20; k *= 2) {
    const std::int64_t blocks = grid_blocks(product(64, 64, k), v100());
    CHECK(blocks >= before);
    before = blocks;
  }
  CHECK(before == v100().sm_count);
}

TEST_CASE("A kernel of a given length takes it, however many blocks it has") {
  program::Operation given;
  given.kind = program::OperationKind::kOpaque;
  for (const Nanos length : {1000, 2900, 50'000, 1'234'567})
    for (const std::int64_t blocks : {1, 7, 80, 81, 160, 639, 640, 641, 5000}) {
      CAPTURE(length, blocks);
      given.opaque_duration = length;
      given.blocks = blocks;
      const SmRun run = run_alone(given, v100());
      CHECK(kernel_floor(given, v100()) == length);
      CHECK(run.duration <= length);
      CHECK(run.duration > length - 2 * run.waves - 1);
    }
}

TEST_CASE("Two kernels of a given length that want the same SMs take twice as long together") {
  program::Operation given;
  given.kind = program::OperationKind::kOpaque;
  given.opaque_duration = 10'000;
  const auto end = [&](std::int64_t blocks) {
    given.blocks = blocks;
    SmArray array(sm_limits(v100()));
    array.admit(0, 0, block_cost(given, v100()), blocks);
    array.admit(0, 1, block_cost(given, v100()), blocks);
    Nanos last = 0;
    while (!array.idle()) array.finish(last = array.next_event());
    return last;
  };
  CHECK(end(40) == 10'000);
  CHECK(end(80) == 20'000);
}

TEST_CASE("A GPU that is slower takes so many times as long for a kernel") {
  const program::Operation one = product(4096, 4096, 4096);
  const BlockCost cost = block_cost(one, v100());
  const SmRun usual = run_alone(cost, one.blocks, sm_limits(v100()));
  const SmRun slow = run_alone(slowed(cost, 1.5), one.blocks, sm_limits(v100()));
  CHECK(static_cast<double>(slow.duration) ==
        Approx(1.5 * static_cast<double>(usual.duration)).epsilon(1e-4));
}

TEST_CASE("Only products are cut along k") {
  program::Operation sum = product(64, 64, 1 << 20);
  sum.kind = program::OperationKind::kReduction;
  CHECK(grid_blocks(sum, v100()) == 1);
}

}  // namespace
}  // namespace trainscope::sim
