// Ranks that differ: a slow one, and one that has fewer batches.
#include "train/parallel/ranks.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "base/error.h"
#include "sim/simulation.h"
#include "trace/step_mark.h"
#include "train/build.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;

namespace {

struct Simulated {
  explicit Simulated(const std::vector<std::string>& assignments) : trace(trace::Origin{}) {
    for (const char* common :
         {"parallel.strategy=ddp", "parallel.world_size=4", "machine=dgx1-v100-8",
          "model.name=resnet18", "batch_size=32", "steps=4"})
      config.set_text(common);
    for (const std::string& assignment : assignments) config.set_text(assignment);
    machine = machine_of(config);
    program = build_program(config, machine);
    sim::Simulation simulation(program, machine, "pytorch-eager", trace);
    simulation.finish();
    ending = simulation.ending();
  }
  // Of waits for the last rank, on one GPU.
  Nanos waited_on(int gpu) const {
    Nanos sum = 0;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
      const trace::Span& span = trace.spans()[i];
      const bool waits = span.category == trace::Category::kSync;
      if (waits && trace.lanes()[span.lane].device == gpu) sum += span.duration;
    }
    return sum;
  }

  program::Config config;
  machine::Machine machine;
  program::Program program;
  trace::Trace trace;
  std::optional<sim::Ending> ending;
};

struct Marked {
  int steps = 0;
  int others = 0;
};
Marked marked_by(const program::Program& program, const program::Thread& thread) {
  Marked marked;
  for (const program::Command& command : thread.commands)
    if (std::holds_alternative<program::BeginMark>(command.action))
      ++(program.names[command.name].starts_with(trace::kStepMark) ? marked.steps : marked.others);
  return marked;
}

}  // namespace

TEST_CASE("ranks that hardly differ take as long as one that stands for all") {
  const Simulated one({});
  const Simulated all({"straggler.rank=2", "straggler.factor=1.0001"});
  CHECK(all.program.streams.size() == 4 * one.program.streams.size());
  CHECK(static_cast<double>(all.trace.end()) ==
        Approx(static_cast<double>(one.trace.end())).epsilon(0.01));
}

TEST_CASE("ranks that compete for a node's cores take as long as one that stands for all") {
  constexpr int kPrograms = 60;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    std::mt19937_64 draw(seed);
    const auto below = [&](std::uint64_t end) { return draw() % end; };
    const auto drawn = [&](const char* knob, std::uint64_t value) {
      return knob + std::string("=") + std::to_string(value);
    };
    constexpr std::array kStrategies{"ddp", "fsdp", "tensor", "fsdp"};
    const std::size_t strategy = below(4);
    const bool is_mesh = strategy == 3;
    std::vector<std::string> settings{
        std::string("parallel.strategy=") + kStrategies[strategy],
        "model.name=mlp",
        drawn("parallel.world_size", std::uint64_t{1} << (1 + is_mesh + below(is_mesh ? 2 : 3))),
        "model.hidden=64",
        drawn("model.layers", 1 + below(4)),
        drawn("host.cores", 1 + below(12)),
        drawn("loader.num_workers", below(3)),
        "loader.sample_ms=0.02",
        "steps=3",
        below(2) ? "loader.pin_memory=true" : "loader.pin_memory=false"};
    if (is_mesh) settings.emplace_back("tensor.degree=2");
    const Simulated one(settings);
    settings.insert(settings.end(), {"straggler.rank=1", "straggler.factor=1.000001"});
    const Simulated all(settings);
    CAPTURE(seed, settings);
    CHECK(all.program.streams.size() > one.program.streams.size());
    CHECK(static_cast<double>(all.trace.end()) ==
          Approx(static_cast<double>(one.trace.end())).epsilon(0.001));
  }
}

TEST_CASE("ranks of one node share its cores, those of another have their own") {
  const auto first_copy = [](int ranks) {
    const Simulated run({"parallel.world_size=" + std::to_string(ranks), "machine=dgx1-v100-8x2",
                         "straggler.rank=0", "straggler.factor=1.0001", "steps=1", "host.cores=2"});
    for (std::uint32_t i = 0; i < run.trace.spans().size(); ++i) {
      const trace::Span& span = run.trace.spans()[i];
      const trace::Lane& lane = run.trace.lanes()[span.lane];
      if (span.category == trace::Category::kCopyH2D && lane.device == 0 &&
          lane.kind == trace::LaneKind::kStream)
        return static_cast<double>(span.duration);
    }
    return 0.0;
  };
  const double node = first_copy(8);
  CHECK(node > 2 * first_copy(1));
  CHECK(first_copy(16) == Approx(node).epsilon(0.02));
}

TEST_CASE("all ranks wait for the slow one, which waits for nobody") {
  const Simulated even({});
  const Simulated odd({"straggler.rank=2", "straggler.factor=1.5"});
  const double ratio = static_cast<double>(odd.trace.end()) / static_cast<double>(even.trace.end());
  CHECK(ratio > 1.3);
  CHECK(ratio < 1.55);
  for (const int gpu : {0, 1, 3}) CHECK(odd.waited_on(gpu) > 20 * odd.waited_on(2));
}

TEST_CASE("a rank with a batch less leaves the others waiting, and the run says who and where") {
  const Simulated run({"uneven_batches=true"});
  REQUIRE(run.ending);
  REQUIRE(std::holds_alternative<sim::Deadlock>(*run.ending));
  const auto& why = std::get<sim::Deadlock>(*run.ending);
  CHECK(why.waiting == std::vector<int>{0, 1, 2});
  CHECK(why.missing == std::vector<int>{3});
  CHECK(why.missing_line == 0);
  CHECK(why.line > 0);
  CHECK_THAT(sim::sentence(*run.ending),
             Contains("ranks 0, 1 and 2 wait at line") && Contains("for rank 3, which has come to "
                                                                   "the end of its program"));
  CHECK(sim::name_of(*run.ending) == "deadlock");
  for (const int gpu : {0, 1, 2}) CHECK(run.waited_on(gpu) > 0);
}

TEST_CASE("without buffers to broadcast, it is backward that waits") {
  const Simulated run({"uneven_batches=true", "model.name=mlp"});
  REQUIRE(run.ending);
  const auto& why = std::get<sim::Deadlock>(*run.ending);
  CHECK(why.call == "loss.backward()");
  CHECK(why.collective == "all_reduce");
}

TEST_CASE("odd ranks that are not there are refused with what to write") {
  CHECK_THROWS_WITH(Simulated({"straggler.rank=4", "straggler.factor=2"}),
                    Contains("straggler.rank = 4 is no rank: there are 4, numbered from 0"));
  CHECK_THROWS_WITH(Simulated({"uneven_batches=true", "steps=1"}), Contains("steps = 2, or more"));
  CHECK_THROWS_WITH(Simulated({"uneven_batches=true", "parallel.world_size=1"}),
                    Contains("parallel.world_size = 2"));
  CHECK_NOTHROW(
      Simulated({"uneven_batches=true", "parallel.strategy=none", "parallel.world_size=1"}));
}

TEST_CASE("one rank that stands for all becomes every rank, each on buffers of its own") {
  program::Config config;
  for (const char* setting :
       {"parallel.strategy=ddp", "parallel.world_size=3", "machine=h200-8", "model.name=mlp",
        "data.name=spirals", "model.inputs=2", "batch_size=8", "steps=3"})
    config.set_text(setting);
  const machine::Machine machine = machine_of(config);
  const program::Program one = build_program(config, machine);
  REQUIRE_FALSE(one.timing_only);
  const program::Program all = with_every_rank(one);
  program::validate(all);
  CHECK(all.communicators.front().simulated == 3);
  CHECK(all.threads.size() == 3 * one.threads.size());
  CHECK(all.payloads.size() == 3 * one.payloads.size());
  std::size_t collectives = 0;
  for (const program::Thread& thread : all.threads)
    for (const program::Command& command : thread.commands) {
      const program::Index stream = program::stream_of(command.action);
      if (stream == program::kNoIndex) continue;
      REQUIRE(all.streams[stream].device == thread.rank);
      const auto lies_there = [&](program::Index buffer) {
        return all.buffers[buffer].device == thread.rank;
      };
      if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
        const program::Operation& operation = all.operations[launch->operation];
        REQUIRE(std::all_of(operation.reads.begin(), operation.reads.end(), lies_there));
        REQUIRE(std::all_of(operation.writes.begin(), operation.writes.end(), lies_there));
      }
      const auto* collective = std::get_if<program::Collective>(&command.action);
      if (!collective || collective->send == program::kNoIndex) continue;
      ++collectives;
      const std::vector<program::Index>& payload = all.payloads[collective->send];
      REQUIRE(std::all_of(payload.begin(), payload.end(), lies_there));
    }
  CHECK(collectives > 3 * 3);
}

TEST_CASE("each rank marks its steps, and rank 0 alone what else is marked") {
  program::Config config;
  for (const char* setting : {"parallel.strategy=fsdp", "parallel.world_size=3", "machine=h200-8",
                              "model.name=mlp", "steps=3", "loop.timer=true"})
    config.set_text(setting);
  const machine::Machine machine = machine_of(config);
  const program::Program one = build_program(config, machine);
  const program::Program all = with_every_rank(one);
  program::validate(all);
  for (const program::Thread& thread : all.threads) {
    const Marked marked = marked_by(all, thread);
    CAPTURE(thread.name);
    CHECK(marked.steps == (thread.role == program::ThreadRole::kMain ? 3 : 0));
    if (thread.rank > 0) CHECK(marked.others == 0);
    if (thread.rank == 0 && thread.role == program::ThreadRole::kMain) CHECK(marked.others > 0);
  }
  const program::Program last = only_rank(one, 2);
  program::validate(last);
  for (std::size_t i = 0; i < last.threads.size(); ++i) {
    const Marked own = marked_by(last, last.threads[i]);
    const std::size_t among_all = 2 * one.threads.size() + i;
    CHECK(own.steps == marked_by(all, all.threads[among_all]).steps);
    CHECK(own.others == 0);
  }
}

TEST_CASE("a program that has all of its ranks stays as it is") {
  program::Config config;
  config.set_text("workload=collective");
  config.set_text("machine=h200-8");
  const program::Program one = build_program(config, machine_of(config));
  CHECK(with_every_rank(one).threads.size() == one.threads.size());
}

TEST_CASE("a rank of a pipeline has alone what it has among all") {
  for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"}) {
    INFO(schedule);
    program::Config config;
    for (const char* setting :
         {"parallel.strategy=pipeline", "parallel.world_size=3", "machine=h200-8", "model.name=mlp",
          "model.layers=6", "data.name=spirals", "model.inputs=2", "batch_size=6",
          "pipeline.microbatches=3", "steps=2"})
      config.set_text(setting);
    config.set_text(std::string("pipeline.schedule=") + schedule);
    const machine::Machine machine = machine_of(config);
    const program::Program all = build_program(config, machine);
    for (int rank = 0; rank < 3; ++rank) {
      const program::Program own = build_rank_of_pipeline(config, machine, rank);
      CHECK(own.communicators.size() == all.communicators.size());
      std::vector<const program::Thread*> among_all;
      for (const program::Thread& thread : all.threads)
        if (thread.rank == rank) among_all.push_back(&thread);
      REQUIRE(among_all.size() == own.threads.size());
      for (std::size_t i = 0; i < own.threads.size(); ++i) {
        const program::Thread &mine = own.threads[i], &there = *among_all[i];
        CHECK(mine.name == there.name);
        CHECK(mine.device == rank);
        REQUIRE(mine.commands.size() == there.commands.size());
        for (std::size_t k = 0; k < mine.commands.size(); ++k)
          REQUIRE(mine.commands[k].action.index() == there.commands[k].action.index());
      }
      for (const program::Stream& stream : own.streams) CHECK(stream.device == rank);
      for (const program::Buffer& buffer : own.buffers) CHECK(buffer.device == rank);
      CHECK((own.gauges.loss != program::kNoIndex) == (rank == 2));
    }
  }
}
