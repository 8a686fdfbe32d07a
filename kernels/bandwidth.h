// Kernels that do nothing but move memory: what a device's bandwidth is measured with. CPU
// reference: the formulas.
//
// Copy and triad of McCalpin's STREAM (www.cs.virginia.edu/stream): 8 and 12 bytes a value.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// c[i] = a[i].
void copy_values(Stream stream, const float* a, float* c, std::size_t count);

// c[i] = a[i] + factor · b[i].
void triad(Stream stream, const float* a, const float* b, float factor, float* c,
           std::size_t count);

}  // namespace trainscope::kernels
