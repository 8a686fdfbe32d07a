// What findings and their advice say of kernels: against runs whose kernels are known.
#include "analysis/causes/diagnosis.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/advice/advice.h"
#include "analysis/causes/explain.h"
#include "analysis/findings.h"

using namespace trainscope;
using namespace trainscope::analysis;
using namespace trainscope::test;

TEST_CASE("where kernels fill the step they are named by what limits them, and give no gain") {
  const Run run = run_of({"workload=train", "data.source=tensor", "steps=4", "model.hidden=16384",
                          "model.layers=3", "batch_size=8192"});
  const Finding finding = first_of(run);
  CHECK(finding.part == Part::kCompute);
  CHECK(finding.most_gain == 0);
  CHECK_THAT(finding.why, Catch::Contains("arithmetic limits"));
  CHECK_THAT(headline(finding), Catch::StartsWith("Kernels: "));
}

TEST_CASE("what limits kernels is a share of their time, not of a step that waits for sums") {
  const Run run =
      run_of({"workload=train", "machine=h200-8x2", "model.name=gpt-mini", "model.width=1024",
              "model.blocks=2", "model.heads=16", "model.seq_len=512", "precision=bf16",
              "attention.kernel=flash", "parallel.strategy=tensor", "parallel.world_size=16",
              "batch_size=16", "steps=3"});
  const auto value = [&](const char* metric) { return *value_of(run.metrics, metric); };
  // Of the step most has no kernel at work; of the kernels' time, memory limits most.
  REQUIRE(value("bound.overhead") > value("bound.compute") + value("bound.memory"));
  const double step = value("time.step");
  const double kernels =
      static_cast<double>(run.facts.partition[Part::kCompute]) / run.facts.measured.per();
  const double of_kernels = value("bound.memory") * step / kernels;
  CHECK(of_kernels > 0.5);
  Finding finding;
  finding.part = Part::kCompute;
  explain(run, finding, {}, {});
  CHECK_THAT(finding.why, Catch::StartsWith(std::to_string(std::lround(100 * of_kernels)) +
                                            " % of it in kernels that memory's bandwidth limits"));
}

TEST_CASE("attention in tiles is advised where there is such a kernel and it is not used") {
  const auto advice = [](std::vector<std::string> more) {
    std::vector<std::string> settings{"workload=train", "model.name=gpt2", "model.seq_len=1024",
                                      "batch_size=8",   "steps=2",         "compile.fuse=true"};
    settings.insert(settings.end(), more.begin(), more.end());
    return first_of(run_of(settings)).advice;
  };
  using Catch::Contains;
  CHECK_THAT(advice({"machine=a100-sxm-1", "precision=bf16"}), Contains("flash kernel"));
  CHECK_THAT(advice({"machine=a100-sxm-1", "precision=bf16", "attention.kernel=flash"}),
             !Contains("flash kernel"));
  CHECK_THAT(advice({"machine=v100-sxm-1", "precision=fp16", "scaler.enabled=true"}),
             !Contains("flash kernel"));
}

TEST_CASE("sides that tensor cores read badly are named, and only where there are some") {
  const auto advice = [](const char* hidden) {
    return first_of(run_of({"workload=train", "data.source=tensor", "steps=3", "model.layers=3",
                            "batch_size=4096", "precision=bf16", "machine=h200-1",
                            std::string("model.hidden=") + hidden}))
        .advice;
  };
  CHECK_THAT(advice("8193"), Catch::Contains("multiples of 8") && Catch::Contains("8193"));
  CHECK_THAT(advice("8192"), !Catch::Contains("8192"));
}

TEST_CASE("a product of odd rows is told as tensor cores that are badly fed, on every GPU") {
  const auto finding = [](const std::string& machine, const std::string& k) {
    return first_of(run_of({"workload=gemm", "machine=" + machine, "gemm.m=8192", "gemm.n=8192",
                            "gemm.k=" + k, "gemm.type=fp16", "steps=3"}));
  };
  for (const char* machine : {"v100-sxm-1", "t4-1", "a100-sxm-1", "h200-1", "b200-1"}) {
    CAPTURE(machine);
    const Finding odd = finding(machine, "8193"), even = finding(machine, "8192");
    CHECK_THAT(odd.why, Catch::Contains("feed tensor cores badly"));
    CHECK_THAT(odd.advice, Catch::Contains("multiples of 8") && Catch::Contains("8193"));
    CHECK_THAT(even.why, Catch::Contains("arithmetic") && !Catch::Contains("badly"));
    CHECK_THAT(even.advice, !Catch::Contains("multiples"));
    CHECK(odd.nanos > 1.2 * even.nanos);
  }
  // Two blocks leave the SMs idle, but odd rows are told all the same.
  const Run small =
      run_of({"workload=gemm", "gemm.m=100", "gemm.n=129", "gemm.k=257", "gemm.type=fp16"});
  CHECK_THAT(idle_units_advice(small, {}),
             Catch::Contains("more blocks") && Catch::Contains("129, 257"));
}

TEST_CASE("of products of odd rows it is told how long they take, among those that are not odd") {
  const Run run = run_of({"workload=train", "machine=h100-sxm-1", "model.name=gpt2-large",
                          "model.seq_len=512", "batch_size=8", "precision=bf16", "steps=3",
                          "attention.kernel=flash", "data.source=tensor"});
  const double odd = static_cast<double>(time_of_odd_products(run)) / run.facts.measured.per();
  const double step = *value_of(run.metrics, "time.step");
  CHECK(odd > 0.02 * step);
  CHECK(odd < 0.2 * step);
  CHECK(odd_sides(run) == "50257");
}

TEST_CASE("odd rows that torch.compile pads are nobody's to pad") {
  const std::vector<std::string> settings{
      "workload=train",    "machine=a100-sxm-1",     "model.name=gpt2",
      "model.seq_len=512", "batch_size=8",           "precision=bf16",
      "steps=3",           "attention.kernel=flash", "data.name=tokens"};
  std::vector<std::string> compiled = settings;
  compiled.push_back("compile.fuse=true");
  CHECK(odd_sides(run_of(settings)) == "50257");
  const Run run = run_of(compiled);
  CHECK(odd_sides(run).empty());
  CHECK(time_of_odd_products(run) == 0);
}

TEST_CASE("the window of a convolution is no size to choose") {
  const Finding first = first_of(run_of({"workload=train", "data.source=tensor", "steps=3",
                                         "model.name=resnet50", "batch_size=64", "precision=fp16",
                                         "scaler.enabled=true", "memory_format=channels_last"}));
  CHECK_THAT(first.advice, !Catch::Contains("147"));
}

TEST_CASE("of kernels that memory or few blocks limit, channels_last is advised to convolutions") {
  using Catch::Contains;
  const auto finding = [](std::vector<std::string> more) {
    std::vector<std::string> settings{"workload=train", "data.source=tensor", "steps=3",
                                      "precision=fp16", "scaler.enabled=true"};
    settings.insert(settings.end(), more.begin(), more.end());
    Finding first = first_of(run_of(settings));
    REQUIRE(first.part == Part::kCompute);
    return first;
  };
  // A block for each channel of a batch norm, and of first layers there are 64.
  const Run small = run_of({"workload=train", "data.source=tensor", "steps=3", "precision=fp16",
                            "scaler.enabled=true", "model.name=resnet18", "batch_size=64"});
  Finding few;
  few.part = Part::kCompute;
  explain(small, few, {}, {});
  CHECK_THAT(few.why, Contains("too few blocks"));
  CHECK_THAT(few.advice, Contains("channels_last") && Contains("larger batch"));
  const Finding pixels = finding({"model.name=resnet50", "batch_size=128"});
  CHECK_THAT(pixels.why, Contains("memory's bandwidth"));
  CHECK_THAT(pixels.advice, Contains("channels_last"));
  const Finding channels =
      finding({"model.name=resnet50", "batch_size=128", "memory_format=channels_last"});
  CHECK_THAT(channels.why, Contains("memory's bandwidth"));
  CHECK_THAT(channels.advice, !Contains("channels_last") && Contains("torch.compile"));
  const Finding wide =
      finding({"model.name=resnet50", "batch_size=128", "precision=fp32", "scaler.enabled=false"});
  CHECK_THAT(wide.why, Contains("memory's bandwidth"));
  CHECK_THAT(wide.advice, Contains("channels_last"));
  const Finding text = finding({"machine=v100-sxm-1", "model.name=gpt2", "batch_size=8"});
  CHECK_THAT(text.why, Contains("memory's bandwidth"));
  CHECK_THAT(text.advice, !Contains("channels_last") && !Contains("narrower"));
}

// On GPUs without NVLink, where sums take as long as a backward.

TEST_CASE("of a kernel that latency limits, the knobs that bring more in flight are advised") {
  using Catch::Contains;
  const auto of = [](std::vector<std::string> more) {
    std::vector<std::string> settings{"workload=kernel", "kernel.grid=20000",
                                      "kernel.bytes_per_thread=400"};
    settings.insert(settings.end(), more.begin(), more.end());
    return run_of(settings);
  };
  const std::vector<std::string> registers{"kernel.block=1024", "kernel.registers=33",
                                           "kernel.flops_per_thread=10"};
  const Finding cliff = first_of(of(registers));
  CHECK_THAT(cliff.why,
             Contains("latency limits") && Contains("32 of 64 warps") && Contains("registers"));
  CHECK_THAT(cliff.advice, Contains("kernel.ilp=") && Contains("kernel.registers=32)") &&
                               !Contains("faster memory"));
  // What is advised helps.
  const auto step = [](const Run& run) { return *value_of(run.metrics, "time.step"); };
  const double before = step(of(registers));
  CHECK(before >
        1.5 * step(of({"kernel.block=1024", "kernel.registers=32", "kernel.flops_per_thread=10"})));
  CHECK(before > 1.2 * step(of({"kernel.block=512", "kernel.registers=33", "kernel.grid=40000",
                                "kernel.flops_per_thread=10"})));
  const Finding shared =
      first_of(of({"machine=a100-sxm-1", "kernel.block=128", "kernel.shared_bytes=100KiB"}));
  CHECK_THAT(shared.why, Contains("latency limits") && Contains("shared memory"));
  CHECK_THAT(shared.advice, Contains("kernel.ilp=16") && Contains("kernel.shared_bytes=") &&
                                !Contains("more blocks, or"));
  const Finding enough = first_of(of({"kernel.block=1024", "kernel.ilp=8"}));
  CHECK_THAT(enough.why, Contains("memory's bandwidth limits"));
  CHECK_THAT(enough.advice, Contains("faster memory"));
}

TEST_CASE("SMs that stand without a block are named, with the grid that fills them") {
  using Catch::Contains;
  const auto of = [](const char* grid, const char* registers) {
    return first_of(
        run_of({"workload=kernel", "machine=a100-sxm-1", "kernel.block=1024",
                "kernel.flops_per_thread=100000", "kernel.bytes_per_thread=0", grid, registers}));
  };
  const Finding tail = of("kernel.grid=109", "kernel.registers=64");
  CHECK_THAT(tail.why, Contains("49.5 %") && Contains("in the last wave 107 of 108 have none"));
  CHECK_THAT(tail.advice, Contains("kernel.grid=108"));
  const Finding one = of("kernel.grid=109", "kernel.registers=32");
  CHECK_THAT(one.why, Contains("1 of 108 has 2 at the end, the others have 1"));
  CHECK_THAT(of("kernel.grid=108", "kernel.registers=64").why, !Contains("without a block"));
}
