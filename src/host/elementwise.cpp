#include "host/elementwise.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace trainscope::host {

void add(Values a, Values b, Results sum, const Workers& workers) {
  assert(a.size() == sum.size() && b.size() == sum.size());
  workers.for_ranges(sum.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) sum[i] = a[i] + b[i];
  });
}

void larger(Values a, Values b, Results most, const Workers& workers) {
  assert(a.size() == most.size() && b.size() == most.size());
  workers.for_ranges(most.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) most[i] = b[i] > a[i] || b[i] != b[i] ? b[i] : a[i];
  });
}

void product(Values a, Values b, Results y, const Workers& workers) {
  assert(a.size() == y.size() && b.size() == y.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) y[i] = a[i] * b[i];
  });
}

void scale(Values x, float factor, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) y[i] = factor * x[i];
  });
}

void power(Values x, float exponent, Results y, const Workers& workers) {
  assert(x.size() == y.size());
  workers.for_ranges(y.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      y[i] = static_cast<float>(std::pow(static_cast<double>(x[i]), exponent));
  });
}

void fill(Results values, float value, const Workers& workers) {
  workers.for_ranges(values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::fill_n(values.data() + begin, end - begin, value);
  });
}

}  // namespace trainscope::host
