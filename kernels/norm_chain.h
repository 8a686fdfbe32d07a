// A chain of steps with layer norms, or their gradients, between them, in one kernel. CPU
// reference: the steps' own, host/layer_norm.h.
//
// A block walks a row once for each sum that a norm needs and once more to write, and carries the
// steps that lie before out anew each time: what they read comes from memory again, or from a
// cache, and what they compute never reaches memory. Formulas, types and order of summation are
// those of layer_norm.h: the same bits where what those read begins on 16 bytes.
#pragma once

#include "kernels/chain.h"

namespace trainscope::kernels {

enum class NormKind : std::uint8_t {
  kForward,
  kInputGradient,
};

struct ChainNorm {
  NormKind kind = NormKind::kForward;
  NumberType type = NumberType::kFp32;     // that the result is rounded to
  std::uint8_t x = 0, dy = 0, result = 0;  // registers
  int before = 0;                          // how many of the steps come before it
  float eps = 0;
  const float* gamma = nullptr;  // of each column
  const float* beta = nullptr;
  // Of each row: written by a norm, but where null; read by a gradient.
  float* mean = nullptr;
  float* rstd = nullptr;
};

// Norms of the same rows, in the order of their steps.
struct NormChain {
  Chain chain;
  ChainNorm norms[kMostChainNorms];
  int norm_count = 0;
  Matrix rows;
  NumberType type = NumberType::kFp32;  // of what is normed: tells a thread's share of a row
};

void run_norm_chain(Stream stream, const NormChain& chain);

}  // namespace trainscope::kernels
