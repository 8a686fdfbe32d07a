#include "host/embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/error.h"

namespace trainscope::host {
namespace {

std::size_t row_of(std::span<const std::int64_t> tokens, std::size_t place, std::size_t rows) {
  const std::int64_t token = tokens[place];
  if (token < 0 || static_cast<std::size_t>(token) >= rows) {
    throw InputError(fmt::format("token {} at place {} is not in the table, which has rows 0 to {}",
                                 token, place, static_cast<std::int64_t>(rows) - 1));
  }
  return static_cast<std::size_t>(token);
}

}  // namespace

void embedding_forward(const MatrixShape& table_shape, Values table,
                       std::span<const std::int64_t> tokens, Results y) {
  assert(table.size() == table_shape.size());
  assert(y.size() == tokens.size() * table_shape.columns);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t row = row_of(tokens, t, table_shape.rows);
    std::copy_n(&table[row * table_shape.columns], table_shape.columns,
                &y[t * table_shape.columns]);
  }
}

void embedding_backward(const MatrixShape& table_shape, std::span<const std::int64_t> tokens,
                        Values dy, Results dtable, Into into) {
  assert(dtable.size() == table_shape.size());
  assert(dy.size() == tokens.size() * table_shape.columns);
  if (into == Into::kReplace) std::fill(dtable.begin(), dtable.end(), 0.0F);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t row = row_of(tokens, t, table_shape.rows);
    float* sum = &dtable[row * table_shape.columns];
    const float* term = &dy[t * table_shape.columns];
    for (std::size_t c = 0; c < table_shape.columns; ++c) sum[c] += term[c];
  }
}

}  // namespace trainscope::host
