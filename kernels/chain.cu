#include "kernels/chain.h"

#include "kernels/activation.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

__device__ float load(const ChainOperand& from, std::size_t i) {
  const std::size_t at = from.single ? 0 : i;
  switch (from.type) {
    case NumberType::kFp16:
      return widen(static_cast<const Half*>(from.memory)[at]);
    case NumberType::kBf16:
      return widen(static_cast<const Bfloat16*>(from.memory)[at]);
    case NumberType::kFp32:
      break;
  }
  return static_cast<const float*>(from.memory)[at];
}

__device__ void store(const ChainOperand& to, std::size_t i, float value) {
  switch (to.type) {
    case NumberType::kFp16:
      static_cast<Half*>(to.memory)[i] = narrow<Half>(value);
      return;
    case NumberType::kBf16:
      static_cast<Bfloat16*>(to.memory)[i] = narrow<Bfloat16>(value);
      return;
    case NumberType::kFp32:
      static_cast<float*>(to.memory)[i] = value;
  }
}

__device__ float rounded(NumberType type, float value) {
  if (type == NumberType::kFp16) return widen(narrow<Half>(value));
  if (type == NumberType::kBf16) return widen(narrow<Bfloat16>(value));
  return value;
}

__device__ float result_of(const ChainStep& step, float a, float b) {
  switch (step.action) {
    case ChainAction::kMove:
      return a;
    case ChainAction::kAdd:
      return a + b;
    case ChainAction::kScale:
      return step.factor * a;
    case ChainAction::kScaleBy:
      return step.factor * b * a;
    case ChainAction::kFill:
      return step.factor;
    case ChainAction::kRelu:
      return Relu{}.value(a);
    case ChainAction::kReluSlope:
      return Relu{}.slope(a, b);
    case ChainAction::kGeluErf:
      return GeluErf{}.value(a);
    case ChainAction::kGeluErfSlope:
      return GeluErf{}.slope(a, b);
    case ChainAction::kGeluTanh:
      return GeluTanh{}.value(a);
    case ChainAction::kGeluTanhSlope:
      return GeluTanh{}.slope(a, b);
  }
  return 0;
}

__global__ void chain_kernel(Chain chain) {
  float registers[kChainRegisters] = {};
  for (std::size_t i = first_item(); i < chain.values; i += item_step()) {
    for (int k = 0; k < chain.read_count; ++k)
      registers[chain.reads[k].place] = load(chain.reads[k], i);
    for (int k = 0; k < chain.step_count; ++k) {
      const ChainStep& step = chain.steps[k];
      registers[step.result] =
          rounded(step.type, result_of(step, registers[step.a], registers[step.b]));
    }
    for (int k = 0; k < chain.write_count; ++k)
      store(chain.writes[k], i, registers[chain.writes[k].place]);
  }
}

}  // namespace

void run_chain(Stream stream, const Chain& chain) {
  if (chain.values == 0) return;
  launch("chain", chain_kernel, stream, shape_for(chain.values), chain);
}

}  // namespace trainscope::kernels
