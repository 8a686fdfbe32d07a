// A run that asks for the work of many GPUs and gets that of one says so.

#include "analysis/caveats/gpu_caveat.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"

using namespace trainscope;

namespace {

std::string caveat(std::initializer_list<const char*> settings) {
  program::Config config;
  config.set_text("steps=2");
  for (const char* setting : settings) config.set_text(setting);
  return analysis::run_config("A", config).caveat;
}

}  // namespace

TEST_CASE("a strategy without a number of ranks says that one GPU of the machine's works") {
  const std::string said = caveat({"machine=h200-8", "workload=train", "parallel.strategy=ddp"});
  CHECK_THAT(said, Catch::Contains("one of the machine's 8 GPUs") &&
                       Catch::Contains("set parallel.world_size to 8"));
  CHECK(caveat({"machine=h200-8", "workload=train", "parallel.strategy=ddp",
                "parallel.world_size=1"}) == "");
  CHECK(caveat({"machine=h200-8", "workload=train", "parallel.strategy=ddp",
                "parallel.world_size=8"}) == "");
  CHECK(caveat({"machine=h200-8", "workload=train"}) == "");
  CHECK(caveat({"machine=h200-1", "workload=train", "parallel.strategy=ddp"}) == "");
}

TEST_CASE("a collective of one rank says that it moves nothing") {
  CHECK_THAT(caveat({"machine=h200-1", "workload=collective"}), Catch::Contains("moves nothing"));
  CHECK(caveat({"machine=h200-8", "workload=collective"}) == "");
}

TEST_CASE("TF32 asked of a GPU that has none says that it computes in FP32") {
  CHECK_THAT(caveat({"machine=v100-sxm-1", "workload=train", "precision=tf32"}),
             Catch::Contains("no units for TF32") && Catch::EndsWith("computes in FP32"));
  CHECK(caveat({"machine=v100-sxm-1", "workload=train", "precision=tf32",
                "matmul.allow_tf32=false"}) == "");
  CHECK_THAT(caveat({"machine=v100-sxm-1", "workload=train", "matmul.allow_tf32=true"}),
             Catch::Contains("TF32"));
  CHECK_THAT(caveat({"machine=t4-1", "workload=gemm", "gemm.type=tf32"}),
             Catch::Contains("no units for TF32"));
  CHECK(caveat({"machine=h200-1", "workload=gemm", "gemm.type=tf32"}) == "");
  CHECK(caveat({"machine=v100-sxm-1", "workload=train"}) == "");
  CHECK(caveat({"machine=h200-1", "workload=train", "precision=tf32"}) == "");
}

TEST_CASE("flash attention where PyTorch has no such kernel says which one takes its place") {
  const auto flash = [](const char* machine, const char* type, const char* model = "gpt-mini") {
    program::Config config;
    for (const std::string& setting :
         {std::string("attention.kernel=flash"), std::string("machine=") + machine,
          std::string("model.name=") + model, std::string(type)})
      config.set_text(setting);
    return analysis::gpu_caveat(config, machine::load_machine(machine));
  };
  for (const char* type : {"precision=fp32", "precision=tf32", "matmul.allow_tf32=true"})
    CHECK_THAT(flash("h200-1", type), Catch::Contains("for FP32: its memory-efficient one"));
  for (const char* type : {"precision=bf16", "autocast.dtype=fp16", "model.dtype=fp16"})
    CHECK(flash("h200-1", type) == "");
  CHECK_THAT(flash("t4-1", "precision=fp16"), Catch::Contains("below 8.0"));
  CHECK_THAT(flash("v100-sxm-1", "precision=fp32"), Catch::Contains("below 8.0"));
  CHECK(flash("h200-1", "precision=fp32", "mlp") == "");
  CHECK(flash("t4-1", "device=cpu") == "");
}

TEST_CASE(
    "chunks asked of collectives that NCCL leaves to the switch are not there, and it is said") {
  CHECK_THAT(caveat({"machine=h100-sxm-8", "workload=collective", "collective.bytes=1 GiB",
                     "collective.expanded=true"}),
             Catch::Contains("NCCL chooses NVLS"));
  for (const char* with : {"collective.algorithm=ring", "machine=a100-sxm-8"})
    CHECK(caveat({"machine=h100-sxm-8", "workload=collective", "collective.bytes=1 GiB",
                  "collective.expanded=true", with}) == "");
}

TEST_CASE("a fused model with max pools says what Inductor keeps less of, others nothing") {
  for (const char* model : {"model.name=cnn", "model.name=resnet50"}) {
    CHECK_THAT(caveat({"workload=train", model, "compile.fuse=true"}),
               Catch::Contains("Inductor keeps one"));
    CHECK(caveat({"workload=train", model}) == "");
    CHECK(caveat({"workload=train", model, "compile.cuda_graph=true", "steps=3"}) == "");
  }
  CHECK(caveat({"workload=train", "model.name=gpt-mini", "compile.fuse=true"}) == "");
}

TEST_CASE(
    "where GPUs have nothing but PCIe, sums that are kept from it are not known, and it is said") {
  const auto of = [](const char* machine, const char* more = "seed=0") {
    return caveat({machine, "workload=collective", "collective.p2p=false", more});
  };
  for (const char* machine : {"machine=l40s-2", "machine=l40s-4"}) {
    CHECK_THAT(of(machine), Catch::Contains("collective.p2p changes nothing here"));
    CHECK(caveat({machine, "workload=collective"}) == "");
  }
  CHECK(of("machine=h100-sxm-8") == "");
}
