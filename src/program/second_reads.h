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

}  // namespace trainscope::program
