// Embedding: torch.nn.functional.embedding and its dense gradient. CPU reference:
// src/host/embedding.h.
//
// table [rows, columns], tokens [count], y [count, columns]: y[t] = table[tokens[t]];
// dtable[tokens[t]] += dy[t], in the order of t: positions are sorted by token first, so a run
// repeats to the bit. There are fewer than 2^31 tokens; one that is no row of the table stops the
// device (__trap). Forward is exact; backward sums in FP32 into FP32. T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

template <typename T>
void embedding_forward(Stream stream, const Matrix& table_shape, const T* table,
                       const std::int64_t* tokens, std::size_t count, T* y);

// Of a table of which this has the rows from `first` on alone: y[t] is 0 where a token is another.
template <typename T>
void embedding_forward_of_rows(Stream stream, const Matrix& table_shape, std::int64_t first,
                               const T* table, const std::int64_t* tokens, std::size_t count, T* y);

// Whole numbers of room for backward.
std::size_t embedding_workspace(const Matrix& table_shape, std::size_t count);

// Added to what `dtable` holds. A token that is there n times costs n² readings of 4 bytes, from
// cache, beside its rows of dy.
template <typename T>
void embedding_backward(Stream stream, const Matrix& table_shape, const std::int64_t* tokens,
                        std::size_t count, const T* dy, std::int32_t* workspace, float* dtable);

}  // namespace trainscope::kernels
