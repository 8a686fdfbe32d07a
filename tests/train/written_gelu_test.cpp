// GELU as GPT-2 writes it out in Hugging Face's library.

#include "train/kernels/written_gelu.h"

#include <catch2/catch.hpp>

#include "support/attention_launches.h"

using namespace trainscope;
using program::Phase;
using test::Launched;

namespace {

constexpr double kNumbers = 2.0 * 64 * 4 * 768;  // that are activated

program::Program gpt2(std::vector<std::string> more) {
  more.insert(more.begin(), {"model.name=gpt2", "data.name=tokens", "model.seq_len=64",
                             "batch_size=2", "steps=1"});
  const program::Config config = test::config_of(more);
  return train::build_program(config, train::machine_of(config));
}

// The first one's launches: those of the numbers' size up to the one that names it.
std::vector<Launched> gelu(const program::Program& program, Phase phase) {
  std::vector<Launched> launches;
  for (const Launched& one : test::launched(program, phase)) {
    const bool names = std::holds_alternative<program::Activation>(one.operation->function);
    const bool is_part = std::holds_alternative<std::monostate>(one.operation->function) &&
                         one.operation->m == static_cast<std::int64_t>(kNumbers);
    if (names || is_part) launches.push_back(one);
    if (names) break;
  }
  return launches;
}

double passes(const std::vector<Launched>& launches) {
  double bytes = 0;
  for (const Launched& one : launches) bytes += one.operation->bytes;
  return bytes / 4 / kNumbers;
}

const std::vector<std::string> kWritten{"model.gelu=written_out"};

}  // namespace

TEST_CASE("a GELU that is written out is eight kernels, and eleven backward") {
  CHECK(test::frameworks(gelu(gpt2(kWritten), Phase::kForward)) ==
        std::vector<std::string>{"aten::mul", "aten::pow", "aten::mul", "aten::add", "aten::mul",
                                 "aten::tanh", "aten::add", "aten::mul"});
  CHECK(gelu(gpt2(kWritten), Phase::kBackward).size() == 11);
  CHECK(gelu(gpt2({}), Phase::kForward).size() == 1);
  const program::Program compiled = gpt2({"model.gelu=written_out", "compile.fuse=true"});
  for (const Launched& one : test::launched(compiled, Phase::kForward))
    CHECK(one.operation->framework != "aten::tanh");
}

TEST_CASE("a GELU that is written out passes through its numbers nine times as often") {
  CHECK(passes(gelu(gpt2({}), Phase::kForward)) == Approx(2));
  CHECK(passes(gelu(gpt2(kWritten), Phase::kForward)) == Approx(18));
  CHECK(passes(gelu(gpt2({}), Phase::kBackward)) == Approx(3));
  CHECK(passes(gelu(gpt2(kWritten), Phase::kBackward)) == Approx(28));
}

TEST_CASE("written out or not, a GELU is the same function and the same work as one call") {
  const program::Program written = gpt2(kWritten), whole = gpt2({});
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    const program::Operation &last = *gelu(written, phase).back().operation,
                             &fused = *gelu(whole, phase).back().operation;
    CHECK(last.reads.size() == fused.reads.size());
    REQUIRE(last.as_one_call);
    CHECK(last.as_one_call->flops == fused.flops);
    CHECK(last.as_one_call->bytes == fused.bytes);
  }
}
