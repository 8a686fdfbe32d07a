#include "host/product.h"

#include <cblas.h>

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

}  // namespace

void multiply(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
              float alpha) {
  prepare_blas();
  cblas_sgemm(CblasRowMajor, order(a), order(b), whole(shape.rows), whole(shape.columns),
              whole(shape.inner), alpha, a.values, whole(a.stride), b.values, whole(b.stride),
              c.into == Into::kAdd ? 1.0F : 0.0F, c.values, whole(c.stride));
}

}  // namespace trainscope::host
