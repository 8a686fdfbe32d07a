// Trainings of several ranks, on the emulated device, beside the same ones by the host.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "cuda/both_trainings.h"
#include "host/rank_numbers.h"
#include "sim/simulation.h"
#include "support/skip.h"
#include "train/build.h"
#include "train/parallel/ranks.h"

using namespace trainscope;
using namespace trainscope::test;

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
