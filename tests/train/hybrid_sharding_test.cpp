// FSDP's parameters shared by some of the ranks: who gathers, who sums, on which stream.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/error.h"
#include "support/built_program.h"
#include "support/program_order.h"
#include "train/parallel/parallel.h"
#include "train/parallel/ranks.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;
using program::CollectiveKind;
using program::Index;
using test::collectives_of;
using test::in_order;
using test::Settings;
using test::with;

namespace {

const Settings kCommon{
    "parallel.strategy=fsdp", "parallel.world_size=4", "machine=h200-8", "steps=2",
    "model.name=gpt-mini",    "batch_size=2",          "model.width=24", "model.blocks=3",
    "model.heads=2",          "model.seq_len=16"};

program::Program program_of(const Settings& more) {
  return test::program_of(with(kCommon, more));
}

// Of the parts that a rank keeps.
std::int64_t bytes_of_parts(const program::Program& program) {
  std::int64_t bytes = 0;
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.name.ends_with(", this rank's part")) bytes += buffer.bytes;
  return bytes;
}

std::string listing_of(const Settings& more) {
  return test::listing_of(program_of(more));
}

std::string refusal(const Settings& more) {
  try {
    program_of(more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("neighbours share the parameters, and ranks with the same part sum its gradients") {
  const program::Program program = program_of({"fsdp.shard_degree=2"});
  REQUIRE(program.communicators.size() == 2);
  const program::Communicator &shards = program.communicators[0],
                              &replicas = program.communicators[1];
  CHECK(shards.name == "shard group");
  CHECK(shards.gpus == std::vector<int>{0, 1});
  CHECK(shards.groups == 2);
  CHECK(shards.group(1).gpus == std::vector<int>{2, 3});
  CHECK(shards.group(1).number() == 1);
  CHECK(replicas.name == "replicate group");
  CHECK(replicas.gpus == std::vector<int>{0, 2});
  CHECK(replicas.groups == 2);
  CHECK(replicas.group(1).gpus == std::vector<int>{1, 3});

  std::int64_t scattered = 0, sums = 0;
  std::map<Index, std::int64_t> next;
  const program::Collective* before = nullptr;
  const auto all = collectives_of(program);
  for (const program::Collective& one : all) {
    CHECK(one.sequence == next[one.communicator]++);
    if (one.kind == CollectiveKind::kAllReduce) {
      ++sums;
      CHECK(one.communicator == 1);
      CHECK(program.streams[one.stream].number == 28);
      REQUIRE(before);
      CHECK(before->kind == CollectiveKind::kReduceScatter);
      CHECK(one.after == before->stream);
      CHECK(one.bytes == before->bytes / 2);
      CHECK(one.send == before->receive);
    } else {
      CHECK(one.communicator == 0);
      CHECK(program.streams[one.stream].number == 24);
    }
    scattered += one.kind == CollectiveKind::kReduceScatter ? 1 : 0;
    before = &one;
  }
  CHECK(scattered == 2 * (3 + 1));
  CHECK(sums == scattered);
}

TEST_CASE("the optimizer waits for the sums over replicas, and memory only for the scatter") {
  const program::Program program = program_of({"fsdp.shard_degree=2"});
  std::map<Index, int> recorded_on;
  int for_sums = 0, for_scatters = 0;
  in_order(program, 0, [&](const program::Command& command) {
    if (const auto* one = std::get_if<program::RecordEvent>(&command.action))
      recorded_on[one->event] = program.streams[one->stream].number;
    const auto* wait = std::get_if<program::StreamWait>(&command.action);
    if (!wait || program.streams[wait->stream].number != 7) return;
    if (recorded_on[wait->event] == 28) ++for_sums;
    if (recorded_on[wait->event] == 24) ++for_scatters;
  });
  constexpr int kSteps = 2, kUnits = 4, kGathers = 2 * 3 + 1;
  CHECK(for_sums == kSteps * kUnits);
  CHECK(for_scatters == kSteps * (kUnits + kGathers));
}

TEST_CASE("a rank keeps so much of the model as its group leaves it") {
  for (const int degree : {1, 2, 4}) {
    const program::Program program = program_of({"fsdp.shard_degree=" + std::to_string(degree)});
    CHECK(static_cast<double>(bytes_of_parts(program)) ==
          Approx(4.0 * static_cast<double>(program.parameters) / degree).epsilon(0.005));
    CHECK(program.communicators.size() == (degree == 4 ? 1 : 2));
  }
}

TEST_CASE("a rank alone has the two groups that it is in, with all their ranks") {
  const program::Program program = program_of({"fsdp.shard_degree=2"});
  const program::Program own = only_rank(program, 3);
  program::validate(own);
  REQUIRE(own.communicators.size() == 2);
  CHECK(own.communicators[0].gpus == std::vector<int>{2, 3});
  CHECK(own.communicators[1].gpus == std::vector<int>{1, 3});
  CHECK(own.communicators[0].rank_of(3) == 1);
  CHECK(own.communicators[0].simulated == 1);
}

TEST_CASE("a group of all ranks is no group") {
  const auto shape = [](const program::Program& program) {
    std::vector<std::size_t> sizes{program.streams.size(), program.buffers.size(),
                                   program.operations.size(), program.communicators.size()};
    for (const program::Thread& thread : program.threads) sizes.push_back(thread.commands.size());
    return sizes;
  };
  CHECK(shape(program_of({"fsdp.shard_degree=4"})) == shape(program_of({})));
  CHECK(program_of({"fsdp.shard_degree=4"}).communicators.front().groups == 1);
  CHECK_THAT(listing_of({"fsdp.shard_degree=4"}), !Contains("mesh"));
}

TEST_CASE("what is asked of all gradients is summed over a shard group: the others have the same") {
  const program::Program program =
      program_of({"fsdp.shard_degree=2", "clip_grad_norm=1", "steps=1"});
  const auto all = collectives_of(program);
  CHECK(std::ranges::count_if(all, [&](const program::Collective& one) {
          return one.kind == CollectiveKind::kAllReduce && one.communicator == 0 &&
                 program.streams[one.stream].number == 24;
        }) == 1);
}

TEST_CASE("what was summed in another type is kept until its cast is done") {
  for (const Settings& more :
       {Settings{"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"},
        Settings{"fsdp.param_dtype=bf16", "accumulate_steps=2"}, Settings{"accumulate_steps=3"}}) {
    INFO(more[0]);
    Settings settings{"fsdp.shard_degree=2"};
    settings.insert(settings.end(), more.begin(), more.end());
    const program::Program program = program_of(settings);
    program::validate(program);
    std::set<Index> in_sum, were_in_sum;
    std::size_t kept = 0;
    in_order(program, 0, [&](const program::Command& command) {
      const program::Action& action = command.action;
      const auto* sum = std::get_if<program::Collective>(&action);
      if (sum && sum->communicator == 1) {
        const auto& summed = program.payloads[sum->send];
        in_sum.insert(summed.begin(), summed.end());
        were_in_sum.insert(summed.begin(), summed.end());
      }
      const auto* wait = std::get_if<program::StreamWait>(&action);
      if (wait && program.streams[wait->stream].number == 7) in_sum.clear();
      const auto* freed = std::get_if<program::Free>(&action);
      if (!freed) return;
      REQUIRE_FALSE(in_sum.contains(freed->buffer));
      kept += were_in_sum.erase(freed->buffer);
    });
    REQUIRE(kept > 0);
  }
}

TEST_CASE("every rank calls the collectives of its own groups") {
  for (const char* degree : {"fsdp.shard_degree=1", "fsdp.shard_degree=2"}) {
    const program::Program one = program_of({degree, "model.dropout=0", "steps=1"});
    const program::Program all = with_every_rank(one);
    program::validate(all);
    const std::size_t groups = static_cast<std::size_t>(one.communicators[0].groups) +
                               static_cast<std::size_t>(one.communicators[1].groups);
    CHECK(all.communicators.size() == groups);
    std::map<std::pair<Index, std::int64_t>, std::vector<int>> met;
    for (const program::Thread& thread : all.threads)
      for (const program::Command& command : thread.commands) {
        const auto* collective = std::get_if<program::Collective>(&command.action);
        if (!collective) continue;
        CHECK(all.streams[collective->stream].device == thread.rank);
        met[{collective->communicator, collective->sequence}].push_back(thread.rank);
      }
    std::set<Index> used;
    for (auto& [key, ranks] : met) {
      const program::Communicator& group = all.communicators[key.first];
      CHECK(group.simulated == group.ranks);
      std::ranges::sort(ranks);
      CHECK(ranks == group.gpus);
      used.insert(key.first);
    }
    CHECK(used.size() == groups);
  }
}

TEST_CASE("groups that would differ are refused with what to write") {
  CHECK_THAT(refusal({"fsdp.shard_degree=8"}),
             Contains("fsdp.shard_degree = 8 is more than parallel.world_size = 4; write 4, or 0"));
  CHECK_THAT(refusal({"fsdp.shard_degree=3"}),
             Contains("does not divide 4 ranks into equal groups; write one of 1, 2, 4, or 0"));
  const Settings nodes{"machine=h200-8x2", "parallel.world_size=12", "fsdp.shard_degree=4"};
  CHECK_THAT(refusal(nodes), Contains("12 ranks do not fill their nodes of 8 GPUs") &&
                                 Contains("write parallel.world_size = 16"));
  machine::Machine three = machine::load_machine("h200-8x2");
  three.nodes = 3;
  program::Config config;
  config.set_text("fsdp.shard_degree=12");
  CHECK_THROWS_WITH(shard_degree(config, three, 24),
                    Contains("puts some groups into one node of 8 GPUs and others across two; "
                             "write a divisor or a multiple of 8"));
  CHECK(refusal({"parallel.strategy=ddp", "fsdp.shard_degree=2"}) == "");
  CHECK_THAT(refusal({"fsdp.shard_degree=2", "collective.expanded=true"}),
             Contains("collective.expanded is not built for the groups of fsdp.shard_degree"));
}

TEST_CASE("the listing of hybrid sharding has a mesh of two dimensions") {
  CHECK_THAT(listing_of({"fsdp.shard_degree=2"}),
             Contains("mesh = init_device_mesh(\"cuda\", (2, 2), mesh_dim_names=(\"replicate\", "
                      "\"shard\"))\n") &&
                 Contains("for block in model.blocks: fully_shard(block, mesh=mesh)\n") &&
                 Contains("fully_shard(model, mesh=mesh)\n"));
  CHECK_THAT(listing_of({"fsdp.shard_degree=1", "fsdp.param_dtype=bf16"}),
             Contains("init_device_mesh(\"cuda\", (4, 1),") &&
                 Contains("fully_shard(model, mesh=mesh, mp_policy=policy)\n"));
  CHECK_THAT(listing_of({}), !Contains("mesh"));
}
