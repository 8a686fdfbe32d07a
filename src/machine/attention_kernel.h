// How PyTorch's attention kernels work that keep no scores in memory, and how fast:
// FlashAttention-2 and, where that does not run, the memory-efficient kernel. README.md of src/sim
// has the model, its sources, and what was measured beside it.
#pragma once

#include <cstdint>

#include "machine/architecture.h"
#include "machine/machine.h"

namespace trainscope::machine {

struct AttentionShape {
  std::int64_t heads = 0;   // of all sequences of the batch
  std::int64_t length = 0;  // of a sequence
  std::int64_t width = 0;   // of a head
  std::int64_t element_bytes = 2;
  bool causal = true;
  bool backward = false;
  Math math = Math::kTensorFp16;
};

struct AttentionPlan {
  std::int64_t blocks = 0;        // rows of a tile each; backward, of keys
  int threads = 0;                // of a block
  int registers = 255;            // of a thread
  std::int64_t shared_bytes = 0;  // of a block; it may be more than the GPU's blocks can have
  double flops = 0;               // of a block on average: all scores of the tiles it computes
  double seconds = 0;             // of the kernel, alone on the GPU
  double efficiency = 0;          // share of the unit's peak with which equal blocks take as long
};

// FlashAttention-2 has tensor cores' 16-bit types, from 8.0 on.
bool has_flash_attention(const Gpu& gpu, Math math);

AttentionPlan plan_attention(const Gpu& gpu, const AttentionShape& shape);

}  // namespace trainscope::machine
