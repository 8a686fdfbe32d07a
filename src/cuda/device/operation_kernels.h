// The operations of a program by the kernels of kernels/: the same code for a real device and for
// the emulated one.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/device_calls.h"
#include "kernels/conv2d.h"
#include "kernels/device.h"

namespace trainscope::cuda {

// C [m, n] = op(A) [m, k] · op(B) [k, n] + bias, matrices row by row; transposed, A lies as [k, m]
// and B as [n, k].
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool a_transposed = false;
  bool b_transposed = false;
  Operand a;
  Operand b;
  Operand c;
  Operand bias;  // of n values of C's type; null: none
  program::ElementType arithmetic = program::ElementType::kFp32;
  // Numbers from one row of A and of B as they lie to the next; 0: the rows have no room between.
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
};

// Who multiplies matrices: cuBLASLt on a device.
class Products {
 public:
  virtual ~Products() = default;
  virtual void multiply(const Product& product, kernels::Stream stream) = 0;
};

// x and w give y; dy and w give dx; x and dy give dw. What a part gives is written, the others are
// read; all of one type.
struct ConvolutionCall {
  kernels::Conv2d shape;
  program::Part part = program::Part::kForward;  // not the bias's
  Operand x;
  Operand w;
  Operand y;
  Operand bias;  // added to y; null: none
  bool benchmark =
      false;  // the fastest way is found by trying, when it is wanted for the first time
  program::ElementType arithmetic = program::ElementType::kFp32;
};

// Who convolves where a library is there for it: cuDNN.
class Convolutions {
 public:
  virtual ~Convolutions() = default;
  // False: the library has nothing for it, and a kernel of kernels/ computes it.
  virtual bool convolve(const ConvolutionCall& call, kernels::Stream stream) = 0;
};

class CompiledChains;

struct Libraries {
  Products& products;
  Convolutions* convolutions = nullptr;  // null: there is none
  CompiledChains* chains = nullptr;      // null: all chains' kernels read their steps
};

struct KernelLimits {
  double clock_hz = 1e9;            // of an SM
  int most_rounds = 1'000'000'000;  // of a busy kernel
};

// Launches what computes the operation, a kernel or a few.
void launch_operation(const KernelCall& call, kernels::Stream stream, const Libraries& libraries,
                      const KernelLimits& limits);

// Has the kernels compiled that a launch of it wants.
void prepare_operation(const KernelCall& call, CompiledChains& chains);

// Floats that it needs to work in.
std::int64_t room_of(const KernelCall& call);

// Blocks that it can write of into KernelCall::records.
std::int64_t blocks_recorded_by(const KernelCall& call);

// Why no kernel computes it; empty: one does.
std::string refusal_of(const program::Operation& operation);

// What the launch is called where no tracer tells the kernels' names: "linear", "linear's weight
// gradient".
std::string launch_name(const program::Operation& operation);

}  // namespace trainscope::cuda
