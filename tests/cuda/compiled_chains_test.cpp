// The texts that chains' kernels are compiled from, and that those kernels leave the bits of the
// parts one after another.

#include "cuda/device/compiled_chains.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>

#include "cuda/device/chain_text.h"
#include "cuda/emulated_device.h"
#include "cuda/fused_both_ways.h"
#include "cuda/fused_calls.h"
#include "cuda/kept_chains.h"

using namespace trainscope;
using namespace trainscope::test;
using Catch::Contains;
using kernels::ChainAction;
using kernels::NumberType;

namespace {

// Counts what it is asked for, and compiles nothing.
class Refusing : public cuda::ChainCompiler {
 public:
  std::unique_ptr<cuda::ChainModule> compile(const std::string&) override {
    ++asked;
    return nullptr;
  }
  int asked = 0;
};

kernels::Chain doubled(float factor) {
  kernels::Chain chain;
  chain.read_count = chain.write_count = chain.step_count = 1;
  chain.steps[0] = {ChainAction::kScale, NumberType::kFp16, 0, 0, 1, factor};
  chain.writes[0].place = 1;
  chain.values = 5;
  return chain;
}

// Each chain of the training once that is small; how many there are.
int check_kept(const std::vector<std::string>& settings) {
  KeptCompiler compiler;
  cuda::CompiledChains chains(compiler);
  const program::Program program = program_of(settings);
  std::set<std::string> seen;
  for (const program::Operation& operation : program.operations) {
    std::string texts;
    for (const auto& chain : cuda::chains_of(call_of(program, operation, nowhere)))
      texts += cuda::text_of(chain);
    if (texts.empty() || !is_small(program, operation) || !seen.insert(texts).second) continue;
    INFO(settings[0] << ", " << settings.back() << ":\n" << texts);
    const FusedMemory compiled = carried_out_fused(program, operation, &chains);
    const FusedMemory parts = carried_out_in_parts(program, operation);
    for (const program::Index buffer : operation.writes) {
      INFO("buffer " << program.buffers[buffer].name);
      CHECK(compiled.bytes(buffer) == parts.bytes(buffer));
    }
  }
  return static_cast<int>(seen.size());
}

}  // namespace

TEST_CASE("the text of a chain's kernel states its form, and numbers to the bit") {
  const std::string text = cuda::text_of(doubled(0.1F));
  CHECK_THAT(text, Contains("{ChainAction::kScale, NumberType::kFp16, 0, 0, 1, 0x1.99999ap-4F}"));
  CHECK_THAT(text, Contains("compiled_chain<kSteps, 8>(chain, packed);"));
  CHECK(cuda::entries_of(text) == std::vector<std::string>{"chain"});
  CHECK_THAT(cuda::text_of(doubled(HUGE_VALF)), Contains("__builtin_bit_cast(float, 0x7f800000U)"));
}

TEST_CASE("addresses, sizes and draws are no part of a text") {
  kernels::Chain other = doubled(2);
  float memory = 0;
  other.values = 77;
  other.drops[0].seed = 3;
  other.reads[0].memory = &memory;
  CHECK(cuda::text_of(other) == cuda::text_of(doubled(2)));
  CHECK(cuda::key_of(other) == cuda::key_of(doubled(2)));
  CHECK(cuda::key_of(other) != cuda::key_of(doubled(3)));
}

TEST_CASE("the chains of real models have the texts that are kept, and keys of their own") {
  const std::vector<std::string> texts = texts_of_trainings();
  if (std::getenv("TRAINSCOPE_KEEP_CHAINS")) keep_texts(texts);
  INFO("TRAINSCOPE_KEEP_CHAINS=1 writes them anew; build once more then");
  CHECK(texts == kept_texts());
  std::map<std::string, std::string> text_by_key;
  std::set<std::string> keyed;
  for (const auto& settings : kept_trainings()) {
    const program::Program program = program_of(settings);
    for (const program::Operation& operation : program.operations)
      for (const auto& chain : cuda::chains_of(call_of(program, operation, nowhere))) {
        const auto [found, is_new] = text_by_key.emplace(cuda::key_of(chain), cuda::text_of(chain));
        CHECK(found->second == cuda::text_of(chain));
        keyed.insert(found->second);
      }
  }
  CHECK(keyed.size() == text_by_key.size());
}

TEST_CASE("a compiled chain leaves the bits of its parts, in every kind that models have") {
  int chains = 0;
  for (const auto& settings : kept_trainings()) chains += check_kept(settings);
  CHECK(chains >= 30);
}

TEST_CASE("a form is compiled once, and one that fails is read instead") {
  Refusing compiler;
  cuda::CompiledChains chains(compiler);
  CHECK_FALSE(chains.launch(doubled(2), {}, nullptr));
  CHECK(compiler.asked == 0);
  chains.prepare(doubled(2));
  chains.prepare(doubled(2));
  CHECK(compiler.asked == 1);
  chains.prepare(doubled(3));
  CHECK(compiler.asked == 2);
  CHECK_FALSE(chains.launch(doubled(2), {}, nullptr));
}

// The emulated device always reads them; a real one's test is in tests/device.
TEST_CASE("fused operations are carried out both ways on a device") {
  EmulatedDevice device;
  const BothWays found = fused_both_ways(
      device, program_of({"model.name=gpt-mini", "batch_size=1", "model.width=8", "model.blocks=1",
                          "model.heads=2", "model.seq_len=5", "model.dropout=0.1"}));
  CHECK(found.operations > 5);
  CHECK(found.differing.empty());
}
