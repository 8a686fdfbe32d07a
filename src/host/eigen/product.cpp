#include "host/product.h"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace trainscope::host {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<Eigen::Dynamic>;
using Given = Eigen::Map<const Matrix, Eigen::Unaligned, Stride>;
using Sums = Eigen::Map<Matrix, Eigen::Unaligned, Stride>;

Eigen::Index index(std::size_t value) {
  return static_cast<Eigen::Index>(value);
}

// As it lies in memory.
Given values_of(const Factor& factor, std::size_t rows, std::size_t columns) {
  if (factor.transposed) std::swap(rows, columns);
  return {factor.values, index(rows), index(columns), Stride(index(factor.stride))};
}

template <typename A, typename B>
void multiply(const A& a, const B& b, Sums& sums, Into into, float alpha) {
  if (into == Into::kAdd)
    sums.noalias() += alpha * a * b;
  else
    sums.noalias() = alpha * a * b;
}

}  // namespace

void multiply(const GemmShape& shape, const Factor& a, const Factor& b, const Product& c,
              float alpha) {
  const Given left = values_of(a, shape.rows, shape.inner);
  const Given right = values_of(b, shape.inner, shape.columns);
  Sums sums(c.values, index(shape.rows), index(shape.columns), Stride(index(c.stride)));
  if (a.transposed && b.transposed)
    multiply(left.transpose(), right.transpose(), sums, c.into, alpha);
  else if (a.transposed)
    multiply(left.transpose(), right, sums, c.into, alpha);
  else if (b.transposed)
    multiply(left, right.transpose(), sums, c.into, alpha);
  else
    multiply(left, right, sums, c.into, alpha);
}

}  // namespace trainscope::host
