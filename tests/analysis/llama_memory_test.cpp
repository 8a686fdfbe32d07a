// What Llamas need of a GPU's memory, beside what is known of it.

#include <catch2/catch.hpp>
#include <string>

#include "analysis/advice/memory_fit.h"
#include "machine/machine.h"
#include "support/built_program.h"
#include "train/model/models.h"

using namespace trainscope;
using program::Role;
using test::Settings;
using test::with;

namespace {

const Settings kCommon{"steps=2", "loop.evaluate=false", "optimizer.name=adamw"};

bool fits(const Settings& settings) {
  const program::Config config = test::config_of(with(kCommon, settings));
  const machine::Machine machine = train::machine_of(config);
  return analysis::fits(train::build_program(config, machine), machine::room_of_allocator(machine));
}

}  // namespace

// ZeRO (arXiv:1910.02054, section 3.1) counts 16 bytes a parameter of mixed precision: 2 and 2 in
// 16 bits, and 12 of the optimizer in FP32. FSDP keeps its parts in FP32: 4 of weights, 4 of
// gradients, 8 of Adam's moments.
TEST_CASE("Llama 2 7B with AdamW is 16 bytes a parameter, shared out by FSDP") {
  constexpr std::int64_t kRanks = 8;
  const program::Program program = test::program_of(
      with(kCommon, {"model.name=llama-2-7b", "machine=h100-sxm-8", "parallel.strategy=fsdp",
                     "parallel.world_size=8", "fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32",
                     "model.seq_len=128", "batch_size=1", "attention.kernel=flash"}));
  const analysis::MemoryNeed need = analysis::memory_need(program);
  const auto of = [&](Role role) {
    return static_cast<double>(need.by_role[static_cast<std::size_t>(role)]);
  };
  // A hundredth more: a unit that is gathered at the peak, and blocks that are rounded up.
  const double parameters = 6'738'415'616;
  const double bytes =
      kRanks * (of(Role::kParameter) + of(Role::kGradient) + of(Role::kOptimizerState));
  CHECK(bytes >= 16 * parameters);
  CHECK(bytes <= 1.01 * 16 * parameters);
}

TEST_CASE("Llama 3 8B fits eight GPUs of 80 GB with FSDP, and Llama 2 7B none in FP32 alone") {
  CHECK(fits({"model.name=llama-3-8b", "machine=h100-sxm-8", "parallel.strategy=fsdp",
              "parallel.world_size=8", "fsdp.param_dtype=bf16", "model.seq_len=2048",
              "batch_size=1", "attention.kernel=flash"}));
  CHECK_FALSE(
      fits({"model.name=llama-2-7b", "machine=h100-sxm-8", "model.seq_len=128", "batch_size=1"}));
}
