// Arithmetic on values one by one: torch.add, maximum, mul, pow, fill_. CPU reference:
// src/host/elementwise.h.
//
// Computed in FP32 and rounded once. A result may be an input. T: float, Half, Bfloat16.
#pragma once

#include "kernels/tensors.h"

namespace trainscope::kernels {

// sum[i] = a[i] + b[i].
template <typename T>
void add(Stream stream, const T* a, const T* b, T* sum, std::size_t count);

// y[i] = a[i] · b[i].
template <typename T>
void product(Stream stream, const T* a, const T* b, T* y, std::size_t count);

// The larger of a[i] and b[i]; a NaN where one is.
template <typename T>
void larger(Stream stream, const T* a, const T* b, T* most, std::size_t count);

// y[i] = factor · x[i].
template <typename T>
void scale(Stream stream, const T* x, float factor, T* y, std::size_t count);

// y[i] = x[i] to the power `exponent`: x·x for 2, √x for 1/2, as torch.pow tells these apart.
template <typename T>
void power(Stream stream, const T* x, float exponent, T* y, std::size_t count);

template <typename T>
void fill(Stream stream, T* values, float value, std::size_t count);

// A launch for as many tensors as a table holds (tensors.cuh).
template <typename T>
void fill(Stream stream, std::span<const Tensor<T>> tensors, float value);

}  // namespace trainscope::kernels
