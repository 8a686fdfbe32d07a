#include "host/blas.h"

#include <cblas.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <string_view>

// Of an OpenBLAS that chooses its kernels as it loads (DYNAMIC_ARCH, as distributions build it).
extern "C" __attribute__((weak)) void gotoblas_dynamic_init();
extern "C" __attribute__((weak)) void gotoblas_dynamic_quit();

namespace trainscope::host {
namespace {

blasint whole(std::size_t value) {
  assert(value <= static_cast<std::size_t>(std::numeric_limits<blasint>::max()));
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE order(const Factor& factor) {
  return factor.transposed ? CblasTrans : CblasNoTrans;
}

#if defined(__x86_64__) && defined(__GNUC__)
// OpenBLAS 0.3.21 (Debian 12) was built by a compiler too old for the newest processors and takes
// those it does not know for a Haswell or a Zen: AVX2 on processors that have AVX-512, at two
// thirds of the speed. Its documented cure is a variable that it reads as it loads, so it is made
// to look again with that set. A choice of the user's stays.
void choose_widest_kernels() {
  const char* const kVariable = "OPENBLAS_CORETYPE";
  const std::string_view core = openblas_get_corename();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (!wide || (core != "Haswell" && core != "Zen") || std::getenv(kVariable)) return;
  if (!gotoblas_dynamic_quit || !gotoblas_dynamic_init) return;
  ::setenv(kVariable, "SkylakeX", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(kVariable);
}
#else
void choose_widest_kernels() {}
#endif

void prepare_blas() {
  static const bool done = [] {
    choose_widest_kernels();
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

// The values of a factor from row or column `begin` of the product on.
const float* rows_from(const Factor& a, std::size_t begin) {
  return a.values + begin * (a.transposed ? 1 : a.stride);
}

const float* columns_from(const Factor& b, std::size_t begin) {
  return b.values + begin * (b.transposed ? b.stride : 1);
}

void multiply(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
              float alpha) {
  cblas_sgemm(CblasRowMajor, order(a), order(b), whole(shape.rows), whole(shape.columns),
              whole(shape.inner), alpha, a.values, whole(a.stride), b.values, whole(b.stride),
              c.into == Into::kAdd ? 1.0F : 0.0F, c.values, whole(c.stride));
}

// How many blocks a product is cut into. Each packs the other factor anew, which costs a large
// product a few hundredths in four blocks and a small one more, and each should take some tens of
// microseconds.
std::size_t blocks_of(const GemmShape& shape) {
  const std::size_t products = shape.rows * shape.columns * shape.inner;
  if (products < std::size_t{1} << 22) return 1;
  if (products < std::size_t{1} << 25) return 2;
  return products < std::size_t{1} << 28 ? 4 : 8;
}

// How many rows or columns of the longer side make one block; blocks begin where the kernels' tiles
// do.
std::size_t block_length(const GemmShape& shape) {
  constexpr std::size_t kTile = 32;
  const std::size_t blocks = blocks_of(shape);
  const std::size_t length = (std::max(shape.rows, shape.columns) + blocks - 1) / blocks;
  return (length + kTile - 1) / kTile * kTile;
}

}  // namespace

void gemm(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c, float alpha,
          const Workers& workers) {
  if (shape.rows == 0 || shape.columns == 0) return;
  if (shape.inner == 0) {
    if (c.into == Into::kAdd) return;
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::fill_n(c.values + row * c.stride, shape.columns, 0.0F);
    }
    return;
  }
  prepare_blas();
  const bool by_rows = shape.rows > shape.columns;
  const std::size_t side = by_rows ? shape.rows : shape.columns;
  workers.for_ranges(side, block_length(shape), [&](std::size_t begin, std::size_t end) {
    if (by_rows) {
      multiply({end - begin, shape.columns, shape.inner},
               {rows_from(a, begin), a.stride, a.transposed}, b,
               {c.values + begin * c.stride, c.stride, c.into}, alpha);
    } else {
      multiply({shape.rows, end - begin, shape.inner}, a,
               {columns_from(b, begin), b.stride, b.transposed},
               {c.values + begin, c.stride, c.into}, alpha);
    }
  });
}

}  // namespace trainscope::host
