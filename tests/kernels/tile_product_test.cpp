// Products of matrices through tiles: where each block's tile is, however many products there are.

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/tile_product.cuh"

using namespace trainscope::kernels;

namespace {

// A[m, k] = m + 1, B[k, n] = n + 2: C = terms (m + 1) (n + 2), and the number of the product more.
struct Counted {
  int m;
  int n;
  int terms;
  float* results;
  static constexpr bool kATerms = true;
  static constexpr bool kBTerms = false;

  bool is_needed(int, int) const { return true; }
  int batch(int number) const { return number; }
  float a(int, int row, int) const { return static_cast<float>(row + 1); }
  float b(int, int, int column) const { return static_cast<float>(column + 2); }
  void store(int batch, int row, int column, float sum) const {
    const std::size_t at = static_cast<std::size_t>(batch * m + row) * static_cast<std::size_t>(n);
    results[at + static_cast<std::size_t>(column)] += sum + static_cast<float>(batch);
  }
};

int count_wrong(const Counted& product, int batches) {
  int wrong = 0;
  const float* next = product.results;
  for (int batch = 0; batch < batches; ++batch)
    for (int row = 0; row < product.m; ++row)
      for (int column = 0; column < product.n; ++column)
        wrong +=
            *next++ == static_cast<float>(product.terms * (row + 1) * (column + 2) + batch) ? 0 : 1;
  return wrong;
}

}  // namespace

TEST_CASE("every value of products larger than a tile is stored once, in its place") {
  constexpr int kBatches = 3;
  std::vector<float> results(kBatches * 70 * 130);
  const Counted product{70, 130, 5, results.data()};
  multiply("counted", Stream{}, product, kBatches);
  CHECK(count_wrong(product, kBatches) == 0);
}

// A grid has 65535 blocks at most in y and in z.
TEST_CASE("there may be more products than a grid is deep") {
  constexpr int kBatches = 65536;
  std::vector<float> results(kBatches);
  const Counted product{1, 1, 0, results.data()};
  multiply("counted", Stream{}, product, kBatches);
  CHECK(count_wrong(product, kBatches) == 0);
}
