// Convolution: torch.nn.functional.conv2d with stride, padding, dilation and groups. CPU reference:
// src/host/conv2d.h.
//
// x [batch, channels, height, width], w [outputs, channels / groups, kernel height, kernel width],
// b [outputs]; in channels-last memory x, y and w have their channels innermost. Method: the matrix
// of windows (im2col) multiplied by the weights tile by tile, but never written: each of its values
// is read from the image as it is wanted ("implicit GEMM", Chetlur et al., cuDNN, arXiv:1410.0759).
// Groups must divide channels and outputs, and the kernel fit the image. Sums in FP32, rounded once
// to T: float, Half, Bfloat16; the gradients of weights and bias are FP32.
#pragma once

#include "kernels/image.h"

namespace trainscope::kernels {

struct Conv2d {
  Image input;
  int outputs = 0;
  int groups = 1;
  Window vertical;
  Window horizontal;

  __host__ __device__ Image output() const {
    return {input.batch, outputs, vertical.places(input.height), horizontal.places(input.width),
            input.channels_last};
  }
  __host__ __device__ int group_channels() const { return input.channels / groups; }
  __host__ __device__ int group_outputs() const { return outputs / groups; }
  __host__ __device__ int kernel_pixels() const { return vertical.size * horizontal.size; }
};

// `bias` may be null.
template <typename T>
void conv2d_forward(Stream stream, const Conv2d& conv, const T* x, const T* w, const T* bias, T* y);

template <typename T>
void conv2d_backward_input(Stream stream, const Conv2d& conv, const T* w, const T* dy, T* dx);

// Floats of room for the weights' gradients: sums over parts of the pixels, that are added up in
// their order.
std::size_t conv2d_weights_workspace(const Conv2d& conv);

template <typename T>
void conv2d_backward_weights(Stream stream, const Conv2d& conv, const T* x, const T* dy,
                             float* workspace, float* dw, Into into);

// Floats of room for the bias's gradient.
std::size_t conv2d_bias_workspace(const Conv2d& conv);

template <typename T>
void conv2d_backward_bias(Stream stream, const Conv2d& conv, const T* dy, float* workspace,
                          float* db, Into into);

}  // namespace trainscope::kernels
