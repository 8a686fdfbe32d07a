// What a kernel reads a second time, when the sums over what it has read are there.
#pragma once

#include <cstdint>

#include "program/function.h"

namespace trainscope::program {

// Of a block of batch norm's kernels.
inline constexpr int kBatchNormThreads = 512;

struct SecondRead {
  double bytes = 0;        // of the kernel, read again; 0: all is read once
  double block_bytes = 0;  // of a block, between the two readings
};

// Batch norm in training: a block has a channel, sums it, and then needs it once more. cuDNN's
// kernels are called so in profiles: bn_fw_tr_1C11_singleread<float, 512, ..., 20> and
// bn_bw_1C11_singleread<..., 14>, which keep a channel in their threads' registers, and, of larger
// images, bn_fw_tr_1C11_kernel_NCHW and bn_bw_1C11_kernel_new. Assumed: that the last number is
// what a thread keeps, of each operand, in registers of four bytes. `images`: bytes of the batch.
SecondRead second_read(const BatchNorm& norm, std::int64_t images);

// A row of more than 1024 is no warp's: a block reads it for its greatest, again for the sum, and
// once more for what it writes; backward the gradient for its sum and for what it writes
// (aten/src/ATen/native/cuda/SoftMax.cu, cunn_SoftMaxForward and cunn_SoftMaxBackward; rows of up
// to 48 KiB that newer versions keep in shared memory are read so, too). What lies between two
// readings of a row counts what the last of a block's passes moves beside it: of three passes one
// writes a row, of two one reads and writes one more. `bytes`: of all rows.
SecondRead second_read(const LogSoftmax& softmax, std::int64_t bytes);

}  // namespace trainscope::program
