// A loss of logits whose classes ranks share out, and rows of a table: kernels beside the host.
#include "kernels/shared_loss.h"

#include <limits>

#include "host/elementwise.h"
#include "host/embedding.h"
#include "host/shared_loss.h"
#include "kernels/compare.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Matrix;
using kernels::OwnClasses;

namespace {

// Rows of one, narrow and wide, most beginning beside a multiple of 16 bytes.
constexpr Matrix kShapes[] = {{1, 1}, {3, 7}, {64, 12}, {5, 1001}, {4, 2049}, {300, 3}};

bool are_near(const std::vector<float>& a, const std::vector<float>& b, float allowed) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= allowed * std::max(1.0F, std::abs(b[i])))) return false;
  return a.size() == b.size();
}

void check_steps(const Matrix& shape, const OwnClasses& own, Stream order) {
  CAPTURE(shape.rows, shape.columns, own.begin, own.count);
  const host::MatrixShape matrix{shape.rows, shape.columns};
  const host::OwnClasses same{own.begin, own.count};
  const std::vector<float> x = numbers(shape.size(), 71), by_row = numbers(shape.rows, 72);
  std::vector<std::int64_t> targets;
  for (std::size_t row = 0; row < shape.rows; ++row)
    targets.push_back(row % 5 == 3 ? host::kIgnoredTarget
                                   : static_cast<std::int64_t>(row * 7 % (2 * shape.columns + 1)));
  std::vector<float> y(shape.size()), on_host(shape.size());
  std::vector<float> rows(shape.rows), host_rows(shape.rows);

  kernels::row_maxima(order, shape, own, x.data(), rows.data());
  host::row_maxima(matrix, same, x, host_rows);
  CHECK(same_bits(rows, host_rows));
  kernels::row_sums(order, shape, own, x.data(), rows.data());
  host::row_sums(matrix, same, x, host_rows);
  CHECK(are_near(rows, host_rows, 2e-5F));
  kernels::shift_rows(order, shape, x.data(), by_row.data(), y.data());
  host::shift_rows(matrix, x, by_row, on_host);
  CHECK(same_bits(y, on_host));
  kernels::exponentials(order, shape, own, x.data(), y.data());
  host::exponentials(matrix, same, x, on_host);
  CHECK(are_near(y, on_host, 1e-6F));
  kernels::pick_targets(order, shape, own, x.data(), targets.data(), rows.data());
  host::pick_targets(matrix, same, x, targets, host_rows);
  CHECK(same_bits(rows, host_rows));
  kernels::mark_targets(order, shape, own, targets.data(), y.data());
  host::mark_targets(matrix, same, targets, on_host);
  CHECK(same_bits(y, on_host));
}

template <typename T>
void check_rows(const Matrix& table_shape, std::int64_t first, std::size_t count, Stream order) {
  const auto table = rounded<T>(numbers(table_shape.size(), 73));
  std::vector<std::int64_t> tokens;
  for (std::size_t t = 0; t < count; ++t)
    tokens.push_back(static_cast<std::int64_t>(t * 5 % (3 * table_shape.rows)));
  std::vector<float> expected(count * table_shape.columns);
  host::embedding_forward_of_rows({table_shape.rows, table_shape.columns}, first, floats(table),
                                  tokens, expected);
  std::vector<T> y(expected.size(), as<T>(1));
  kernels::embedding_forward_of_rows(order, table_shape, first, table.data(), tokens.data(), count,
                                     y.data());
  CHECK(same_bits(y, rounded<T>(expected)));
}

}  // namespace

TEST_CASE("each kernel of a loss whose classes are shared out does what the host does") {
  for (const Stream order : kOrders)
    for (const Matrix& shape : kShapes) {
      check_steps(shape, {0, shape.columns}, order);
      check_steps(shape, {shape.columns, shape.columns}, order);
      check_steps(shape, {shape.columns, shape.columns / 2}, order);
      check_steps(shape, {shape.columns, 0}, order);
    }
}

TEST_CASE("logarithms are the host's") {
  for (const std::size_t count : kCounts) {
    std::vector<float> x = numbers(count, 74), y(count), on_host(count);
    for (float& one : x) one = std::abs(one) + 0.01F;
    kernels::logarithms(Stream{}, x.data(), count, y.data());
    host::logarithms(x, on_host);
    CHECK(are_near(y, on_host, 1e-6F));
  }
}

TEST_CASE("a token gives its row where the rank has it, and else 0") {
  for (const Stream order : kOrders) {
    check_rows<float>({4, 12}, 4, 30, order);
    check_rows<float>({4, 130}, 0, 7, order);
    check_rows<kernels::Half>({5, 24}, 5, 41, order);
    check_rows<kernels::Bfloat16>({3, 5}, 6, 9, order);
  }
}

TEST_CASE("the larger of two numbers is the host's, and a NaN where one is") {
  std::vector<float> a = numbers(1001, 75), b = numbers(1001, 76), most(1001), on_host(1001);
  a[3] = b[5] = std::numeric_limits<float>::quiet_NaN();
  kernels::larger(Stream{}, a.data(), b.data(), most.data(), most.size());
  host::larger(a, b, on_host);
  CHECK(same_bits(most, on_host));
  CHECK((std::isnan(most[3]) && std::isnan(most[5])));
}
