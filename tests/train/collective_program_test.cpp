// The workload `collective`.
#include <catch2/catch.hpp>
#include <map>

#include "train/build.h"

using namespace trainscope;
using Catch::Matchers::Contains;

namespace {

program::Program collective_program(const std::vector<std::string>& assignments) {
  program::Config config;
  for (const char* common : {"workload=collective", "machine=h200-8", "steps=3"})
    config.set_text(common);
  for (const std::string& assignment : assignments) config.set_text(assignment);
  return train::build_program(config, train::machine_of(config));
}

// How often each number of a collective is called, and on how many GPUs.
std::map<std::int64_t, std::vector<int>> calls_of(const program::Program& program) {
  std::map<std::int64_t, std::vector<int>> calls;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* collective = std::get_if<program::Collective>(&command.action))
        calls[collective->sequence].push_back(program.streams[collective->stream].device);
  return calls;
}

}  // namespace

TEST_CASE("every rank calls every collective once, in one process or in many") {
  for (const char* profile : {"native", "pytorch-eager"}) {
    CAPTURE(profile);
    const program::Program program =
        collective_program({std::string("host.profile=") + profile, "collective.count=4"});
    const bool one_process = std::string(profile) == "native";
    CHECK(program.threads.size() == (one_process ? 1 : 8));
    const auto calls = calls_of(program);
    CHECK(calls.size() == 12);
    for (const auto& [sequence, gpus] : calls)
      CHECK(gpus == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(program.communicators.at(0).simulated == 8);
  }
}

TEST_CASE("the listing of a collective is torchrun's, or a loop over GPUs") {
  const program::Program torch = collective_program({"collective.op=all_gather"});
  CHECK_THAT(torch.listing.lines[0], Contains("torchrun --nproc_per_node=8"));
  CHECK_THAT(torch.listing.lines[5], Contains("dist.all_gather_into_tensor(out, x)"));
  const program::Program nccl = collective_program({"host.profile=native"});
  CHECK_THAT(nccl.listing.lines[4], Contains("ncclAllReduce(x[g], ..., comm[g], stream[g])"));
}

TEST_CASE("of two nodes each has a process of its own that drives its GPUs") {
  const program::Program nccl =
      collective_program({"machine=h200-8x2", "host.profile=native", "collective.algorithm=tree"});
  REQUIRE(nccl.threads.size() == 2);
  CHECK(nccl.threads[0].name == "host node 0");
  CHECK(nccl.threads[1].name == "host node 1");
  for (const std::size_t node : {0u, 1u}) {
    std::vector<int> gpus;
    for (const program::Command& command : nccl.threads[node].commands)
      if (const auto* collective = std::get_if<program::Collective>(&command.action))
        if (collective->sequence == 0) gpus.push_back(nccl.streams[collective->stream].device);
    const int first = 8 * static_cast<int>(node);
    CHECK(gpus.size() == 8);
    CHECK(gpus.front() == first);
    CHECK(gpus.back() == first + 7);
  }
  CHECK_THAT(nccl.listing.lines[0], Contains("NCCL_ALGO=Tree"));
  CHECK_THAT(nccl.listing.lines[1], Contains("mpirun -np 2 -npernode 1"));
  CHECK_THAT(nccl.listing.lines[5], Contains("g < 8"));
  const program::Program torch =
      collective_program({"machine=h200-8x2", "collective.ranks=12", "collective.protocol=ll"});
  CHECK_THAT(torch.listing.lines[0],
             Contains("NCCL_PROTO=LL torchrun --nnodes=2 --nproc_per_node=8 (4 on the last)"));
}

TEST_CASE("more ranks than GPUs are refused") {
  CHECK_THROWS_WITH(collective_program({"collective.ranks=16"}),
                    Contains("collective.ranks = 16 cannot be: h200-8 has 8 GPUs"));
  program::Config all;
  for (const char* word : {"workload=collective", "machine=h200-8", "steps=1"}) all.set_text(word);
  machine::Machine large = train::machine_of(all);
  large.gpu_count = 1025;
  CHECK_THROWS_WITH(
      train::build_program(all, large),
      Contains("all 1025 GPUs of") && Contains("set collective.ranks = 1024 or less"));
  large.gpu_count = 1024;
  CHECK(train::build_program(all, large).threads.size() == 1024);
  CHECK_THROWS_WITH(collective_program({"machine=l40s-2", "nvlink=off"}),
                    Contains("l40s-2 has no NVLinks"));
}

TEST_CASE("a rank of several has its share of the host, and cut NVLinks leave PCIe") {
  program::Config config;
  for (const char* one :
       {"machine=dgx1-v100-8", "parallel.strategy=ddp", "parallel.world_size=4", "nvlink=off"})
    config.set_text(one);
  const machine::Machine whole = machine::load_machine("dgx1-v100-8");
  const machine::Machine part = train::machine_of(config);
  CHECK(part.host.cores == whole.host.cores);
  CHECK(part.host.sharers == 4);
  CHECK(part.host.memory_bytes_per_s == Approx(whole.host.memory_bytes_per_s / 4));
  CHECK(part.gpu_link.kind == machine::LinkKind::kPcie);
  CHECK(part.gpu_link.bytes_per_s == Approx(15.76e9));
}
