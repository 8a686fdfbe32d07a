#include "cuda/fused_calls.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "base/random.h"
#include "cuda/device/compiled_chains.h"
#include "cuda/device/shapes.h"
#include "host/float_types.h"
#include "program/config.h"
#include "train/build.h"

namespace trainscope::test {
namespace {

using program::Index;

class NoProducts : public cuda::Products {
 public:
  void multiply(const cuda::Product&, kernels::Stream) override { FAIL("no part is a product"); }
};

// launch(call) for the operation, with its memory.
template <typename Launch>
FusedMemory carried_out(const program::Program& program, const program::Operation& operation,
                        const Launch& launch) {
  FusedMemory memory(program, operation);
  cuda::KernelCall call =
      call_of(program, operation, [&](Index buffer) { return memory.at(buffer); });
  std::vector<float> room(static_cast<std::size_t>(cuda::room_of(call)) + 1);
  call.room = room.data();
  for (cuda::KernelCall& part : call.parts) part.room = room.data();
  launch(call);
  return memory;
}

constexpr kernels::Stream kStream{3};

}  // namespace

program::Program program_of(const std::vector<std::string>& settings) {
  program::Config config;
  config.set_text("workload=train");
  config.set_text("compile.fuse=true");
  for (const std::string& setting : settings) config.set_text(setting);
  return train::build_program(config, train::machine_of(config));
}

cuda::KernelCall call_of(const program::Program& program, const program::Operation& operation,
                         const Place& place) {
  cuda::KernelCall call;
  call.operation = &operation;
  call.seed = 11;
  call.draws_from = 7;
  const auto operand = [&](Index i) {
    const program::Buffer& buffer = program.buffers[i];
    return cuda::Operand{place(i), buffer.elements(), buffer.type};
  };
  for (const Index i : operation.reads) call.reads.push_back(operand(i));
  for (const Index i : operation.writes) call.writes.push_back(operand(i));
  for (const program::Operation& part : operation.parts)
    call.parts.push_back(call_of(program, part, place));
  return call;
}

template <typename T>
void FusedMemory::put(Index buffer, std::size_t i, T value) {
  std::memcpy(memory_.at(buffer).data() + i * sizeof(T), &value, sizeof(T));
}

FusedMemory::FusedMemory(const program::Program& program, const program::Operation& operation)
    : program_(program) {
  for (const program::Operation& part : operation.parts) {
    for (const auto* list : {&part.reads, &part.writes})
      for (const Index buffer : *list) fill(buffer);
    std::visit([&](const auto& f) { fill_for(f, part); }, part.function);
  }
}

void FusedMemory::fill(Index buffer) {
  const program::Buffer& shape = program_.buffers[buffer];
  auto& memory = memory_[buffer];
  if (!memory.empty()) return;
  memory.resize(static_cast<std::size_t>(shape.bytes));
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.elements()); ++i) {
    const float value = 2 * unit_float(random_word(buffer, i)) - 1;
    if (shape.type == program::ElementType::kFp32) put(buffer, i, value);
    if (shape.type == program::ElementType::kFp16) put(buffer, i, host::to_float16(value));
    if (shape.type == program::ElementType::kBf16) put(buffer, i, host::to_bfloat16(value));
  }
}

void FusedMemory::fill_for(const program::Embedding& f, const program::Operation& part) {
  const Index tokens = part.reads[f.part == program::Part::kForward ? 0 : 1];
  for (std::int64_t t = 0; t < f.tokens; ++t)
    put(tokens, cuda::size(t), static_cast<std::int64_t>(t * 7 % f.vocabulary));
}

void FusedMemory::fill_for(const program::BatchNorm& f, const program::Operation& part) {
  if (f.part != program::Part::kForward) return;
  for (std::int64_t c = 0; c < f.channels; ++c)
    put(part.reads[4], cuda::size(c), 0.5F + static_cast<float>(c % 3));
}

// Each window has chosen its middle, which the next may have too.
void FusedMemory::fill_for(const program::MaxPooling& f, const program::Operation& part) {
  if (f.part == program::Part::kForward) return;
  const kernels::Image output = cuda::pool_of(f).output();
  for (std::size_t i = 0; i < output.size(); ++i) {
    const int pixel = kernels::place_in(output, i).pixel;
    const auto middle = [&](int place, std::int64_t length) {
      const std::int64_t at = place * f.stride - f.padding + f.kernel / 2;
      return std::min(at, length - 1);
    };
    const auto line = middle(pixel / output.width, f.height);
    const auto column = middle(pixel % output.width, f.width);
    put(part.reads[1], i, static_cast<std::int32_t>(line * f.width + column));
  }
}

FusedMemory carried_out_fused(const program::Program& program, const program::Operation& operation,
                              cuda::CompiledChains* chains) {
  return carried_out(program, operation, [&](const cuda::KernelCall& call) {
    NoProducts products;
    if (chains) cuda::prepare_operation(call, *chains);
    cuda::launch_operation(call, kStream, {products, nullptr, chains}, {});
  });
}

FusedMemory carried_out_in_parts(const program::Program& program,
                                 const program::Operation& operation) {
  return carried_out(program, operation, [&](const cuda::KernelCall& call) {
    NoProducts products;
    for (const cuda::KernelCall& part : call.parts)
      cuda::launch_operation(part, kStream, {products}, {});
  });
}

bool is_small(const program::Program& program, const program::Operation& operation) {
  constexpr std::int64_t kMostValues = 110'000, kMostChannels = 128;
  for (const program::Operation& part : operation.parts) {
    const auto* norm = std::get_if<program::BatchNorm>(&part.function);
    if (norm && norm->channels > kMostChannels) return false;
    for (const Index buffer : part.writes)
      if (program.buffers[buffer].elements() > kMostValues) return false;
  }
  return true;
}

}  // namespace trainscope::test
