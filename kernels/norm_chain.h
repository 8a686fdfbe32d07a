// A chain of steps with layer norms or batch norms, or their gradients, between them, in one
// kernel. CPU reference: the steps' own, host/layer_norm.h, host/batch_norm.h.
//
// A block walks a row, or a channel, once for each sum that a norm needs and once more to write,
// and carries the steps that lie before out anew each time: what they read comes from memory again,
// or from a cache, and what they compute never reaches memory. Formulas, types and order of
// summation are those of layer_norm.h and batch_norm.h: the same bits where what those read begins
// on 16 bytes.
#pragma once

#include "kernels/batch_norm.h"
#include "kernels/chain.h"

namespace trainscope::kernels {

enum class NormKind : std::uint8_t {
  kRows,             // layer norm
  kRowsGradient,     // of its input
  kChannels,         // batch norm in training
  kChannelsKept,     // by the running moments
  kChannelsGradient  // of a batch in training
};

struct ChainNorm {
  NormKind kind = NormKind::kRows;
  NumberType type = NumberType::kFp32;     // that the result is rounded to
  std::uint8_t x = 0, dy = 0, result = 0;  // registers
  int before = 0;                          // how many of the steps come before it
  float eps = 0;
  const float* gamma = nullptr;  // of each column, or channel
  const float* beta = nullptr;
  // Of each row, or channel: written by a norm, but where null; read by a gradient.
  float* mean = nullptr;
  float* rstd = nullptr;
  RunningMoments running;
  // Written by a batch norm's gradient, but where null.
  float* dgamma = nullptr;
  float* dbeta = nullptr;
};

// Norms that share rows or an image, in the order of their steps.
struct NormChain {
  Chain chain;
  ChainNorm norms[kMostChainNorms];
  int norm_count = 0;
  bool of_rows = false;
  Matrix rows;
  NumberType rows_type = NumberType::kFp32;  // of what is normed: tells a thread's share of a row
  Image image;
};

void run_norm_chain(Stream stream, const NormChain& chain);

}  // namespace trainscope::kernels
