// A chain of steps, value by value, in one kernel: what torch.compile fuses, interpreted. Each
// thread reads its values once, carries the steps out in registers and writes what is left: what
// lies between two steps never reaches memory. CPU reference: the steps' own (host/elementwise.h,
// host/relu.h, host/gelu.h), one after another.
//
// Arithmetic is FP32; a step's result is rounded to the type that its buffer would have, so that
// the numbers are those of the steps one by one: the same bits as elementwise.h and activation.h
// give. Reading the steps costs instructions that compiled code would not have.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace trainscope::kernels {

enum class NumberType : std::uint8_t { kFp32, kFp16, kBf16 };

// Slopes read the forward's value first, then dy: ReLU's may be its result.
enum class ChainAction : std::uint8_t {
  kMove,     // a
  kAdd,      // a + b
  kScale,    // factor · a
  kScaleBy,  // factor · a · b
  kFill,     // factor
  kRelu,
  kReluSlope,
  kGeluErf,
  kGeluErfSlope,
  kGeluTanh,
  kGeluTanhSlope
};

inline constexpr int kMostChainOperands = 16;
inline constexpr int kMostChainSteps = 24;
inline constexpr int kChainRegisters = kMostChainOperands + kMostChainSteps;

struct ChainStep {
  ChainAction action = ChainAction::kMove;
  NumberType type = NumberType::kFp32;    // that the result is rounded to
  std::uint8_t a = 0, b = 0, result = 0;  // registers
  float factor = 1;
};

struct ChainOperand {
  void* memory = nullptr;
  NumberType type = NumberType::kFp32;
  std::uint8_t place = 0;  // a register
  bool single = false;     // one number for all values; only read
};

struct Chain {
  ChainOperand reads[kMostChainOperands];
  ChainOperand writes[kMostChainOperands];
  ChainStep steps[kMostChainSteps];
  int read_count = 0;
  int write_count = 0;
  int step_count = 0;
  std::size_t values = 0;
};

void run_chain(Stream stream, const Chain& chain);

}  // namespace trainscope::kernels
