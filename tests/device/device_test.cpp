// What holds on a real GPU: the numbers of the host, the times of a clock. Skipped where there is
// none, or no plug-in.

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "cuda/calibration/calibration.h"
#include "cuda/device_checks.h"
#include "cuda/fused_both_ways.h"
#include "cuda/lockstep_models.h"
#include "cuda/plugin_loader.h"
#include "support/config.h"
#include "support/skip.h"
#include "train/build.h"

using namespace trainscope;
using test::check_learns_alike;
using test::config_of;

namespace {

// One for all cases, and never closed: a process has one tracer, and libraries that end in an order
// of their own. Null: there is no GPU, and `why` says it.
cuda::DeviceCalls* device(std::string& why) {
  static std::string reason;
  static cuda::DeviceCalls* const opened = [] {
    try {
      return cuda::open_device(cuda::plugin_folder()).release();
    } catch (const Error& error) {
      reason = error.what();
      return static_cast<cuda::DeviceCalls*>(nullptr);
    }
  }();
  why = reason;
  return opened;
}

#define NEED_DEVICE(name)                \
  std::string why;                       \
  cuda::DeviceCalls* name = device(why); \
  if (!name) TRAINSCOPE_SKIP(why)

// A device fuses multiplications with additions and sums in another order.
constexpr double kFp32 = 1e-3;

}  // namespace

TEST_CASE("on the device models learn as on the host, eager, fused and in graphs") {
  NEED_DEVICE(gpu);
  for (const std::string model : {"mlp", "cnn", "gpt-mini"})
    for (const std::string how :
         {"compile.fuse=false", "compile.fuse=true", "compile.cuda_graph=true"})
      check_learns_alike(*gpu,
                         {"workload=train", "model.name=" + model,
                          model == "gpt-mini" ? "data.name=text" : "data.name=digits", "steps=5",
                          "batch_size=16", "cudnn.allow_tf32=false", how},
                         kFp32);
}

TEST_CASE(
    "on the device fused kernels that were compiled leave the bits of those that read their "
    "steps") {
  NEED_DEVICE(gpu);
  for (const char* precision : {"precision=fp32", "precision=fp16", "precision=bf16"})
    for (const std::string model : {"mlp", "cnn", "gpt-mini"}) {
      INFO(model << ", " << precision);
      const program::Config config = config_of({"workload=train", "model.name=" + model, precision,
                                                "compile.fuse=true", "batch_size=4", "steps=1"});
      const test::BothWays found =
          test::fused_both_ways(*gpu, train::build_program(config, train::machine_of(config)));
      CHECK(found.operations > 0);
      CHECK(found.differing == std::vector<std::string>{});
    }
  const std::string driver = gpu->facts().driver;
  if (driver.find("read their steps") != std::string::npos) TRAINSCOPE_SKIP(driver);
}

TEST_CASE("on the device ranks learn as on the host, whether they share a GPU or not") {
  NEED_DEVICE(gpu);
  const std::vector<std::string> mlp{
      "workload=train", "model.name=mlp", "data.name=digits",     "steps=5",
      "batch_size=16",  "machine=h200-8", "parallel.world_size=4"};
  for (const char* strategy :
       {"parallel.strategy=ddp", "parallel.strategy=fsdp", "parallel.strategy=dp"}) {
    auto settings = mlp;
    settings.push_back(strategy);
    check_learns_alike(*gpu, settings, kFp32);
  }
  const std::vector<std::vector<std::string>> narrow{
      {"parallel.strategy=ddp", "ddp.comm_hook=bf16_compress"},
      {"parallel.strategy=fsdp", "fsdp.param_dtype=bf16", "clip_grad_norm=1"},
      {"parallel.strategy=tensor", "precision=bf16"}};
  for (const auto& how : narrow) {
    auto settings = mlp;
    settings.insert(settings.end(), how.begin(), how.end());
    check_learns_alike(*gpu, settings, 3e-2);
  }
}

TEST_CASE("on the device every kind of collective ends, and each rank has its span") {
  NEED_DEVICE(gpu);
  test::check_collectives(*gpu, 16 << 20);
}

TEST_CASE("on the device mixed precision scales, skips and learns as on the host") {
  NEED_DEVICE(gpu);
  const std::vector<std::string> mlp{"workload=train", "model.name=mlp", "data.name=digits",
                                     "steps=6"};
  auto half = mlp, brain = mlp;
  half.insert(half.end(), {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2"});
  brain.insert(brain.end(), {"precision=bf16"});
  check_learns_alike(*gpu, half, 1e-2);
  check_learns_alike(*gpu, brain, 3e-2);
}

TEST_CASE("on the device a pinned copy is faster than a pageable one, and both are seen") {
  NEED_DEVICE(gpu);
  double rates[2] = {0, 0};
  for (const bool pinned : {false, true}) {
    const analysis::Run run = analysis::measured_run(
        "A",
        config_of({"workload=copy", pinned ? "copy.memory=pinned" : "copy.memory=pageable",
                   "copy.bytes=134217728", "copy.count=5"}),
        *gpu);
    REQUIRE_FALSE(run.ending);
    const auto rate = analysis::value_of(run.metrics, "bandwidth.h2d");
    REQUIRE(rate);
    rates[pinned] = *rate;
  }
  CHECK(rates[1] > rates[0]);
}

TEST_CASE("on the device a graph of launches takes the host less time than the launches") {
  NEED_DEVICE(gpu);
  // Kernels that are shorter than a launch; a tracer would take longer for each than either.
  Nanos took[2] = {0, 0};
  gpu->watch(cuda::WatchLevel::kNothing);
  for (const bool graph : {false, true}) {
    const analysis::Run run = analysis::measured_run(
        "A",
        config_of({"workload=launch", "launch.count=200", "steps=20", "launch.kernel_ns=100",
                   graph ? "launch.graph=true" : "launch.graph=false"}),
        *gpu, {.took = [&](Nanos nanos) { took[graph] = nanos; }});
    CHECK_FALSE(run.ending);
  }
  gpu->watch(cuda::WatchLevel::kEverything);
  CHECK(took[1] < took[0]);
}

TEST_CASE("on the device a calibration finds figures that a GPU can have") {
  NEED_DEVICE(gpu);
  cuda::CalibrationPlan plan;
  plan.repeats = 20;
  plan.few = 3;
  plan.most_copied = std::int64_t{64} << 20;
  plan.largest_product = 4096;
  const cuda::Calibration found = cuda::calibrate(*gpu, plan, 0);
  const auto value = [&](const char* name) {
    const auto* figure = found.find(name);
    REQUIRE(figure);
    return figure->value;
  };
  CHECK(value("host.launch_call") > 200);
  CHECK(value("host.launch_call") < 100'000);
  CHECK(value("gpu.kernel_floor") > 200);
  CHECK(value("pcie.h2d") > 1e9);
  CHECK(value("pcie.h2d") < 1e12);
  CHECK(value("gpu.memory_efficiency") > 0.3);
}

TEST_CASE("on the device operation by operation the numbers are the host's") {
  NEED_DEVICE(gpu);
  // cuDNN may take Winograd's algorithm, whose 4 x 4 tiles lose three bits to a direct sum; tensor
  // cores that read an operand from shared memory may cut it to TF32 where the host rounds: up to
  // twice as far, and in a sum always to the same side. Neither has been measured yet.
  constexpr test::OfLibraries kLibraries{.convolutions = 8, .tf32 = 4};
  for (const test::Settings& settings : test::lockstep_models(test::LockstepSize::kLarge))
    test::check_in_lockstep(*gpu, settings, kLibraries);
}

namespace {

double peak_of(const trace::Trace& trace, const char* lane) {
  double peak = 0;
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    if (trace.lanes()[sample.lane].name == lane) peak = std::max(peak, sample.value);
  });
  return peak;
}

}  // namespace

TEST_CASE("on the device as many warps are resident as occupancy says, on every SM") {
  NEED_DEVICE(gpu);
  const cuda::DeviceFacts facts = gpu->facts();
  struct Launch {
    int block;
    int registers;
    int shared_bytes;
  };
  for (const Launch& one :
       {Launch{256, 32, 0}, Launch{256, 64, 0}, Launch{256, 128, 0}, Launch{1024, 32, 0},
        Launch{1024, 33, 0}, Launch{128, 32, 16 << 10}, Launch{256, 32, 48 << 10}}) {
    const analysis::Run run = analysis::measured_run(
        "A",
        config_of({"workload=kernel", "kernel.grid=20000", "kernel.flops_per_thread=200000",
                   fmt::format("kernel.block={}", one.block),
                   fmt::format("kernel.registers={}", one.registers),
                   fmt::format("kernel.shared_bytes={}", one.shared_bytes)}),
        *gpu);
    INFO(one.block << " threads, " << one.registers << " registers, " << one.shared_bytes
                   << " bytes");
    REQUIRE_FALSE(run.ending);
    const auto theoretical = analysis::value_of(run.metrics, "occupancy.theoretical");
    REQUIRE(theoretical);
    const double slots = static_cast<double>(facts.sm_count) * facts.threads_per_sm / 32;
    CHECK(peak_of(*run.trace, "SMs with a block") == facts.sm_count);
    CHECK(peak_of(*run.trace, "resident warps") == Approx(*theoretical * slots).epsilon(0.02));
  }
}

// That it steps at all finely is what lanes of SMs rest on; by how much is told.
TEST_CASE("on the device the clock that blocks read steps by no more than a microsecond or so") {
  NEED_DEVICE(gpu);
  using program::MemoryKind;
  const program::Config config =
      config_of({"workload=kernel", "kernel.grid=2000", "kernel.flops_per_thread=1000"});
  const program::Program program = train::build_program(config, train::machine_of(config));
  cuda::KernelCall call;
  call.operation = &program.operations.front();
  std::vector<cuda::BlockRecord> records(2000);
  REQUIRE(gpu->blocks_recorded(call) == static_cast<std::int64_t>(records.size()));
  const auto bytes = static_cast<std::int64_t>(records.size() * sizeof(records.front()));
  const cuda::StreamHandle stream = gpu->make_stream(program::StreamKind::kNonBlocking, 0, 0);
  call.room = static_cast<float*>(gpu->allocate(4 * gpu->room_for(call), stream));
  call.records = static_cast<cuda::BlockRecord*>(gpu->allocate(bytes, stream));
  gpu->launch(call, stream);
  gpu->copy({call.records, records.data(), bytes, MemoryKind::kDevice, MemoryKind::kPageable},
            stream);
  gpu->synchronise_stream(stream);
  gpu->release(call.room, stream);
  gpu->release(call.records, stream);
  std::set<std::uint64_t> times;
  for (const cuda::BlockRecord& one : records) times.insert({one.start_ns, one.end_ns});
  REQUIRE(times.size() > 1);
  std::uint64_t step = *times.rbegin() - *times.begin();
  for (auto time = times.begin(), next = std::next(time); next != times.end(); ++time, ++next)
    step = std::min(step, *next - *time);
  WARN("its steps are of " << step << " ns");
  CHECK(step <= 1024);
}

// The last: whoever waits for the device looks after NCCL from here on.
TEST_CASE("on the device NCCL carries out the sum of a single rank") {
  NEED_DEVICE(gpu);
  using program::MemoryKind;
  const std::string why_not = gpu->join(std::vector<cuda::RankGroup>{{"only rank", {0}}});
  if (!why_not.empty()) TRAINSCOPE_SKIP(why_not);
  const cuda::StreamHandle stream = gpu->make_stream(program::StreamKind::kNonBlocking, 0, 0);
  std::vector<float> given(1 << 20), got(given.size());
  std::iota(given.begin(), given.end(), 0.0F);
  const auto count = static_cast<std::int64_t>(given.size());
  const std::int64_t bytes = count * bytes_of(cuda::CollectiveUnit::kFloat);
  void* const from = gpu->allocate(bytes, stream);
  void* const to = gpu->allocate(bytes, stream);
  gpu->copy({given.data(), from, bytes, MemoryKind::kPageable, MemoryKind::kDevice}, stream);
  gpu->together(0, program::CollectiveKind::kAllReduce, cuda::CollectiveUnit::kFloat, count,
                {{from, to, stream, 1}});
  gpu->copy({to, got.data(), bytes, MemoryKind::kDevice, MemoryKind::kPageable}, stream);
  gpu->synchronise_stream(stream);
  CHECK(got == given);
  for (void* const memory : {from, to}) gpu->release(memory, stream);
  gpu->synchronise();
}
