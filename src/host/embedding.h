// Embedding: torch.nn.functional.embedding, dense gradient, no padding index, no renormalisation.
//
// table [rows, columns], tokens [count], y [count, columns]: y[t] = table[tokens[t]];
// dtable[tokens[t]] += dy[t], in the order of t.
// Error: forward is exact; backward sums in FP32, so a token seen n times is within n/2 units.
#pragma once

#include <cstdint>
#include <span>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// Throws InputError for a token that is no row of the table, naming its place.
void embedding_forward(const MatrixShape& table_shape, Values table,
                       std::span<const std::int64_t> tokens, Results y,
                       const Workers& workers = {});

// Of a table of which this has the rows from `first` on alone: y[t] is 0 where a token is another.
void embedding_forward_of_rows(const MatrixShape& table_shape, std::int64_t first, Values table,
                               std::span<const std::int64_t> tokens, Results y,
                               const Workers& workers = {});

// kReplace clears the gradient first.
void embedding_backward(const MatrixShape& table_shape, std::span<const std::int64_t> tokens,
                        Values dy, Results dtable, Into into, const Workers& workers = {});

}  // namespace trainscope::host
