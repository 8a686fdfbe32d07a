// Embedding: torch.nn.functional.embedding and its dense gradient. CPU reference:
// src/host/embedding.h.
//
// table [rows, columns], tokens [count], y [count, columns]: y[t] = table[tokens[t]];
// dtable[tokens[t]] += dy[t], in the order of t: no atomics, so a run repeats to the bit. A token
// that is no row of the table stops the device (__trap). Forward is exact; backward sums in FP32
// into FP32. T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

template <typename T>
void embedding_forward(Stream stream, const Matrix& table_shape, const T* table,
                       const std::int64_t* tokens, std::size_t count, T* y);

// Added to what `dtable` holds. It reads all tokens once for each token: count² · 8 bytes, from
// cache.
template <typename T>
void embedding_backward(Stream stream, const Matrix& table_shape, const std::int64_t* tokens,
                        std::size_t count, const T* dy, float* dtable);

}  // namespace trainscope::kernels
