// Replays of traces: as they were, and with something changed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "base/error.h"
#include "support/config.h"
#include "support/random_program.h"
#include "support/replays.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"
#include "train/build.h"
#include "train/replay/product_names.h"

using namespace trainscope;
using namespace trainscope::test;
using Catch::Matchers::Contains;
using trace::Category;

namespace {

const std::vector<Settings> kRuns{
    training({"model.name=mlp", "data.name=digits"}),
    training({"model.name=mlp", "loader.num_workers=2", "loader.sample_ms=1",
              "loader.pin_memory=true", "transfer.non_blocking=true"}),
    training({"model.name=cnn", "loop.item_every=1", "transfer.streams=2", "transfer.prefetch=true",
              "loader.pin_memory=true", "transfer.non_blocking=true"}),
    training({"model.name=resnet50", "precision=fp16", "scaler.enabled=true", "batch_size=16"}),
    training({"model.name=resnet50", "machine=l40s-4", "parallel.strategy=ddp",
              "parallel.world_size=4", "batch_size=16"}),
    training({"model.name=cnn", "machine=h200-8", "parallel.strategy=dp", "parallel.world_size=4",
              "batch_size=64"}),
    {"workload=copy", "copy.count=5", "copy.memory=pageable"},
    {"workload=launch", "launch.count=200", "launch.kernel_ns=9000"}};

// A call waited for another stream, and ended less before work did than clocks of host and device
// differ by (CUPTI's, a microsecond): times alone do not tell it from a wait for that work.
bool is_ambiguous(const trace::Trace& run) {
  bool found = false;
  const std::vector<Work> works = work_of(run);
  trace::for_each(run.spans(), [&](const trace::Span& call, trace::SpanId) {
    if (run.name(call) != "cudaStreamSynchronize") return;
    found |= std::ranges::any_of(works, [&](const Work& work) {
      return work.start < call.end() && work.end > call.end() + 1 &&
             work.end <= call.end() + kMicrosecond;
    });
  });
  return found;
}

}  // namespace

TEST_CASE("a replay of a run is the run") {
  for (const Settings& settings : kRuns) {
    const TracePointer run = simulated(settings);
    INFO(settings[1] << " " << settings.back());
    CHECK(most_apart(work_of(*run), work_of(*replayed(run))) <= 1);
  }
}

TEST_CASE("a replay of any program is what it was, and nothing ends later with faster parts") {
  const machine::Machine machine = machine::load_machine("h200-1");
  int replays = 0, exact = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const TracePointer run = carried_out(test::random_program(seed), machine);
    if (work_of(*run).empty()) continue;
    const bool ambiguous = is_ambiguous(*run);
    INFO("seed " << seed);
    const std::vector<Work> once = work_of(*replayed(run));
    CHECK(most_apart(work_of(*run), once) <= (ambiguous ? kMicrosecond : 1));
    for (const char* change :
         {"replay.kernel_speed=2", "replay.host_speed=3", "replay.copy_speed=2"}) {
      const std::vector<Work> faster = work_of(*replayed(run, {change}));
      REQUIRE(faster.size() == once.size());
      for (std::size_t i = 0; i < once.size(); ++i) CHECK(faster[i].end <= once[i].end);
    }
    ++replays;
    exact += ambiguous ? 0 : 1;
  }
  CHECK(replays > 250);
  CHECK(exact > replays - 10);
}

TEST_CASE("a replay of a recorded trace is the trace") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  for (const char* file : {"ddp-a100-2ranks.json.gz", "resnet50-v100-2021-schema.json.gz",
                           "alexnet.json.gz", "three-streams-events.json.gz"}) {
    const TracePointer trace = trace::read_chrome_trace(test::real_traces_folder() / file);
    INFO(file);
    CHECK(most_apart(work_of(*trace), work_of(*replayed(trace))) <= 2 * kMicrosecond);
  }
}

namespace {

machine::Machine with_faster_gpu(machine::Machine machine, double times) {
  machine::Gpu& gpu = machine.gpu;
  for (double* rate : {&gpu.l2_bytes_per_s, &gpu.boost_clock_hz, &gpu.fp32_flops_per_s,
                       &gpu.tf32_flops_per_s, &gpu.fp16_flops_per_s, &gpu.memory_bytes_per_s})
    *rate *= times;
  gpu.kernel_floor_ns = static_cast<Nanos>(static_cast<double>(gpu.kernel_floor_ns) / times);
  return machine;
}

// Of every run of training, with this much of an error.
void check_foretold(const char* change, machine::Machine (*changed)(machine::Machine),
                    double most) {
  for (const Settings& settings : kRuns) {
    if (settings.front() != kTraining.front()) continue;
    const double share = foretold(settings, {change}, changed(machine_of(settings)));
    INFO(settings[3] << " " << settings.back() << ", " << change << ": " << share);
    CHECK(std::abs(share - 1) <= most);
  }
}

}  // namespace

TEST_CASE("a replay foretells what a faster host brings") {
  check_foretold(
      "replay.host_speed=2", [](machine::Machine machine) { return with_faster_host(machine, 2); },
      0.03);
  // What a call that waits takes the host itself is not told apart, and stays; threads that wait
  // for the interpreter of each other wait as long as they did, times the host's speed.
  check_foretold(
      "replay.host_speed=10",
      [](machine::Machine machine) { return with_faster_host(machine, 10); }, 0.1);
}

TEST_CASE("a replay foretells what a faster GPU brings") {
  check_foretold(
      "replay.kernel_speed=2", [](machine::Machine machine) { return with_faster_gpu(machine, 2); },
      0.005);
}

TEST_CASE("a replay foretells what a faster link brings") {
  const Settings settings =
      training({"model.name=resnet50", "machine=l40s-4", "parallel.strategy=ddp",
                "parallel.world_size=4", "batch_size=4"});
  machine::Machine machine = machine_of(settings);
  for (double* rate : {&machine.pcie.h2d_bytes_per_s, &machine.pcie.d2h_bytes_per_s,
                       &machine.pcie.both_bytes_per_s, &machine.gpu_link.bytes_per_s,
                       &machine.gpu_link.ring_bytes_per_s, &machine.pcie_tree.socket_bytes_per_s,
                       &machine.host.memory_bytes_per_s})
    *rate *= 2;
  CHECK(foretold(settings, {"replay.communication_speed=2"}, machine) == Approx(1).epsilon(0.02));
}

TEST_CASE("a replay foretells what batches that are there bring") {
  for (const char* workers : {"loader.num_workers=0", "loader.num_workers=1"}) {
    const Settings settings = training({"model.name=mlp", workers, "loader.sample_ms=1"});
    INFO(workers);
    CHECK(foretold(settings, {"replay.batches_ready=true"}, machine_of(settings),
                   {"loader.sample_ms=0", "loader.num_workers=4"}) == Approx(1).epsilon(0.01));
  }
}

TEST_CASE("a replay foretells what the loss that is not read brings") {
  // A batch so large that the GPU, too, takes its time: who waits for the loss launches late.
  const Settings settings = training(
      {"model.name=gpt-mini", "data.location=device", "loop.item_every=1", "batch_size=128"});
  const machine::Machine machine = machine_of(settings);
  CHECK(foretold(settings, {}, machine, {"loop.item_every=0"}) > 1.01);
  CHECK(foretold(settings, {"replay.synchronise=false"}, machine, {"loop.item_every=0"}) ==
        Approx(1).epsilon(0.01));
}

// How long a copy from pinned memory takes, a trace of pageable ones does not tell: its machine
// does.
TEST_CASE("a replay foretells what pinned memory brings, by the rate of its link") {
  const Settings settings =
      training({"model.name=resnet50", "batch_size=64", "precision=fp16", "loader.num_workers=4"});
  const Settings pinned{"loader.pin_memory=true", "transfer.non_blocking=true"};
  CHECK(foretold(settings, {"replay.non_blocking=true"}, machine_of(settings), pinned) ==
        Approx(1).epsilon(0.02));
}

TEST_CASE("kernels that multiply matrices are known by their names") {
  for (const char* name :
       {"ampere_sgemm_128x64_nn", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>",
        "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128",
        "cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "ampere_gcgemm_64x64_nt",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
        "void cudnn::winograd_nonfused::winogradForwardOutput4x4<float, float>",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "triton_tem_fused_mm_0", "gemm 64x128x784"}) {
    INFO(name);
    CHECK(train::is_product(name));
  }
  for (const char* name :
       {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>",
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>",
        "void splitKreduce_kernel<32, 16, int, float, float, float>", "triton_poi_fused_relu_1",
        "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>",
        "multi_tensor_apply_kernel"}) {
    INFO(name);
    CHECK_FALSE(train::is_product(name));
  }
}

TEST_CASE("products alone are made faster, and of them all that a run has are products") {
  const Settings products{"workload=gemm", "steps=4"};
  CHECK(work_of(*replayed(simulated(products), {"replay.product_speed=3"})) ==
        work_of(*replayed(simulated(products), {"replay.kernel_speed=3"})));
  const TracePointer none = simulated({"workload=launch", "launch.count=50"});
  CHECK(work_of(*replayed(none, {"replay.product_speed=3"})) == work_of(*replayed(none)));
}

TEST_CASE("what cannot be replayed is refused with a sentence") {
  const auto refusal = [](const TracePointer& trace) {
    try {
      replayed(trace);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const program::Config config = config_of({"workload=replay"});
  CHECK_THROWS_WITH(train::build_program(config, train::machine_of(config)),
                    Contains("set replay.trace to the file"));
  const auto empty = std::make_shared<trace::Trace>(trace::Origin{});
  CHECK_THAT(refusal(empty), Contains("no work of a GPU"));
  CHECK_FALSE(train::can_replay(*empty));

  const TracePointer one = simulated({"workload=launch", "launch.count=20"});
  CHECK_THROWS_WITH(replayed(one, {"replay.rank=3"}),
                    Contains("replay.rank = 3") && Contains("has rank 0"));
}

namespace {

Nanos held_time(const trace::Trace& trace) {
  Nanos time = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category == Category::kHeld) time += span.duration;
  });
  return time;
}

}  // namespace

TEST_CASE("what held the host in the run holds it in the replay, and pinned memory does not") {
  const TracePointer run = simulated(training({"model.name=resnet50", "batch_size=16"}));
  const auto held = static_cast<double>(held_time(*run));
  CHECK(static_cast<double>(held_time(*replayed(run))) == Approx(held).epsilon(0.02));
  CHECK(static_cast<double>(held_time(*replayed(
            run, {"replay.non_blocking=true", "replay.synchronise=false"}))) < 0.05 * held);
}
