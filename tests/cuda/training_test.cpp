// Trainings by the kernels, on the emulated device, beside the same ones by the host's operations.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "analysis/run.h"
#include "cuda/emulated_device.h"
#include "cuda/execution.h"
#include "host/rank_numbers.h"
#include "sim/simulation.h"
#include "support/config.h"
#include "support/skip.h"
#include "train/build.h"
#include "train/ranks.h"

using namespace trainscope;
using test::config_of;

namespace {

struct Training {
  std::vector<trace::TrainingStep> steps;
  std::vector<trace::Evaluation> evaluations;
};

Training rows_of(const trace::Trace& trace) {
  Training rows;
  for (std::uint32_t i = 0; i < trace.steps().size(); ++i) rows.steps.push_back(trace.steps()[i]);
  for (std::uint32_t i = 0; i < trace.evaluations().size(); ++i)
    rows.evaluations.push_back(trace.evaluations()[i]);
  return rows;
}

Training on_device(const program::Config& config, std::uint32_t seed) {
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::with_every_rank(train::build_program(config, machine));
  trace::Trace trace(trace::Origin{trace::OriginKind::kMeasured, "Emulated GPU", "", 0});
  test::EmulatedOptions options;
  options.seed = seed;
  test::EmulatedDevice device(options);
  cuda::Execution execution(program, machine, device, trace);
  const auto failure = execution.run();
  INFO((failure ? failure->sentence : ""));
  REQUIRE_FALSE(failure);
  return rows_of(trace);
}

// Losses within `allowed` of the host's, relative to them.
void compare(const Training& device, const Training& host, double allowed) {
  REQUIRE(device.steps.size() == host.steps.size());
  REQUIRE_FALSE(host.steps.empty());
  for (std::size_t i = 0; i < host.steps.size(); ++i) {
    INFO("step " << i << ": " << device.steps[i].loss << " and " << host.steps[i].loss);
    CHECK(device.steps[i].step == host.steps[i].step);
    CHECK(std::abs(device.steps[i].loss - host.steps[i].loss) <= allowed * host.steps[i].loss);
    CHECK(device.steps[i].skipped == host.steps[i].skipped);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    CHECK(same(device.steps[i].loss_scale, host.steps[i].loss_scale));
    CHECK(same(device.steps[i].used_scale, host.steps[i].used_scale));
    if (!std::isnan(host.steps[i].gradient_norm))
      CHECK(device.steps[i].gradient_norm == Approx(host.steps[i].gradient_norm).epsilon(allowed));
  }
  REQUIRE(device.evaluations.size() == host.evaluations.size());
  for (std::size_t i = 0; i < host.evaluations.size(); ++i) {
    CHECK(device.evaluations[i].samples == host.evaluations[i].samples);
    // What lies on the border of two classes may fall to either side.
    const std::int64_t others = device.evaluations[i].correct - host.evaluations[i].correct;
    CHECK(std::abs(static_cast<double>(others)) <=
          0.02 * static_cast<double>(host.evaluations[i].samples));
  }
}

void check_same(const std::vector<std::string>& settings, double allowed, std::uint32_t seed = 1) {
  std::string all;
  for (const std::string& setting : settings) all += setting + " ";
  INFO(all << "seed " << seed);
  const program::Config config = config_of(settings);
  compare(on_device(config, seed), rows_of(*analysis::run_config("A", config).trace), allowed);
}

const std::vector<std::string> kMlp{"model.name=mlp", "workload=train", "data.name=spirals",
                                    "steps=5",        "batch_size=32",  "model.hidden=16",
                                    "model.inputs=2"};

std::vector<std::string> mlp_with(const std::vector<std::string>& more) {
  std::vector<std::string> settings = kMlp;
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Sums in FP32 in another order, over a few steps.
constexpr double kFp32 = 2e-5;

// A step of a larger model is minutes where the emulator is watched by a sanitizer; tests/kernels
// runs each of its kernels there.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

}  // namespace

TEST_CASE("an mlp learns by the kernels as by the host, whatever order the device works in") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) check_same(mlp_with({}), kFp32, seed);
}

TEST_CASE("every optimizer, clipping and accumulation give the host's losses") {
  check_same(mlp_with({"optimizer.momentum=0.9", "optimizer.weight_decay=0.01"}), kFp32);
  check_same(mlp_with({"optimizer.name=adam", "optimizer.lr=0.001"}), kFp32);
  check_same(
      mlp_with({"optimizer.name=adamw", "optimizer.impl=fused", "optimizer.weight_decay=0.1"}),
      kFp32);
  check_same(mlp_with({"clip_grad_norm=0.1", "accumulate_steps=2"}), kFp32);
  check_same(mlp_with({"optimizer.impl=for_loop", "optimizer.name=adam", "optimizer.lr=0.001",
                       "zero_grad.when=never"}),
             kFp32);
}

// A loss is one number of the type, of steps of 2^-11 or 2^-8 of itself; weights that are rounded
// to the other side move it by another or two.
TEST_CASE("weights of a narrow type give the host's losses, however they are updated") {
  constexpr double kBf16 = 3 * 0x1p-8, kFp16 = 3 * 0x1p-11;
  const auto with = [](const char* type, std::vector<std::string> more) {
    more.push_back(std::string("model.dtype=") + type);
    return mlp_with(more);
  };
  check_same(with("bf16", {"optimizer.momentum=0.9", "clip_grad_norm=0.5"}), kBf16);
  check_same(with("bf16", {"optimizer.name=adam", "optimizer.lr=0.001"}), kBf16);
  check_same(with("bf16", {"optimizer.name=adamw", "optimizer.impl=fused"}), kBf16);
  check_same(with("bf16", {"precision=bf16", "accumulate_steps=2"}), kBf16);
  check_same(with("bf16", {"data.location=device"}), kBf16);
  check_same(with("bf16", {"compile.fuse=true", "compile.cuda_graph=true"}), kBf16);
  check_same(with("fp16", {"optimizer.momentum=0.9", "clip_grad_norm=0.5"}), kFp16);
  check_same(with("fp16", {"scaler.enabled=true", "optimizer.impl=fused"}), kFp16);
}

// One rounding of FP16 (2^-11) or BF16 (2^-8) a value, of which a loss is a mean.
TEST_CASE("autocast and a loss scale give the host's losses, scales and skipped steps") {
  const std::vector<std::string> scaled{"precision=fp16", "scaler.enabled=true",
                                        "scaler.inject_inf_at=2", "scaler.growth_interval=2"};
  check_same(mlp_with(scaled), 2e-3);
  std::vector<std::string> fused = scaled;
  fused.insert(fused.end(), {"optimizer.impl=fused", "optimizer.name=adam"});
  check_same(mlp_with(fused), 2e-3);
  check_same(mlp_with({"precision=bf16"}), 1e-2);
}

const std::vector<std::string> kCnn{"model.name=cnn", "workload=train", "data.name=digits",
                                    "steps=2", "batch_size=4"};

TEST_CASE("a cnn learns by the kernels as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_same(kCnn, 1e-4);
}

// Small: every barrier of every thread is a switch of stacks in the emulator.
const std::vector<std::string> kGpt{"model.name=gpt-mini", "workload=train",  "steps=1",
                                    "batch_size=1",        "model.width=8",   "model.blocks=1",
                                    "model.heads=2",       "model.seq_len=4", "model.dropout=0.1"};

TEST_CASE("gpt-mini learns by the kernels as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_same(kGpt, 1e-4);
}

TEST_CASE("loader workers, the pin thread and a copy stream bring the same batches") {
  check_same(mlp_with({"loader.num_workers=2", "loader.pin_memory=true",
                       "transfer.non_blocking=true", "loader.shuffle=true"}),
             kFp32);
}

TEST_CASE("one batch that every step takes is read once, and stays what it is") {
  const std::vector<std::string> one{"data.one_batch=true", "data.source=tensor",
                                     "loader.pin_memory=true", "transfer.non_blocking=true"};
  for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(mlp_with(one), kFp32, seed);
}

// What never leaves a fused kernel is rounded as if it did, so the numbers are those of its parts.
TEST_CASE("a compiled model learns by the kernels as by the host, fused and in graphs") {
  const std::vector<std::string> fused{"compile.fuse=true"}, graph{"compile.cuda_graph=true"},
      both{"compile.fuse=true", "compile.cuda_graph=true"};
  for (const auto& how : {fused, graph, both}) {
    INFO(how.front() << " and " << how.size() - 1 << " more");
    check_same(mlp_with(how), kFp32);
    auto scaled = how;
    scaled.insert(scaled.end(), {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2",
                                 "scaler.growth_interval=2"});
    check_same(mlp_with(scaled), 2e-3);
  }
}

// Compiled, in either way and in both, beside the host's and beside the device's own, not compiled:
// of FP32 the latter's bits.
void check_compiled(const std::vector<std::string>& settings, double allowed) {
  const auto with = [&](const std::vector<std::string>& how) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), how.begin(), how.end());
    return config_of(all);
  };
  const Training host = rows_of(*analysis::run_config("A", with({})).trace);
  const Training plain = on_device(with({}), 1);
  const std::string fuse = "compile.fuse=true", graph = "compile.cuda_graph=true";
  for (const auto& how : {std::vector{fuse}, {graph}, {fuse, graph}}) {
    INFO(settings.front() << ": " << how.front() << " and " << how.size() - 1 << " more");
    const Training compiled = on_device(with(how), 1);
    compare(compiled, host, allowed);
    compare(compiled, plain, 0);
  }
}

// A graph is captured in the second step; what it draws it draws at each launch.
TEST_CASE("a compiled cnn and gpt-mini learn as they do uncompiled, and as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_compiled({"model.name=cnn", "workload=train", "data.name=digits", "steps=3", "batch_size=4",
                  "loop.evaluate=false", "optimizer.lr=0.001"},
                 1e-4);
  check_compiled(
      {"model.name=gpt-mini", "workload=train", "steps=3", "batch_size=2", "model.width=8",
       "model.blocks=2", "model.heads=2", "model.seq_len=5", "model.dropout=0"},
      1e-4);
}

TEST_CASE("a dropout in a graph draws anew at each launch, and what it draws uncaptured") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_compiled(
      {"model.name=gpt-mini", "workload=train", "steps=5", "batch_size=2", "model.width=8",
       "model.blocks=1", "model.heads=2", "model.seq_len=5", "model.dropout=0.3"},
      1e-4);
}

TEST_CASE("a fused gpt-mini drops what it drops unfused") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  std::vector<std::string> fused = kGpt;
  fused.push_back("compile.fuse=true");
  check_same(fused, 1e-4);
  compare(on_device(config_of(fused), 1), on_device(config_of(kGpt), 1), 0);
}

std::vector<std::string> ranks_with(const char* strategy, int ranks,
                                    const std::vector<std::string>& more) {
  std::vector<std::string> settings =
      mlp_with({strategy, "parallel.world_size=" + std::to_string(ranks), "machine=h200-8"});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::vector<std::string> ddp_with(int ranks, const std::vector<std::string>& more) {
  return ranks_with("parallel.strategy=ddp", ranks, more);
}

TEST_CASE("ranks that share a GPU learn as the ranks of the host do") {
  for (const int ranks : {2, 4})
    for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(ddp_with(ranks, {}), kFp32, seed);
}

TEST_CASE("DistributedDataParallel's options give the host's losses") {
  check_same(ddp_with(2, {"ddp.gradient_as_bucket_view=true"}), kFp32);
  check_same(ddp_with(2, {"ddp.find_unused_parameters=true"}), kFp32);
  check_same(ddp_with(3, {"ddp.bucket_cap_mb=0.001", "accumulate_steps=2"}), kFp32);
  check_same(ddp_with(2, {"loader.shuffle=true", "loader.num_workers=1", "loader.pin_memory=true"}),
             kFp32);
  check_same(ddp_with(2, {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2",
                          "scaler.growth_interval=2"}),
             2e-3);
}

TEST_CASE(
    "compiled ranks learn as those of the host do, cut at buckets or in one, in graphs or not") {
  const std::vector<std::string> fuse{"compile.fuse=true"}, graph{"compile.cuda_graph=true"};
  // So wide that there are several pieces.
  for (const std::vector<std::string>& how : {fuse, graph})
    for (const char* cut : {"compile.optimize_ddp=true", "compile.optimize_ddp=false"}) {
      std::vector<std::string> more = how;
      more.insert(more.end(), {cut, "model.hidden=600", "model.layers=3", "loop.evaluate=false"});
      check_same(ddp_with(2, more), kFp32);
    }
  check_same(ranks_with("parallel.strategy=fsdp", 2, {"compile.fuse=true"}), kFp32);
}

TEST_CASE("ranks of FSDP gather and scatter as those of the host do") {
  const auto fsdp_with = [](int ranks, const std::vector<std::string>& more) {
    return ranks_with("parallel.strategy=fsdp", ranks, more);
  };
  for (const int ranks : {2, 3})
    for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(fsdp_with(ranks, {}), kFp32, seed);
  check_same(fsdp_with(2, {"fsdp.wrap=model", "optimizer.name=adamw"}), kFp32);
  check_same(fsdp_with(4, {"fsdp.reshard_after_forward=false"}), kFp32);
  check_same(fsdp_with(2, {"accumulate_steps=2"}), kFp32);
  check_same(fsdp_with(3, {"clip_grad_norm=0.1"}), kFp32);
  check_same(fsdp_with(2, {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2",
                           "scaler.growth_interval=2", "clip_grad_norm=0.1"}),
             2e-3);
}

TEST_CASE("groups of ranks gather, scatter and sum as those of the host do") {
  const auto groups_with = [](int ranks, const char* degree, std::vector<std::string> more) {
    more.emplace_back(degree);
    return ranks_with("parallel.strategy=fsdp", ranks, more);
  };
  for (const char* degree : {"fsdp.shard_degree=1", "fsdp.shard_degree=2"})
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
      check_same(groups_with(4, degree, {}), kFp32, seed);
  check_same(groups_with(4, "fsdp.shard_degree=2", {"accumulate_steps=2", "clip_grad_norm=0.1"}),
             kFp32);
  check_same(groups_with(4, "fsdp.shard_degree=2", {"fsdp.param_dtype=bf16"}), 3e-2);
}

TEST_CASE("tensor groups with DDP between them sum as those of the host do") {
  const auto groups_with = [](const char* degree, std::vector<std::string> more) {
    more.emplace_back(degree);
    return ranks_with("parallel.strategy=tensor", 4, more);
  };
  for (const char* degree : {"tensor.degree=1", "tensor.degree=2"})
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
      check_same(groups_with(degree, {}), kFp32, seed);
  check_same(groups_with("tensor.degree=2", {"accumulate_steps=2", "ddp.no_sync=true"}), kFp32);
}

TEST_CASE("tensor groups with FSDP between them gather, scatter and sum as those of the host do") {
  const auto groups_with = [](int ranks, std::vector<std::string> more) {
    more.emplace_back("tensor.degree=2");
    return ranks_with("parallel.strategy=fsdp", ranks, more);
  };
  for (const int ranks : {4, 6})
    for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(groups_with(ranks, {}), kFp32, seed);
  check_same(groups_with(4, {"accumulate_steps=2", "clip_grad_norm=0.1"}), kFp32);
  check_same(groups_with(4, {"fsdp.param_dtype=bf16"}), 3e-2);
}

TEST_CASE("ranks sum narrow numbers as those of the host do") {
  check_same(ddp_with(3, {"model.dtype=bf16"}), 3e-2);
  check_same(ddp_with(2, {"model.dtype=fp16"}), 4e-3);
  check_same(ddp_with(3, {"ddp.comm_hook=bf16_compress", "ddp.bucket_cap_mb=0.001"}), 1e-3);
  check_same(ddp_with(2, {"ddp.comm_hook=fp16_compress", "ddp.gradient_as_bucket_view=true"}),
             1e-3);
  check_same(ranks_with("parallel.strategy=fsdp", 2, {"fsdp.param_dtype=bf16"}), 3e-2);
  check_same(ranks_with("parallel.strategy=fsdp", 3,
                        {"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32", "clip_grad_norm=0.1"}),
             3e-2);
  check_same(ranks_with("parallel.strategy=tensor", 2, {"precision=bf16"}), 3e-2);
  check_same(ranks_with("parallel.strategy=pipeline", 2,
                        {"precision=bf16", "model.layers=3", "loop.evaluate=false"}),
             3e-2);
}

TEST_CASE("stages of a pipeline send and receive as those of the host do") {
  const auto stages_with = [](int stages, const std::vector<std::string>& more) {
    std::vector<std::string> settings =
        ranks_with("parallel.strategy=pipeline", stages, {"model.layers=3", "loop.evaluate=false"});
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  for (const int stages : {2, 4})
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
      check_same(stages_with(stages, {}), kFp32, seed);
  check_same(stages_with(3, {"pipeline.schedule=gpipe", "optimizer.name=adamw"}), kFp32);
  check_same(stages_with(2, {"pipeline.schedule=gpipe", "pipeline.microbatches=1"}), kFp32);
  check_same(stages_with(3, {"zero_grad.set_to_none=false", "checkpoint.enabled=true"}), kFp32);
  const std::string interleaved = "pipeline.schedule=interleaved_1f1b";
  check_same(stages_with(2, {interleaved}), kFp32);
  check_same(stages_with(3, {interleaved, "model.layers=5", "optimizer.name=adamw"}), kFp32);
  check_same(stages_with(2, {interleaved, "zero_grad.set_to_none=false"}), kFp32);
  check_same(stages_with(3, {interleaved, "model.layers=5", "pipeline.batch_p2p_comm=false"}),
             kFp32);
}

TEST_CASE("pipelines alike sum their gradients as those of the host do") {
  for (const char* how : {"pipeline.schedule=gpipe", "pipeline.schedule=1f1b",
                          "pipeline.schedule=interleaved_1f1b", "ddp.gradient_as_bucket_view=true"})
    check_same(ranks_with("parallel.strategy=pipeline", 4,
                          {"pipeline.degree=2", "model.layers=5", "loop.evaluate=false", how}),
               kFp32);
}

TEST_CASE("ranks that share out the layers sum as those of the host do") {
  const auto tensor_with = [](int ranks, const std::vector<std::string>& more) {
    std::vector<std::string> settings =
        ranks_with("parallel.strategy=tensor", ranks,
                   {"model.hidden=32", "model.layers=3", "loop.evaluate=false"});
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  for (const int ranks : {2, 4})
    for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(tensor_with(ranks, {}), kFp32, seed);
  check_same(tensor_with(2, {"optimizer.name=adamw", "accumulate_steps=2"}), kFp32);
  check_same(tensor_with(2, {"checkpoint.enabled=true", "loader.shuffle=true"}), kFp32);
  check_same({"model.name=gpt-mini", "data.name=text", "model.width=32", "model.heads=4",
              "model.seq_len=16", "model.blocks=2", "batch_size=2", "steps=3", "machine=h200-8",
              "parallel.strategy=tensor", "parallel.world_size=2", "loop.evaluate=false"},
             kFp32);
}

namespace {

// A small model of text whose layers so many ranks share.
std::vector<std::string> shared_gpt(int ranks, const std::vector<std::string>& more) {
  std::vector<std::string> settings{"model.name=gpt-mini",
                                    "data.name=text",
                                    "model.width=16",
                                    "model.heads=4",
                                    "steps=2",
                                    "model.seq_len=8",
                                    "model.blocks=1",
                                    "batch_size=2",
                                    "loop.evaluate=false",
                                    "machine=h200-8",
                                    "workload=train",
                                    "parallel.strategy=tensor",
                                    "parallel.world_size=" + std::to_string(ranks)};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

}  // namespace

TEST_CASE("ranks that share out the tokens gather and scatter as those of the host do") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  const auto gpt_with = [](int ranks, std::vector<std::string> more) {
    more.insert(more.begin(), {"model.dropout=0.1", "tensor.sequence_parallel=true"});
    return shared_gpt(ranks, more);
  };
  for (const int ranks : {2, 4}) check_same(gpt_with(ranks, {}), kFp32);
  check_same(gpt_with(2, {"batch_size=1", "checkpoint.enabled=true"}), kFp32);
  check_same(gpt_with(2, {"precision=bf16", "optimizer.name=adamw"}), 3e-2);
}

// Of 49 characters, so that the last of several ranks has fewer than the others.
TEST_CASE("ranks that share out the vocabulary learn as those of the host do") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  const auto gpt_with = [](int ranks, std::vector<std::string> more) {
    more.insert(more.begin(), {"tensor.loss_parallel=true"});
    return shared_gpt(ranks, more);
  };
  for (const int ranks : {2, 4}) check_same(gpt_with(ranks, {}), kFp32);
  check_same(gpt_with(4, {"tensor.sequence_parallel=true"}), kFp32);
  check_same(gpt_with(4, {"tensor.degree=2", "accumulate_steps=2"}), kFp32);
  check_same(gpt_with(2, {"precision=bf16", "optimizer.name=adamw"}), 3e-2);
  check_same(gpt_with(2, {"model.dtype=bf16"}), 3e-2);
}

TEST_CASE("DataParallel on GPUs that share one learns as the host does") {
  const auto dp_with = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings =
        mlp_with({"parallel.strategy=dp", "parallel.world_size=3", "machine=h200-8"});
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(dp_with({}), kFp32, seed);
  check_same(dp_with({"dp.loss_in_forward=true"}), kFp32);
  check_same(dp_with({"accumulate_steps=2"}), kFp32);
}

namespace {

// At the end each rank's main thread copies its parameters to the host, one rank after the other.
void bring_parameters(program::Program& program, std::size_t ranks) {
  const auto count = program.buffers.size() / ranks;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < count; ++i) {
      const auto parameter = static_cast<program::Index>(rank * count + i);
      if (program.buffers[parameter].role != program::Role::kParameter) continue;
      const auto to = static_cast<program::Index>(program.buffers.size());
      program.buffers.push_back(
          {"there", program.buffers[parameter].bytes, program::MemoryKind::kPinned});
      const auto stream = static_cast<program::Index>(rank * program.streams.size() / ranks);
      auto& commands = program.threads[rank * program.threads.size() / ranks].commands;
      commands.push_back({program::Copy{parameter, to, program.buffers[parameter].bytes, stream}});
      commands.push_back({program::StreamSync{stream}});
    }
}

}  // namespace

TEST_CASE("after DistributedDataParallel all ranks have the same bytes, and the host's weights") {
  for (const int ranks : {2, 4}) {
    const program::Config config = config_of(ddp_with(ranks, {"optimizer.momentum=0.9"}));
    const machine::Machine machine = train::machine_of(config);
    const program::Program one = train::build_program(config, machine);
    trace::Trace simulated(trace::Origin{}), measured(trace::Origin{});
    host::RankNumbers numbers(one);
    sim::Simulation(one, machine, "native", simulated, &numbers).finish();

    program::Program all = train::with_every_rank(one);
    const std::size_t count = one.buffers.size();
    bring_parameters(all, static_cast<std::size_t>(ranks));
    test::EmulatedDevice device;
    REQUIRE_FALSE(cuda::Execution(all, machine, device, measured).run());

    std::map<std::vector<float>, int> seen;  // how many ranks ended with these numbers
    for (const std::vector<float>& values : device.arrived()) ++seen[values];
    std::size_t parameters = 0;
    for (program::Index i = 0; i < count; ++i) {
      if (one.buffers[i].role != program::Role::kParameter) continue;
      ++parameters;
      const host::Results expected = numbers.rank(0).values(i);
      const auto same = [&](const auto& entry) {
        if (entry.second != ranks || entry.first.size() != expected.size()) return false;
        for (std::size_t k = 0; k < expected.size(); ++k)
          if (std::abs(entry.first[k] - expected[k]) > kFp32) return false;
        return true;
      };
      INFO(ranks << " ranks, " << one.buffers[i].name);
      CHECK(std::any_of(seen.begin(), seen.end(), same));
    }
    CHECK(parameters >= 4);
    CHECK(device.arrived().size() >= parameters * static_cast<std::size_t>(ranks));
  }
}

TEST_CASE("a validation between steps is carried out on the device, and changes no training") {
  const std::vector<std::string> validates{"validation.batches=3", "validation.every=2"};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"validation.no_grad=false"},
        {"validation.no_grad=false", "validation.keep=loss", "loop.keep_losses=tensor"},
        {"validation.keep=output", "loop.keep_losses=item"}}) {
    std::vector<std::string> settings = mlp_with(validates);
    settings.insert(settings.end(), more.begin(), more.end());
    check_same(settings, kFp32);
    compare(on_device(config_of(settings), 1), on_device(config_of(kMlp), 1), 0);
  }
}
