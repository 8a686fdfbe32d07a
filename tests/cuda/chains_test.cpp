// Which fused kernels of real programs are one kernel on a device.

#include "cuda/device/chains.h"

#include <catch2/catch.hpp>

#include "program/config.h"
#include "train/build.h"

using namespace trainscope;

namespace {

// The operation with operands of the right sizes, and no memory.
cuda::KernelCall call_of(const program::Program& program, const program::Operation& operation) {
  cuda::KernelCall call;
  call.operation = &operation;
  const auto operand = [&](program::Index i) {
    const program::Buffer& buffer = program.buffers[i];
    return cuda::Operand{nullptr, buffer.elements(), buffer.type};
  };
  for (const program::Index i : operation.reads) call.reads.push_back(operand(i));
  for (const program::Index i : operation.writes) call.writes.push_back(operand(i));
  for (const program::Operation& part : operation.parts)
    call.parts.push_back(call_of(program, part));
  return call;
}

struct Counts {
  int fused = 0;
  int chains = 0;
};

Counts counts_of(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  const program::Program program = train::build_program(config, train::machine_of(config));
  Counts counts;
  for (const program::Operation& operation : program.operations) {
    if (operation.parts.empty()) continue;
    ++counts.fused;
    const auto chain = cuda::chain_of(call_of(program, operation));
    if (!chain) continue;
    ++counts.chains;
    CHECK(static_cast<std::size_t>(chain->step_count) == operation.parts.size());
    CHECK(static_cast<std::size_t>(chain->write_count) == operation.writes.size());
    CHECK(static_cast<std::size_t>(chain->read_count) <= operation.reads.size());
  }
  return counts;
}

}  // namespace

TEST_CASE("fused activations, sums and casts are one chain; what sums over rows is not") {
  const Counts mlp = counts_of({"workload=train", "model.name=mlp", "compile.fuse=true"});
  CHECK(mlp.chains > 0);
  const Counts gpt = counts_of({"workload=train", "model.name=gpt-mini", "compile.fuse=true",
                                "precision=fp16", "scaler.enabled=true"});
  CHECK(gpt.chains > 0);
  CHECK(gpt.chains < gpt.fused);
}
