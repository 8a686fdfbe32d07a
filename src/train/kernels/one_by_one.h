// Element-wise kernels of PyTorch whose threads move one number at a time, and how many they do.
//
// vectorized_elementwise_kernel loads four numbers at once and keeps up with memory. It wants
// operands that lie as its result does, of one type. All else goes through elementwise_kernel,
// which works out where each number lies, and unrolled_elementwise_kernel, which finds out its type
// (aten/src/ATen/native/cuda/CUDALoops.cuh, gpu_kernel_impl): masks and rows that are broadcast,
// numbers in tensors of no dimension on the GPU, copies of what is transposed, casts.
//
// How many they do a second goes with the SMs and their clock, whatever a number's bytes, so that
// 16-bit types gain nothing:
//
//   GPU           what             bytes  numbers   a number    a cycle of an SM  of memory's peak
//   A100 80 PCIe  where, scores        8     83.9 M  453.6 us                1.21  0.76
//   A100 80 PCIe  div, scores          8     83.9 M  428.6 us                1.29  0.81
//   A100          BF16 to FP32         6     58.7 M  308.6 us                1.25
//   H100 SXM      where, scores        8   1073.7 M   3395 us                1.21  0.76
//   H100 SXM      div, scores          8   1073.7 M   3430 us                1.20  0.75
//   H100 SXM      heads put in order   8     33.6 M    112 us                1.14  0.71
//   H100 PCIe     FP32 to FP16         6    402.7 M   1672 us                1.20  0.72
//
// Casts are pytorch/pytorch#195542 and #137053, between two sizes; the others labels of NeuSight
// (scripts/asplos/label: GPT2-Large, GPT3-2.7B, OPT-1.3B), each less the time that its first event
// waits for the kernel: 17 us on the A100's host, as lines through 17 and 19 sizes of `relu` and
// `add` say, which go on at 0.87 and 0.88 of memory's peak; 10.5 on the H100's, where an operator
// that fills one number takes 12. (Divided by such a label as it is, a kernel of some ten
// microseconds seems to leave memory idle.) #137053 measured before and after: since PyTorch 2.6 a
// cast from FP32 to a 16-bit type loads vectors on GPUs of 9.0 and later. NeuSight's A100 PCIe of
// 40 GB does not fit: `where` does 0.84 a cycle there.
#pragma once

#include "machine/machine.h"
#include "program/program.h"

namespace trainscope::train {

// Numbers that such a kernel finishes in a cycle of an SM: fitted to the table above.
inline constexpr double kOneByOne = 1.2;

// The same of dropout's forward, which loads four at once and draws a random number for each:
// labels of GPT2-Large's scores, 83.9 M in 504 us on the A100, 1.09, and in 290 on the H100, 1.11.
inline constexpr double kDrawn = 1.1;

// Numbers a cycle of an SM that the kernel of an operation of the program is held to; 0: none. Code
// that torch.compile wrote is not.
double numbers_per_cycle(const program::Program& program, const program::Operation& operation,
                         const machine::Gpu& gpu);

}  // namespace trainscope::train
