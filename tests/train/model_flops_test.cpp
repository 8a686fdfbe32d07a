// The arithmetic that MFU counts.
#include "train/model/model_flops.h"

#include <catch2/catch.hpp>

#include "support/built_program.h"

using namespace trainscope;
using namespace trainscope::train;
using test::Settings;
using test::with;

namespace {

const Settings kCommon{"machine=h200-8", "steps=3", "loop.evaluate=false"};

program::Program program_of(const Settings& model, const Settings& how) {
  return test::program_of(with(with(kCommon, model), how));
}

Settings four(const char* strategy, const char* batch) {
  return {std::string("parallel.strategy=") + strategy, "parallel.world_size=4", batch};
}

const Settings kMlp{"model.name=mlp", "model.layers=5", "model.hidden=64"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",
                    "model.blocks=4",      "model.heads=4",  "model.seq_len=16"};
const Settings kGpt2{"model.name=gpt2-large", "model.seq_len=64"};

}  // namespace

TEST_CASE("a batch asks for the same arithmetic of a model, whatever it is trained by") {
  const Settings pipeline{"parallel.strategy=pipeline", "parallel.world_size=4", "batch_size=16",
                          "pipeline.microbatches=4"};
  Settings mesh = four("fsdp", "batch_size=8");
  mesh.emplace_back("tensor.degree=2");
  for (const Settings& model : {kMlp, kGpt, kGpt2}) {
    const program::Program alone = program_of(model, {"batch_size=16"});
    REQUIRE(alone.model_flops > 0);
    CHECK(alone.gpus == 1);
    for (const Settings& how : {Settings{"batch_size=4", "accumulate_steps=4"},
                                {"batch_size=16", "precision=bf16"},
                                {"batch_size=16", "checkpoint.enabled=true"},
                                {"batch_size=16", "optimizer.name=sgd"},
                                {"batch_size=16", "model.dtype=bf16"},
                                four("dp", "batch_size=16"),
                                four("ddp", "batch_size=4"),
                                four("fsdp", "batch_size=4"),
                                four("tensor", "batch_size=16"),
                                mesh,
                                pipeline}) {
      INFO(model[0] << ", " << how[0] << ", " << how[1]);
      const program::Program program = program_of(model, how);
      CHECK(program.model_flops == Approx(alone.model_flops).epsilon(1e-12));
      CHECK(program.gpus == (how.size() > 2 ? 4 : 1));
      CHECK(program.step_flops > program.model_flops);
    }
  }
}

TEST_CASE("attention asks for the same arithmetic, whatever its kernel does") {
  const auto flops = [](const char* kernel) {
    return program_of(kGpt, {"batch_size=16", kernel}).model_flops;
  };
  CHECK(flops("attention.kernel=flash") == flops("attention.kernel=math"));
}

TEST_CASE("what a mask hides counts as FLOP of a step, too: HFU is no less than MFU") {
  const program::Program flash = program_of(kGpt2, {"batch_size=4", "attention.kernel=flash"});
  const program::Program math = program_of(kGpt2, {"batch_size=4", "attention.kernel=math"});
  CHECK(flash.step_flops > flash.model_flops);
  // A fifth product backward.
  CHECK(flash.step_flops > math.step_flops);
}

TEST_CASE("a weight is six operations a sample, but four where the input needs no gradient") {
  const program::Program mlp = program_of({"model.name=mlp-784-128-10"}, {"batch_size=32"});
  CHECK(mlp.model_flops == 32.0 * (4 * 784 * 128 + 6 * 128 * 10));
}

TEST_CASE("arithmetic grows with the samples of a step, not with what else is in it") {
  const auto flops = [](const char* batch) { return program_of(kGpt, {batch}).model_flops; };
  CHECK(flops("batch_size=32") == 2 * flops("batch_size=16"));
  CHECK(program_of({"workload=gemm"}, {}).model_flops ==
        program_of({"workload=gemm"}, {}).step_flops);
}
