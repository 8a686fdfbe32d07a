// The plug-in for GPUs, loaded as ever, over libraries that stand in for NVIDIA's (tests/stand_in):
// what it asks of them is allowed, gives the host's numbers, is told in the trace, and is given
// back.

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "cli/program.h"
#include "cuda/calibration/bench.h"
#include "cuda/calibration/calibration.h"
#include "cuda/device_checks.h"
#include "cuda/fused_both_ways.h"
#include "cuda/lockstep_models.h"
#include "plugin/own_gpu.h"
#include "support/config.h"
#include "support/skip.h"
#include "train/build.h"

using namespace trainscope;
using test::check_learns_alike;
using test::config_of;
using test::Gpu;
using test::is_missing;
using test::is_told;
using test::kCnn;
using test::kFp32;
using test::kGpt;
using test::kMlp;
using test::Settings;

TEST_CASE("through the plug-in models learn as on the host, eager, fused and in graphs") {
  Gpu gpu;
  for (const Settings& model : {kMlp, kCnn, kGpt})
    for (const char* how : {"compile.fuse=false", "compile.fuse=true", "compile.cuda_graph=true"})
      check_learns_alike(*gpu, test::with(model, {how}), kFp32);
}

TEST_CASE("through the plug-in loss.item() reads the step's loss, whatever frees it") {
  Gpu gpu;
  const Settings reads = test::with(kMlp, {"loop.item_every=1", "machine=h200-8"});
  for (const Settings& how : {Settings{"accumulate_steps=2"}, Settings{"compile.cuda_graph=true"},
                              Settings{"parallel.strategy=dp", "parallel.world_size=2"},
                              Settings{"parallel.strategy=ddp", "parallel.world_size=2"}})
    check_learns_alike(*gpu, test::with(reads, how), kFp32);
}

TEST_CASE("through the plug-in runs of which only times are wanted are measured, too") {
  Gpu gpu;
  const Settings mlp{"workload=train", "model.name=mlp", "model.hidden=16",
                     "batch_size=4",   "steps=3",        "data.name=mnist"};
  const Settings cnn{"workload=train", "model.name=cnn", "data.name=mnist", "batch_size=1",
                     "steps=2"};
  const Settings ranks{"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2"};
  for (const Settings& settings : {mlp, test::with(mlp, ranks), test::with(cnn, ranks)}) {
    const program::Config config = config_of(settings);
    INFO(settings[1]);
    CHECK(train::build_program(config, train::machine_of(config)).timing_only);
    const analysis::Run run = analysis::measured_run("A", config, *gpu);
    INFO((run.ending ? sim::sentence(*run.ending) : ""));
    CHECK_FALSE(run.ending);
    CHECK(analysis::value_of(run.metrics, "time.step").value_or(0) > 0);
    CHECK_FALSE(analysis::value_of(run.metrics, "loss"));
    CHECK(run.trace->origin().detail.find("on noise in place of batches") != std::string::npos);
  }
}

TEST_CASE("through the plug-in mixed precision scales, skips and learns as on the host") {
  Gpu gpu;
  check_learns_alike(
      *gpu, test::with(kMlp, {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2"}),
      1e-2);
  check_learns_alike(*gpu, test::with(kMlp, {"precision=bf16", "optimizer.name=adamw"}), 3e-2);
  check_learns_alike(*gpu, test::with(kCnn, {"precision=fp16", "memory_format=channels_last"}),
                     2e-2);
}

TEST_CASE("through the plug-in convolutions are cuDNN's where it is there") {
  Gpu gpu;
#ifdef TRAINSCOPE_CUDNN
  const bool is_there = !is_missing("libcudnn.so.9");
#else
  const bool is_there = false;
#endif
  const auto kernels = [&](const Settings& how, const char* name) {
    const analysis::Run run = analysis::measured_run("A", config_of(test::with(kCnn, how)), *gpu);
    INFO((run.ending ? sim::sentence(*run.ending) : ""));
    REQUIRE_FALSE(run.ending);
    int count = 0;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
      count += run.trace->name(span) == name ? 1 : 0;
    });
    return count;
  };
  // Two layers in three steps; of the first one no gradient by its input is wanted.
  CHECK(kernels({}, "convolution") == (is_there ? 3 * 5 : 0));
  CHECK(kernels({}, "convolution_tried") == 0);
  CHECK((kernels({"cudnn.benchmark=true"}, "convolution_tried") > 0) == is_there);
}

TEST_CASE("through the plug-in convolutions of every kind give the host's numbers") {
  Gpu gpu;
  const Settings tried = test::with(kCnn, {"cudnn.benchmark=true"});
  check_learns_alike(*gpu, tried, kFp32);
  check_learns_alike(*gpu, test::with(tried, {"compile.cuda_graph=true"}), kFp32);
  check_learns_alike(*gpu, test::with(tried, {"memory_format=channels_last"}), kFp32);
  check_learns_alike(*gpu, test::with(tried, {"cudnn.allow_tf32=true"}), 1e-2);
  check_learns_alike(*gpu, test::with(tried, {"precision=bf16"}), 3e-2);
  check_learns_alike(
      *gpu, test::with(tried, {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2"}),
      kFp32);
}

TEST_CASE("through the plug-in ranks learn as on the host, whether they share a GPU or not") {
  Gpu gpu;
  for (const char* strategy : {"parallel.strategy=ddp", "parallel.strategy=fsdp",
                               "parallel.strategy=tensor", "parallel.strategy=dp"})
    for (const char* ranks : {"parallel.world_size=2", "parallel.world_size=4"})
      check_learns_alike(*gpu, test::with(kMlp, {"machine=h200-8", strategy, ranks}), kFp32);
  for (const char* stages : {"parallel.world_size=2", "parallel.world_size=3"})
    check_learns_alike(*gpu,
                       test::with(kMlp, {"machine=h200-8", "parallel.strategy=pipeline", stages,
                                         "model.layers=3", "pipeline.microbatches=4"}),
                       kFp32);
}

TEST_CASE("through the plug-in ranks give back what is cached, whether they share a GPU or not") {
  Gpu gpu;
  for (const char* ranks : {"parallel.world_size=2", "parallel.world_size=4"})
    check_learns_alike(*gpu,
                       test::with(kMlp, {"machine=h200-8", "parallel.strategy=ddp", ranks,
                                         "loop.empty_cache=true"}),
                       kFp32);
}

TEST_CASE(
    "through the plug-in groups of ranks learn as on the host, whether they share GPUs or not") {
  Gpu gpu;
  for (const char* degree : {"fsdp.shard_degree=1", "fsdp.shard_degree=2"}) {
    const Settings groups = test::with(
        kMlp, {"machine=h200-8", "parallel.strategy=fsdp", "parallel.world_size=4", degree});
    check_learns_alike(*gpu, groups, kFp32);
    const analysis::Run run = analysis::measured_run("A", config_of(groups), *gpu);
    const bool by_nccl = gpu->gpus() >= 4 && !is_missing("libnccl.so.2");
    const std::string& how = run.trace->origin().detail;
    CHECK((how.find("ring of copies") == std::string::npos) == by_nccl);
  }
}

TEST_CASE("through the plug-in ranks sum narrow numbers, whether they share a GPU or not") {
  Gpu gpu;
  const std::vector<test::Settings> narrow{
      {"parallel.strategy=ddp", "model.dtype=bf16"},
      {"parallel.strategy=ddp", "ddp.comm_hook=fp16_compress"},
      {"parallel.strategy=ddp", "ddp.comm_hook=bf16_compress"},
      {"parallel.strategy=fsdp", "fsdp.param_dtype=bf16"},
      {"parallel.strategy=fsdp", "fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"},
      {"parallel.strategy=tensor", "precision=bf16"},
      {"parallel.strategy=pipeline", "precision=bf16", "model.layers=3",
       "pipeline.microbatches=4"}};
  for (const test::Settings& how : narrow)
    for (const char* ranks : {"parallel.world_size=2", "parallel.world_size=4"}) {
      INFO(how[0] << ", " << how[1] << ", " << ranks);
      check_learns_alike(*gpu, test::with(test::with(kMlp, {"machine=h200-8", ranks}), how), 3e-2);
    }
}

TEST_CASE("through the plug-in every kind of collective ends, and each rank has its span") {
  Gpu gpu;
  test::check_collectives(*gpu, 64 << 10);
}

TEST_CASE("through the plug-in operation by operation the numbers are the host's") {
#ifdef __SANITIZE_ADDRESS__
  TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
#endif
  Gpu gpu;
  for (const test::Settings& settings : test::lockstep_models(test::LockstepSize::kSmall))
    test::check_in_lockstep(*gpu, settings);
}

TEST_CASE("through the plug-in compiled chains leave the bits of those that read their steps") {
  Gpu gpu;
  const program::Config config = config_of({"workload=train", "model.name=mlp", "precision=fp16",
                                            "compile.fuse=true", "batch_size=4", "steps=1"});
  const test::BothWays found =
      test::fused_both_ways(*gpu, train::build_program(config, train::machine_of(config)));
  CHECK(found.operations > 0);
  CHECK(found.differing == std::vector<std::string>{});
  const bool reads = gpu->facts().driver.find("read their steps") != std::string::npos;
  CHECK(reads == is_missing("libnvrtc.so.13"));
}

TEST_CASE("through the plug-in kernels are those of the program's operations, however called") {
  Gpu gpu;
  for (const Settings& settings : {kMlp, test::with(kMlp, {"precision=bf16"}),
                                   Settings{"workload=gemm", "gemm.type=fp16", "gemm.m=64",
                                            "gemm.n=64", "gemm.k=64", "steps=3"}}) {
    const program::Config config = config_of(settings);
    const analysis::Run measured = analysis::measured_run("A", config, *gpu);
    REQUIRE_FALSE(measured.ending);
    const analysis::Run simulated = analysis::run_config("A", config);
    for (const char* name : {"roofline.intensity", "roofline.ridge"}) {
      INFO(settings.back() << ", " << name);
      const auto real = analysis::value_of(measured.metrics, name);
      REQUIRE(real);
      CHECK(*real == Approx(analysis::value_of(simulated.metrics, name).value_or(0)).epsilon(0.02));
    }
    CHECK(analysis::value_of(measured.metrics, "mfu").value_or(2) < 1);
    if (settings[0] != "workload=train") continue;
    // An allocator rounds each block up to 512 bytes.
    const auto parameters = analysis::value_of(measured.metrics, "memory.parameters");
    const auto blocks = analysis::value_of(simulated.metrics, "memory.parameters");
    REQUIRE((parameters && blocks));
    CHECK(*parameters > 0);
    CHECK(*parameters <= *blocks);
    CHECK(*parameters == Approx(*blocks).epsilon(0.05));
  }
}

TEST_CASE("through the plug-in knobs of a simulated machine are told to be without effect") {
  Gpu gpu;
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=copy", "copy.bytes=4096", "pcie.lanes=8"}), *gpu);
  CHECK(run.trace->origin().detail.find("without effect on a real GPU: pcie.lanes") !=
        std::string::npos);
  CHECK(run.trace->origin().detail.find("8 lanes") == std::string::npos);
  CHECK_FALSE(analysis::is_of_device(run.trace->origin()));  // no file describes it
}

TEST_CASE("through the plug-in what is only simulated is refused before anything is measured") {
  Gpu gpu;
  CHECK_NOTHROW(analysis::require_measurable(config_of(kMlp), *gpu));
  CHECK_THROWS_WITH(analysis::require_measurable(
                        config_of(test::with(kMlp, {"machine=h200-8", "parallel.strategy=ddp",
                                                    "parallel.world_size=2", "straggler.rank=1",
                                                    "straggler.factor=2"})),
                        *gpu),
                    Catch::Contains("only simulated"));
}

TEST_CASE("through the plug-in all work is told, with its call, bytes and kinds of memory") {
  Gpu gpu;
  for (const bool pinned : {false, true}) {
    const analysis::Run run = analysis::measured_run(
        "A",
        config_of({"workload=copy", pinned ? "copy.memory=pinned" : "copy.memory=pageable",
                   "copy.bytes=1048576", "copy.count=5"}),
        *gpu);
    REQUIRE_FALSE(run.ending);
    int copies = 0;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
      if (span.category != trace::Category::kCopyH2D ||
          run.trace->lanes()[span.lane].kind != trace::LaneKind::kStream)
        return;
      ++copies;
      const auto* detail = run.trace->detail(span);
      REQUIRE(detail);
      CHECK(std::get<trace::CopyDetail>(*detail).bytes == 1 << 20);
    });
    CHECK(copies == 5);
  }
  const analysis::Run run = analysis::measured_run("A", config_of(kMlp), *gpu);
  CHECK(test::dropped(*run.trace, "records that the tracer had no room for") == 0);
  CHECK(test::dropped(*run.trace, "records of the tracer without a time that can be") == 0);
  CHECK(test::dropped(*run.trace, "work on the device that belongs to no call of the run") == 0);
  const bool by_events = gpu->facts().driver.find("pairs of events") != std::string::npos;
  CHECK(by_events == is_missing("libcupti.so.13"));
}

TEST_CASE("through the plug-in a run with no room for it ends with a sentence, the next one runs") {
  Gpu gpu;
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=copy", "copy.memory=pageable", "copy.bytes=1342177280"}), *gpu);
  REQUIRE(run.ending);
  CHECK(sim::sentence(*run.ending).find("the GPU has no room for this run") != std::string::npos);
  CHECK(gpu->is_usable());
  check_learns_alike(*gpu, kMlp, kFp32);
}

TEST_CASE("a host that can pin no more memory ends the run so, and the GPU is not called full",
          "[.pinned]") {
  Gpu gpu;
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=copy", "copy.memory=pinned", "copy.bytes=8388608"}), *gpu);
  REQUIRE(run.ending);
  const std::string sentence = sim::sentence(*run.ending);
  CHECK(sentence.find("the host has no 8 MiB left that can be pinned (cudaErrorMemoryAllocation") !=
        std::string::npos);
  CHECK(sentence.find("the GPU has no room") == std::string::npos);
  CHECK(gpu->is_usable());
  check_learns_alike(*gpu, kMlp, kFp32);
}

TEST_CASE("a cuBLASLt that would add parts of sums as it likes multiplies nothing",
          "[.fixed_sums]") {
  Gpu gpu;
  const analysis::Run run = analysis::measured_run("A", config_of({"workload=gemm"}), *gpu);
  REQUIRE(run.ending);
  CHECK_THAT(sim::sentence(*run.ending),
             Catch::Contains("cuBLASLt cannot multiply") &&
                 Catch::Contains("cublasLtMatmulPreferenceSetAttribute says 15"));
}

TEST_CASE("through the plug-in only who waits behind NCCL's collectives looks again and again") {
  Gpu gpu;
  const auto looks = test::stand_in_function<int()>("trainscope_stand_in_looks");
  const auto looks_in = [&](const Settings& settings) {
    const int before = looks();
    CHECK_FALSE(analysis::measured_run("A", config_of(settings), *gpu).ending);
    return looks() - before;
  };
  const bool by_nccl = gpu->gpus() >= 2 && !is_missing("libnccl.so.2");
  const Settings ranks =
      test::with(kMlp, {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2"});
  CHECK(looks_in(kMlp) == 0);
  CHECK((looks_in(ranks) > 0) == by_nccl);
  CHECK(looks_in(kMlp) == 0);
}

TEST_CASE("through the plug-in compiled kernels are loaded ahead on each GPU that is used") {
  Gpu gpu;
  check_learns_alike(*gpu,
                     test::with(kMlp, {"machine=h200-8", "parallel.strategy=ddp",
                                       "parallel.world_size=4", "compile.fuse=true"}),
                     kFp32);
}

TEST_CASE("an NCCL that cannot give communicators up together leaves the ring, and says so",
          "[.old_nccl]") {
  Gpu gpu;
  const Settings ranks =
      test::with(kMlp, {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2"});
  const analysis::Run run = analysis::measured_run("A", config_of(ranks), *gpu);
  CHECK_FALSE(run.ending);
  CHECK(run.trace->origin().detail.find(
            "collectives are a ring of copies and additions between the GPUs: this NCCL is 2.21.5, "
            "and of those before 2.22 communicators cannot be given up together") !=
        std::string::npos);
  check_learns_alike(*gpu, ranks, kFp32);
}

TEST_CASE("through the plug-in memory that another stream is to give back is waited for") {
  Gpu gpu;
  cuda::Bench bench(*gpu);
  const std::int64_t most = gpu->facts().memory_bytes / 5 * 3;
  const cuda::KernelCall& long_one = bench.prepare(cuda::long_kernel(2'000'000));
  void* first = gpu->allocate(most, bench.stream());
  bench.launch(long_one);
  gpu->release(first, bench.stream());
  void* second = gpu->allocate(most, bench.other_stream());
  CHECK(second);
  CHECK_THROWS_AS(gpu->allocate(most, bench.stream()), cuda::OutOfDeviceMemory);
  gpu->release(second, bench.other_stream());
  gpu->synchronise();
}

TEST_CASE("through the plug-in memory of no bytes is handed out, too") {
  Gpu gpu;
  const cuda::StreamHandle stream = gpu->make_stream(program::StreamKind::kNonBlocking, 0, 0);
  void* const memory = gpu->allocate(0, stream);
  CHECK(memory != nullptr);
  gpu->release(memory, stream);
  gpu->synchronise();
}

TEST_CASE("through the plug-in what a pool keeps is room for a library that needs it") {
  Gpu gpu;
  const bool has_pools = gpu->facts().driver.find("no memory pools") == std::string::npos;
  CHECK(has_pools != is_told("no_pools"));
  cuda::Bench bench(*gpu);
  constexpr std::int64_t kTooLittle = 16 << 20;
  gpu->release(gpu->allocate(gpu->facts().memory_bytes - kTooLittle, bench.stream()),
               bench.stream());
  gpu->synchronise();
  CHECK_NOTHROW(
      bench.launch(bench.prepare(cuda::product(16, 16, 16, program::ElementType::kFp32))));
  gpu->synchronise();
}

TEST_CASE("through the plug-in a calibration measures all there is") {
  Gpu gpu;
  cuda::CalibrationPlan plan;
  plan.repeats = 5;
  plan.few = 2;
  plan.most_copied = std::int64_t{8} << 20;
  plan.largest_product = 32;
  const cuda::Calibration found = cuda::calibrate(*gpu, plan, 0);
  for (const char* name : {"host.launch_call", "gpu.kernel_floor", "pcie.h2d", "pcie.d2h"}) {
    INFO(name);
    REQUIRE(found.find(name));
    CHECK(found.find(name)->value > 0);
    CHECK(std::isfinite(found.find(name)->value));
  }
}

// On a machine that has none, or none that will do.
TEST_CASE("a device that cannot be used is refused with a sentence", "[.refused]") {
  const auto says = [](const char* words) {
    CHECK_THROWS_WITH(cuda::open_device(cuda::plugin_folder()),
                      Catch::Contains(words) && !Catch::Contains("--executor sim"));
    CHECK_THROWS_AS(cuda::open_device(cuda::plugin_folder()), MissingError);
  };
  if (is_told("driver=0")) says("there is no NVIDIA driver for a GPU here");
  if (is_told("driver=12020"))
    says("the NVIDIA driver is for CUDA 12.2, and this program was built for");
  if (is_told("gpus=0")) says("the NVIDIA driver shows no GPU");
  if (is_told("capability=70"))
    says("Stand-in GPU has compute capability 7.0, and the kernels need 7.5 or newer");
  if (is_told("cupti=130000")) {
    Gpu gpu;
    CHECK(gpu->facts().driver.find("CUPTI of CUDA 13.0 can hang or crash when it stops, which its "
                                   "Update 1 has resolved; times are from pairs of events") !=
          std::string::npos);
    check_learns_alike(*gpu, kMlp, kFp32);
  }
  if (!is_told("profiler")) return;
  Gpu gpu;
  CHECK(gpu->facts().driver.find("another profiler is attached to this process; times are from "
                                 "pairs of events") != std::string::npos);
  check_learns_alike(*gpu, kMlp, kFp32);
}

// The machine stands in for the program's process, too; NVIDIA's management library does not.
TEST_CASE("who leaves the choice to the program is told why a GPU that is there was not taken") {
  const std::string where =
      "TRAINSCOPE_STAND_IN=\"" + std::string(std::getenv("TRAINSCOPE_STAND_IN")) + "\"";
  const test::Result result =
      test::run_in(where,
                   "run --executor auto --set workload=train --set model.name=mlp --set "
                   "device=cpu --set steps=3 --json");
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Catch::Contains("\"simulated\""));
  CHECK_THAT(result.err,
             Catch::Contains("simulated instead: this run computes on the CPU and has nothing for "
                             "a GPU"));
}

TEST_CASE("who has no GPU and leaves the choice to the program is not told so at each run",
          "[.refused]") {
  if (!is_told("gpus=0")) return;
  const test::Result result =
      test::run_in("TRAINSCOPE_STAND_IN=gpus=0", "run --executor auto --set workload=copy --json");
  CHECK(result.code == 0);
  CHECK_THAT(result.err, !Catch::Contains("simulated instead"));
}

// With a kernel that fails.
TEST_CASE("a device that is lost ends the run with a sentence, and is of no more use", "[.lost]") {
  const auto gpu = cuda::open_device(cuda::plugin_folder());
  const analysis::Run run = analysis::measured_run("A", config_of(kMlp), *gpu);
  REQUIRE(run.ending);
  CHECK(sim::sentence(*run.ending).find("the GPU stopped and can do nothing more") !=
        std::string::npos);
  CHECK(run.trace->spans().size() > 0);
  CHECK_FALSE(gpu->is_usable());
  bool from_another_thread = true;
  std::thread([&] { from_another_thread = gpu->is_usable(); }).join();
  CHECK_FALSE(from_another_thread);
}
