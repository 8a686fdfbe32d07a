// The roofline of whole runs: what kernels and steps are bound by.
#include "analysis/views/roofline.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using analysis::Roofline;
using analysis::Run;
using machine::Bound;
using test::Settings;
using test::value;

namespace {

Run run(const Settings& settings) {
  return analysis::run_config("A", test::config_of(settings));
}

Roofline roofline_of(const Run& run) {
  return analysis::roofline(analysis::measure(*run.trace, run.program.get(), run.machine.get()));
}

Run product(const char* m, const char* machine = "machine=v100-sxm-1") {
  return run({"workload=gemm", machine, "gemm.n=4096", "gemm.k=1024", "gemm.type=fp16", m});
}

Run reader(const std::string& footprint, const char* machine = "machine=a100-sxm-1") {
  return run({"workload=kernel", machine, "kernel.grid=20000", "kernel.block=1024",
              "kernel.bytes_per_thread=400", "kernel.flops_per_thread=10", "kernel.ilp=8",
              "kernel.footprint=" + footprint});
}

}  // namespace

TEST_CASE("the intensity of a linear layer in FP16 is that of the background guide") {
  CHECK(value(product("gemm.m=512"), "roofline.intensity") == Approx(315).epsilon(0.001));
  CHECK(value(product("gemm.m=1"), "roofline.intensity") == Approx(1).epsilon(0.002));
  CHECK(value(product("gemm.m=512"), "roofline.ridge") == Approx(139).epsilon(0.002));
}

TEST_CASE("what binds a kernel: its arithmetic, its traffic, or neither") {
  const auto shares = [](const Run& run) {
    return value(run, "bound.compute") + value(run, "bound.memory") + value(run, "bound.latency") +
           value(run, "bound.overhead");
  };
  const Run large = run({"workload=gemm", "gemm.m=8192", "gemm.n=8192", "gemm.k=8192"});
  const Run thin = run({"workload=gemm", "gemm.m=1", "gemm.n=16384", "gemm.k=16384"});
  const Run tiny = run({"workload=gemm", "gemm.m=64", "gemm.n=64", "gemm.k=64"});
  CHECK(value(large, "bound.compute") > 0.9);
  CHECK(value(thin, "bound.memory") > 0.8);
  CHECK(value(tiny, "bound.overhead") == 1);
  for (const Run* one : {&large, &thin, &tiny}) CHECK(shares(*one) == Approx(1));
  const Roofline roofline = roofline_of(large);
  REQUIRE(roofline.kernels.size() == 1);
  CHECK(roofline.bound() == Bound::kCompute);
  CHECK(roofline.kernels[0].regime.arithmetic > 0.9);
  CHECK(roofline.kernels[0].regime.arithmetic <= 1);
}

TEST_CASE("no kernel of a training step is above its roofs, and the longest come first") {
  for (const char* model : {"model.name=resnet50", "model.name=gpt2"})
    for (const char* precision : {"precision=fp32", "precision=fp16"}) {
      const Run trained = run({model, precision, "steps=2", "batch_size=8"});
      const Roofline roofline = roofline_of(trained);
      INFO(model << ", " << precision);
      CHECK(roofline.unknown == 0);
      REQUIRE(roofline.kernels.size() > 10);
      Nanos last = roofline.kernels.front().time, all = 0;
      for (const analysis::RooflineKernel& kernel : roofline.kernels) {
        INFO(kernel.name);
        CHECK(kernel.regime.explained() <= 1.001);
        CHECK(kernel.time <= last);
        last = kernel.time;
        all += kernel.time;
      }
      const analysis::Measured measured =
          analysis::measure(*trained.trace, trained.program.get(), trained.machine.get());
      CHECK(all == measured.kernels.length());  // one stream
    }
}

TEST_CASE("a larger batch takes a step from overhead to arithmetic") {
  const Run small =
      run({"model.name=gpt2", "precision=fp16", "steps=2", "batch_size=1", "model.seq_len=16"});
  // In the math backend of attention masks move number by number, which is neither.
  const Run large = run({"model.name=gpt2", "model.dtype=bf16", "steps=2", "batch_size=16",
                         "model.seq_len=1024", "attention.kernel=flash"});
  CHECK(roofline_of(small).bound() == Bound::kOverhead);
  CHECK(value(large, "bound.overhead") < 0.1);
  CHECK(value(large, "bound.compute") > 0.3);
}

TEST_CASE("what fits L2 is read at its bandwidth, and what does not at memory's") {
  const double traffic = 20000.0 * 1024 * 400;
  for (const char* machine : {"machine=v100-sxm-1", "machine=a100-sxm-1", "machine=h200-1",
                              "machine=rtx4090-1", "machine=t4-1"}) {
    INFO(machine);
    const Run fits = reader("4 MiB", machine), streams = reader("4 GiB", machine);
    const machine::Gpu& gpu = fits.machine->gpu;
    const auto near = [&](const Run& one, double peak) {
      const analysis::RooflineKernel kernel = roofline_of(one).kernels.at(0);
      CHECK(traffic / kernel.nanos * 1e9 == Approx(peak * gpu.memory_efficiency).epsilon(0.02));
      CHECK(kernel.regime.bound == Bound::kMemory);
    };
    near(fits, gpu.l2_bytes_per_s);
    near(streams, gpu.memory_bytes_per_s);
    CHECK(roofline_of(fits).kernels.at(0).work.device_bytes == 0);
  }
}

TEST_CASE("a kernel takes longer the more its footprint outgrows L2") {
  double last = 0;
  for (const char* footprint : {"1 MiB", "40 MiB", "48 MiB", "64 MiB", "128 MiB", "1 GiB"}) {
    const double step = value(reader(footprint), "time.step");
    INFO(footprint);
    CHECK(step >= last);
    last = step;
  }
  CHECK(value(reader("40 MiB"), "time.step") == value(reader("1 MiB"), "time.step"));
}

TEST_CASE(
    "BF16 outside the tensor cores is half as fast as FP16 on an A100, and as fast on an H100") {
  const auto time = [](const char* machine, const char* type) {
    return value(run({"workload=kernel", machine, type, "kernel.flops_per_thread=200000",
                      "kernel.ilp=4", "kernel.grid=8192"}),
                 "time.step");
  };
  CHECK(time("machine=a100-sxm-1", "kernel.type=bf16") ==
        Approx(2 * time("machine=a100-sxm-1", "kernel.type=fp16")).epsilon(0.01));
  CHECK(time("machine=h100-sxm-1", "kernel.type=bf16") ==
        Approx(time("machine=h100-sxm-1", "kernel.type=fp16")).epsilon(0.01));
}

TEST_CASE("kernels of a given length, and of a file, are not on the roofline") {
  const Run launches = run({"workload=launch", "steps=2"});
  CHECK_FALSE(roofline_of(launches).known());
  CHECK(roofline_of(launches).unknown > 0);
  CHECK_FALSE(analysis::value_of(launches.metrics, "bound.compute"));
  const Run gemm = run({"workload=gemm", "steps=2"});
  const analysis::Measured of_file = analysis::measure(*gemm.trace, nullptr, nullptr);
  const Roofline told = analysis::roofline(of_file);  // as in a file that Trainscope wrote
  REQUIRE(told.kernels.size() == 1);
  CHECK(told.kernels[0].work.intensity() == Approx(value(gemm, "roofline.intensity")));
  CHECK(told.kernels[0].launches == 2);
}

TEST_CASE("a run whose kernels do no arithmetic at times has its intensity from a file as well") {
  for (const Settings& settings :
       {Settings{"model.name=cnn", "steps=3"}, Settings{"model.name=resnet18", "steps=3"}}) {
    INFO(settings.front());
    const Run trained = run(settings);
    const Roofline told = analysis::roofline(analysis::measure(*trained.trace, nullptr, nullptr));
    REQUIRE(analysis::intensity(told));
    CHECK(*analysis::intensity(told) == Approx(value(trained, "roofline.intensity")).epsilon(1e-3));
  }
}

TEST_CASE(
    "a kernel of few warps is bound by latency, and by memory once each has more on its way") {
  const auto with = [](const char* ilp) {
    return run({"workload=kernel", "machine=a100-sxm-1", "kernel.grid=20000", "kernel.block=128",
                "kernel.shared_bytes=100 KiB", "kernel.bytes_per_thread=400",
                "kernel.flops_per_thread=0", "steps=2", ilp});
  };
  const Run few = with("kernel.ilp=1"), many = with("kernel.ilp=16");
  CHECK(value(few, "bound.latency") > 0.9);
  CHECK(value(few, "bound.overhead") < 0.1);
  CHECK(value(many, "bound.memory") > 0.9);
  CHECK(value(few, "time.step") > 5 * value(many, "time.step"));
}

TEST_CASE("the bandwidth of device memory is what kernels and copies move there") {
  const Run streams = reader("4 GiB"), fits = reader("4 MiB");
  const double peak = streams.machine->gpu.memory_bytes_per_s;
  CHECK(value(streams, "bandwidth.dram") ==
        Approx(streams.machine->gpu.memory_efficiency * peak).epsilon(0.02));
  CHECK(value(fits, "bandwidth.dram") == 0);
  const Run copy = run({"workload=copy", "machine=h200-1", "copy.direction=d2d",
                        "copy.bytes=256 MiB", "copy.count=4"});
  CHECK(value(copy, "bandwidth.dram") ==
        Approx(copy.machine->gpu.memory_efficiency * copy.machine->gpu.memory_bytes_per_s)
            .epsilon(0.01));
  const Run up = run({"workload=copy", "copy.direction=h2d"});
  CHECK_FALSE(analysis::value_of(up.metrics, "bandwidth.dram"));
  const Run still = run({"workload=kernel", "kernel.bytes_per_thread=0"});
  CHECK_FALSE(analysis::value_of(still.metrics, "bandwidth.dram"));
}
