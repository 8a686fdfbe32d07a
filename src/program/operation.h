// An operation of a program: what a kernel computes, and how it is launched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "machine/architecture.h"
#include "program/buffer.h"
#include "program/function.h"

namespace trainscope::program {

enum class OperationKind : std::uint8_t {
  kGemm,
  kElementwise,
  kReduction,
  kSoftmaxLoss,
  kOptimizer,
  kOpaque
};

// What each of a kernel's equal blocks does and needs, for an executor that places blocks on SMs.
struct BlockWork {
  double flops = 0;  // what is calculated, the padding of a tile included
  double bytes = 0;  // of its traffic with memory, L2 included
  // Of all blocks together, the distinct bytes that this traffic goes to, again and again: what of
  // them fits L2 comes from there. 0: none does.
  double footprint = 0;
  machine::Math math = machine::Math::kFp32;
  double efficiency = 1;  // share of the unit's rate that the code reaches, 0..1
  // Independent instructions that a thread has in flight; 0: as many as it takes to keep the units
  // busy, as in code that loads ahead of its arithmetic.
  int ilp = 0;
  int registers = 32;             // of a thread
  std::int64_t shared_bytes = 0;  // of a block
};

// What a call does that a real GPU makes where a simulated one launches several operations.
struct CallWork {
  double flops = 0;
  double bytes = 0;
};

// What a kernel computes. Shapes in elements; flops and bytes follow from them and are kept, so
// that an executor without a model of its own can use them.
struct Operation {
  std::string kernel;     // the kernel's name: "sgemm 64x128"
  std::string framework;  // the operator that launches it: "aten::addmm"
  OperationKind kind = OperationKind::kElementwise;
  ElementType type = ElementType::kFp32;
  std::int64_t m = 0, n = 0, k = 0;  // GEMM: C[m,n] += A[m,k] B[k,n]; else m elements
  double flops = 0;
  double bytes = 0;           // read and written in memory, as the SMs see it
  std::int64_t blocks = 1;    // of the grid
  int threads = 256;          // of a block
  Nanos opaque_duration = 0;  // kOpaque only
  // Of a kernel whose plan is known: the share of its unit's peak that it reaches, in the
  // operations of `flops`, with all of `blocks` at work. What it calculates in vain makes that
  // less; an algorithm that multiplies less may make it more than 1. 0: as the GPU's products
  // usually do.
  double efficiency = 0;
  // How it is launched, and what each block does. Not given: each does an equal part of the whole.
  std::optional<BlockWork> block_work;
  Function function;         // what is computed
  std::vector<Index> reads;  // buffers, as the function states them
  std::vector<Index> writes;
  bool is_gradient = false;  // it computes gradients, of anything
  bool compiled = false;     // code that torch.compile wrote launches it, not the framework
  double host_cost = 1;      // of eager PyTorch: its operator's time, in those of an `add`
  // Of a fused kernel: what it computes, one after another; `function` is none then. What one part
  // writes for another alone is in neither of the kernel's lists.
  std::vector<Operation> parts;
  // Of the last of several launches that are one call, of matrix products, on a real GPU.
  std::optional<CallWork> as_one_call;
};

}  // namespace trainscope::program
