// A chain of steps, value by value, in one kernel: what torch.compile fuses, interpreted. Each
// thread reads some values at once, carries the steps out in registers of its own and writes what
// is left: what lies between two steps never reaches memory. CPU reference: the steps' own
// (host/elementwise.h, host/relu.h, host/gelu.h, host/tanh.h), one after another. With layer norms
// between its steps: norm_chain.h; with sums down columns behind them: column_chain.h.
//
// Arithmetic is FP32; a step's result is rounded to the type that its buffer would have, so that
// the numbers are those of the steps one by one: the same bits as elementwise.h and activation.h
// give. Reading a step costs instructions that compiled code would not have, once for all values
// that a thread carries.
#pragma once

#include <cstdint>

#include "kernels/divisor.cuh"
#include "kernels/dropout.h"
#include "kernels/max_pool.h"

namespace trainscope::kernels {

enum class NumberType : std::uint8_t { kFp32, kFp16, kBf16 };

// Slopes read the forward's value first, then dy: ReLU's may be its result, tanh's is.
enum class ChainAction : std::uint8_t {
  kMove,     // a
  kAdd,      // a + b
  kScale,    // factor · a
  kScaleBy,  // factor · a · b
  kFill,     // factor
  kDrop,     // a, factor times as large, where its draw of drops[b] keeps it
  kRelu,
  kReluSlope,
  kGeluErf,
  kGeluErfSlope,
  kGeluTanh,
  kGeluTanhSlope,
  kTanh,
  kTanhSlope
};

// Where the number lies that value i is computed from.
enum class ChainFrom : std::uint8_t {
  kEach,      // at i
  kSingle,    // at 0
  kRepeated,  // at i modulo `extent`: a row for all rows, the positions of each sequence
  kRowOf,     // in the row, of `extent` numbers, of a table of `rows`, that index[i / extent] tells
  kMaxPool,   // the gradient of max-pooling, `index` being what it chose: by the chain's pool
  kAveragePool  // the gradient of average pooling of the pool's input
};

inline constexpr int kMostChainOperands = 16;
inline constexpr int kMostChainSteps = 24;
inline constexpr int kMostDrops = 4;
inline constexpr int kMostChainNorms = 2;  // norm_chain.h
inline constexpr int kChainRegisters = kMostChainOperands + kMostChainSteps + kMostChainNorms;

struct ChainStep {
  ChainAction action = ChainAction::kMove;
  NumberType type = NumberType::kFp32;    // that the result is rounded to
  std::uint8_t a = 0, b = 0, result = 0;  // registers
  float factor = 1;
};

struct ChainRead {
  const void* memory = nullptr;
  NumberType type = NumberType::kFp32;
  std::uint8_t place = 0;  // a register
  ChainFrom from = ChainFrom::kEach;
  Divisor extent{0};
  std::size_t rows = 0;
  const void* index = nullptr;
  // What is repeated, or a row of the table, is a multiple of 8 long: values side by side are so
  // there as well.
  bool in_eights = false;
};

struct ChainWrite {
  void* memory = nullptr;
  NumberType type = NumberType::kFp32;
  std::uint8_t place = 0;
};

struct Chain {
  ChainRead reads[kMostChainOperands];
  ChainWrite writes[kMostChainOperands];
  ChainStep steps[kMostChainSteps];
  Dropout drops[kMostDrops];
  MaxPool pool;
  int read_count = 0;
  int write_count = 0;
  int step_count = 0;
  int drop_count = 0;
  std::size_t values = 0;
};

void run_chain(Stream stream, const Chain& chain);

}  // namespace trainscope::kernels
