// Llama's functions on an emulated device: what the CPU computes, and part after part where they
// are fused, for chains have no steps for them.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "cuda/device/chains.h"
#include "cuda/fused_calls.h"
#include "host/interpreter.h"

using namespace trainscope;
using program::Index;
using program::Part;
using program::Program;

namespace {

std::vector<Index> add_buffers(Program& program, const std::vector<std::int64_t>& sizes) {
  std::vector<Index> added;
  for (const std::int64_t elements : sizes) {
    program::Buffer buffer;
    buffer.name = "buffer";
    buffer.bytes = elements * program::size_of(buffer.type);
    program.buffers.push_back(buffer);
    added.push_back(static_cast<Index>(program.buffers.size() - 1));
  }
  return added;
}

program::Operation operation(const program::Function& function, std::vector<Index> reads,
                             std::vector<Index> writes) {
  program::Operation one;
  one.function = function;
  one.reads = std::move(reads);
  one.writes = std::move(writes);
  return one;
}

program::Operation fused(std::vector<program::Operation> parts) {
  program::Operation one;
  one.reads = parts.front().reads;
  one.writes = parts.back().writes;
  one.parts = std::move(parts);
  return one;
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// By the device's kernels, and on the CPU, from the same numbers.
void check(const program::Function& function, const std::vector<std::int64_t>& reads,
           const std::vector<std::int64_t>& writes) {
  Program program;
  const std::vector<Index> in = add_buffers(program, reads), out = add_buffers(program, writes);
  const program::Operation one = operation(function, in, out);
  const program::Operation alone = fused({one});
  const test::FusedMemory before(program, alone);
  host::Interpreter interpreter(program);
  for (const Index buffer : in) {
    const std::vector<float> values = floats(before.bytes(buffer));
    std::ranges::copy(values, interpreter.values(buffer).begin());
  }
  interpreter.run(one);
  const test::FusedMemory after = test::carried_out_in_parts(program, alone);
  for (const Index buffer : out) {
    const std::vector<float> values = floats(after.bytes(buffer));
    const host::Values expected = interpreter.values(buffer);
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == Approx(expected[i]).margin(2e-5));
    CHECK(floats(before.bytes(buffer)) != values);
  }
}

template <typename Function>
Function with(Function f, Part part) {
  f.part = part;
  return f;
}

}  // namespace

TEST_CASE("norms, rotations, products and SiLU of a device are the CPU's") {
  const program::RmsNorm norm{6, 20};
  check(norm, {120, 20}, {120, 6});
  check(with(norm, Part::kInputGradient), {120, 120, 20, 6}, {120});
  check(with(norm, Part::kWeightGradient), {120, 120, 6}, {20});
  program::Rotate rotation{2, 5, 3, 8};
  check(rotation, {240}, {240});
  rotation.back = true;
  check(rotation, {240}, {240});
  check(program::Product{50}, {50, 50}, {50});
  const program::Activation silu{program::ActivationKind::kSilu, 50};
  check(silu, {50}, {50});
  check(with(silu, Part::kInputGradient), {50, 50}, {50});
}

TEST_CASE("attention of heads that share keys is the CPU's, plain and flash") {
  for (const bool flash : {false, true}) {
    program::Attention f{2, 4, 6, 8, true, flash};
    f.packed = false;
    f.kv_heads = 2;
    const std::int64_t all = 2 * 6 * 4 * 8, shared = all / 2, kept = 2 * 4 * 6 * (flash ? 1 : 6);
    check(f, {all, shared, shared}, {all, kept});
    f.part = Part::kInputGradient;
    std::vector<std::int64_t> reads{all, all, shared, shared, kept};
    if (flash) reads.push_back(all);
    check(f, reads, {all, shared, shared});
  }
}

TEST_CASE("what chains have no steps for is carried out part after part where it is fused") {
  Program program;
  const auto b = add_buffers(program, {60, 60, 60, 60, 10, 60, 6, 60});
  const std::vector<program::Operation> all{
      fused({operation(program::Activation{program::ActivationKind::kSilu, 60}, {b[0]}, {b[1]}),
             operation(program::Product{60}, {b[1], b[2]}, {b[3]})}),
      fused({operation(program::Add{60}, {b[0], b[2]}, {b[1]}),
             operation(program::RmsNorm{6, 10}, {b[1], b[4]}, {b[5], b[6]})}),
      fused({operation(program::Add{60}, {b[0], b[2]}, {b[1]}),
             operation(program::Rotate{1, 5, 2, 6}, {b[1]}, {b[7]})})};
  for (const program::Operation& one : all) {
    CHECK_FALSE(cuda::fused_kernel(test::call_of(program, one, test::nowhere)));
    const test::FusedMemory together = test::carried_out_fused(program, one);
    const test::FusedMemory apart = test::carried_out_in_parts(program, one);
    for (const Index buffer : one.writes) CHECK(together.bytes(buffer) == apart.bytes(buffer));
    CHECK(together.bytes(one.writes[0]) != test::FusedMemory(program, one).bytes(one.writes[0]));
  }
}
