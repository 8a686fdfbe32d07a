#include "host/embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "base/error.h"

namespace trainscope::host {
namespace {

void require_rows(std::span<const std::int64_t> tokens, std::size_t rows) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t] >= 0 && static_cast<std::size_t>(tokens[t]) < rows) continue;
    throw InputError(fmt::format("token {} at place {} is not in the table, which has rows 0 to {}",
                                 tokens[t], t, static_cast<std::int64_t>(rows) - 1));
  }
}

// Adds columns `begin` to before `end` of dy, in the order of the tokens.
void add_columns(std::span<const std::int64_t> tokens, std::size_t columns, std::size_t begin,
                 std::size_t end, const float* dy, float* dtable) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    float* sum = dtable + static_cast<std::size_t>(tokens[t]) * columns;
    const float* term = dy + t * columns;
    for (std::size_t c = begin; c < end; ++c) sum[c] += term[c];
  }
}

}  // namespace

void embedding_forward(const MatrixShape& table_shape, Values table,
                       std::span<const std::int64_t> tokens, Results y, const Workers& workers) {
  const std::size_t columns = table_shape.columns;
  assert(table.size() == table_shape.size());
  assert(y.size() == tokens.size() * columns);
  require_rows(tokens, table_shape.rows);
  workers.for_ranges(tokens.size(), grain_of(columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      std::copy_n(&table[static_cast<std::size_t>(tokens[t]) * columns], columns, &y[t * columns]);
    }
  });
}

void embedding_forward_of_rows(const MatrixShape& table_shape, std::int64_t first, Values table,
                               std::span<const std::int64_t> tokens, Results y,
                               const Workers& workers) {
  const std::size_t columns = table_shape.columns;
  assert(table.size() == table_shape.size());
  assert(y.size() == tokens.size() * columns);
  const auto rows = static_cast<std::int64_t>(table_shape.rows);
  workers.for_ranges(tokens.size(), grain_of(columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::int64_t row = tokens[t] - first;
      if (row >= 0 && row < rows) {
        std::copy_n(&table[static_cast<std::size_t>(row) * columns], columns, &y[t * columns]);
      } else {
        std::fill_n(&y[t * columns], columns, 0.0F);
      }
    }
  });
}

void embedding_backward(const MatrixShape& table_shape, std::span<const std::int64_t> tokens,
                        Values dy, Results dtable, Into into, const Workers& workers) {
  assert(dtable.size() == table_shape.size());
  assert(dy.size() == tokens.size() * table_shape.columns);
  require_rows(tokens, table_shape.rows);
  if (into == Into::kReplace) std::fill(dtable.begin(), dtable.end(), 0.0F);
  constexpr std::size_t kLeastColumns = 16;
  const std::size_t grain = std::max(kLeastColumns, grain_of(tokens.size()));
  workers.for_ranges(table_shape.columns, grain, [&](std::size_t begin, std::size_t end) {
    add_columns(tokens, table_shape.columns, begin, end, dy.data(), dtable.data());
  });
}

}  // namespace trainscope::host
