// Grids of a training step's kernels, and that they are carried out as blocks one by one would be.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "machine/occupancy.h"
#include "sim/block_cost.h"
#include "sim/lone_runs.h"
#include "sim/plain_sms.h"
#include "train/build.h"

namespace trainscope::train {
namespace {

program::Program built(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& word : settings) config.set_text(word);
  config.set_text("steps=1");
  return build_program(config, machine_of(config));
}

std::vector<const program::Operation*> launched(const program::Program& program) {
  std::set<program::Index> seen;
  std::vector<const program::Operation*> operations;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action))
        if (seen.insert(launch->operation).second)
          operations.push_back(&program.operations[launch->operation]);
  return operations;
}

const program::Operation& named(const program::Program& program, std::string_view kernel) {
  const auto all = launched(program);
  const auto found = std::ranges::find_if(
      all, [&](const program::Operation* one) { return one->kernel.starts_with(kernel); });
  INFO(kernel);
  REQUIRE(found != all.end());
  return **found;
}

using Grid = std::pair<std::int64_t, int>;  // blocks, threads
Grid grid_of(const program::Program& program, std::string_view kernel) {
  const program::Operation& one = named(program, kernel);
  return {one.blocks, one.threads};
}

const std::vector<std::vector<std::string>> kSteps{
    {"model.name=gpt2", "batch_size=2", "optimizer.name=adamw", "precision=fp16"},
    {"model.name=gpt2", "batch_size=2", "attention.kernel=flash", "precision=fp16"},
    {"model.name=gpt-mini", "batch_size=4", "compile.fuse=true"},
    {"model.name=bert-large", "batch_size=1", "optimizer.impl=fused"},
    {"model.name=resnet50", "batch_size=8", "precision=fp16", "clip_grad_norm=1"},
    {"model.name=resnext50", "batch_size=4", "cudnn.benchmark=true"},
    {"model.name=cnn"},
    {"model.name=mlp", "batch_size=100"}};

}  // namespace

TEST_CASE("the kernels of a step of gpt2 have the grids of PyTorch's") {
  const program::Program program =
      built({"machine=a100-sxm-1", "model.name=gpt2", "batch_size=8", "model.seq_len=1024",
             "precision=bf16", "attention.kernel=flash"});
  CHECK(grid_of(program, "gelu") == Grid{8 * 1024 * 3072 / 512, 128});
  CHECK(grid_of(program, "layer_norm") == Grid{8 * 1024, 128});
  CHECK(grid_of(program, "layer_norm_backward of the weights") == Grid{768 / 32, 1024});
  CHECK(grid_of(program, "log_softmax") == Grid{8 * 1024, 1024});
  CHECK(grid_of(program, "log_softmax_backward") == Grid{8 * 1024, 512});
  CHECK(grid_of(program, "nll_loss") == Grid{1, 512});
  const std::int64_t table = std::int64_t{50257} * 768;  // filled with zeros
  CHECK(grid_of(program, "embedding_backward").first >= table / 512);
  CHECK(grid_of(program, "flash attention") == Grid{8 * 12 * 1024 / 128, 128});
  CHECK(grid_of(program, "flash attention backward") == Grid{8 * 12 * 1024 / 128, 256});
}

TEST_CASE("a block of a product has a tile, and what is few in tiles is cut along k") {
  const program::Program program =
      built({"machine=a100-sxm-1", "model.name=gpt2", "batch_size=8", "precision=bf16"});
  int products = 0;
  for (const program::Operation* one : launched(program)) {
    if (one->kind != program::OperationKind::kGemm || !one->kernel.starts_with("gemm")) continue;
    CAPTURE(one->kernel);
    CHECK(one->blocks >= 108 / 2);
    CHECK(one->block_work->flops * static_cast<double>(one->blocks) >= one->flops);
    CHECK(one->block_work->math == machine::Math::kTensorFp16);
    ++products;
  }
  CHECK(products > 0);
}

TEST_CASE("torch.compile pads the odd rows of a vocabulary, where eager code takes longer") {
  const auto efficiency = [](const std::string& kernel, const std::string& fused) {
    return named(
               built({"machine=a100-sxm-1", "model.name=gpt2", "batch_size=8", "model.seq_len=1024",
                      "precision=bf16", "attention.kernel=flash", "compile.fuse=" + fused}),
               kernel)
        .block_work->efficiency;
  };
  for (const char* kernel : {"gemm 8192x50257x768", "gemm 8192x768x50257", "gemm 50257x768x8192"}) {
    CAPTURE(kernel);
    CHECK(efficiency(kernel, "true") > 1.4 * efficiency(kernel, "false"));
  }
  CHECK(efficiency("gemm 8192x768x3072", "true") == efficiency("gemm 8192x768x3072", "false"));
}

TEST_CASE("every kernel of a step can be launched, and its blocks do what it does") {
  for (const char* machine : {"t4-1", "v100-sxm-1", "a100-sxm-1", "h200-1", "rtx3090-1"}) {
    for (std::vector<std::string> step : kSteps) {
      step.push_back(std::string("machine=") + machine);
      const program::Program program = built(step);
      const machine::Gpu gpu = machine::load_machine(machine).gpu;
      const auto kernels = launched(program);
      REQUIRE(!kernels.empty());
      for (const program::Operation* one : kernels) {
        CAPTURE(machine, step.front(), one->kernel);
        REQUIRE(one->block_work);
        REQUIRE_NOTHROW(machine::check_launch(gpu, sim::launch_shape(*one, gpu)));
        const auto blocks = static_cast<double>(one->blocks);
        CHECK(one->block_work->bytes * blocks == Approx(one->bytes));
        CHECK(one->block_work->flops * blocks >= one->flops * (1 - 1e-12));
      }
    }
  }
}

// On a GPU of few SMs, with the grids cut down to a few waves.
TEST_CASE("kernels of training end at the nanosecond of their blocks carried out one by one") {
  machine::Gpu gpu = machine::load_machine("h200-1").gpu;
  gpu.sm_count = 3;
  const sim::SmLimits limits = sim::sm_limits(gpu);
  std::set<std::tuple<sim::BlockCost, std::int64_t>> kinds;
  for (const std::vector<std::string>& step : kSteps) {
    const program::Program program = built(step);
    for (const program::Operation* one : launched(program))
      for (const double hits : {0.0, 0.5})
        kinds.insert({sim::block_cost(*one, gpu, hits), one->blocks});
  }
  const std::vector<std::tuple<sim::BlockCost, std::int64_t>> all(kinds.begin(), kinds.end());
  CHECK(all.size() > 200);
  std::mt19937 random(9);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  const auto known = std::make_shared<sim::LoneRuns>();
  for (int round = 0; round < 4000; ++round) {
    std::vector<test::Arrival> arrivals;
    Nanos time = 0;
    for (std::int64_t k = 1 + upto(2); k > 0; --k) {
      const auto& [cost, blocks] = all[static_cast<std::size_t>(upto(std::ssize(all) - 1))];
      const std::int64_t waves = std::int64_t{cost.per_sm} * gpu.sm_count * 3;
      arrivals.push_back({time, cost, std::min(blocks, 1 + upto(waves)), 0});
      time += upto(1) * upto(50'000);
    }
    CAPTURE(round, arrivals.size());
    const test::PlainResult plain = test::PlainSms(limits, arrivals).run();
    sim::SmArray array(limits, known);
    std::vector<Nanos> ends(arrivals.size());
    const auto until = [&](Nanos last) {
      while (!array.idle() && array.next_event() <= last) {
        const Nanos now = array.next_event();
        for (const std::uint32_t kernel : array.finish(now)) ends[kernel] = now;
      }
    };
    for (std::uint32_t k = 0; k < arrivals.size(); ++k) {
      until(arrivals[k].time - 1);
      array.admit(arrivals[k].time, k, arrivals[k].cost, arrivals[k].blocks);
    }
    until(std::numeric_limits<Nanos>::max());
    REQUIRE(ends == plain.ends);
    REQUIRE(array.use().busy == plain.use.busy);
  }
}

}  // namespace trainscope::train
