#include "sim/kernel_model.h"

#include <catch2/catch.hpp>

#include "machine/machine.h"

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
  CHECK(kernel_needs(weights, v100()).arithmetic_share == Approx(78.0 / 80));
}

TEST_CASE("A product is not cut where its tiles fill the GPU, or k is short") {
  CHECK(grid_blocks(product(4096, 4096, 4096), v100()) == 64 * 64);
  CHECK(grid_blocks(product(64, 128, 255), v100()) == 2);
  CHECK(grid_blocks(product(64, 128, 784), v100()) == 6);  // parts of at least 256
}

TEST_CASE("A longer k never makes a product's share of the SMs smaller") {
  double before = 0;
  for (std::int64_t k = 16; k < 1 << 20; k *= 2) {
    const double share = kernel_needs(product(64, 64, k), v100()).arithmetic_share;
    CHECK(share >= before);
    before = share;
  }
  CHECK(before == Approx(1.0));
}

TEST_CASE("Only products are cut along k") {
  program::Operation sum = product(64, 64, 1 << 20);
  sum.kind = program::OperationKind::kReduction;
  CHECK(grid_blocks(sum, v100()) == 1);
}

}  // namespace
}  // namespace trainscope::sim
