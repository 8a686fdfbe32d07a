// `trainscope sampler`: one index a line, and one sentence for what cannot be sampled.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.h"

using namespace trainscope::test;

// The orders are those of torch.utils.data.DistributedSampler in PyTorch 2.11.
TEST_CASE("sampler prints the indices of one rank as PyTorch gives them") {
  const Result plain = run("sampler --length 10 --replicas 4 --rank 1 --no-shuffle");
  CHECK(plain.code == 0);
  CHECK(plain.out == "1\n5\n9\n");
  CHECK(plain.err.empty());
  CHECK(run("sampler --length 10 --replicas 4 --rank 3 --no-shuffle").out == "3\n7\n1\n");
  CHECK(run("sampler --length 10 --replicas 4 --rank 3 --no-shuffle --drop-last").out == "3\n7\n");
  CHECK(run("sampler --length 10 --replicas 2 --rank 1 --seed 3 --epoch 2").out ==
        "4\n6\n5\n2\n7\n");
  CHECK(run("sampler --length 3 --replicas 8 --rank 1 --drop-last").out.empty());
}

TEST_CASE("sampler prints the same indices as JSON, with what they are of") {
  for (const char* how :
       {"--length 10 --replicas 2 --rank 1 --seed 3 --epoch 2", "--length 100003 --replicas 1",
        "--length 3 --replicas 8 --rank 1 "
        "--drop-last",
        "--length 10 --no-shuffle"}) {
    INFO(how);
    const std::string command = std::string("sampler ") + how;
    const nlohmann::json json = nlohmann::json::parse(run(command + " --json").out);
    std::string lines;
    for (const auto& index : json["indices"]) lines += std::to_string(index.get<int>()) + "\n";
    CHECK(lines == run(command).out);
  }
  const auto json =
      nlohmann::json::parse(run("sampler --length 10 --replicas 4 --rank 3 --epoch 2 --json").out);
  CHECK(json["length"] == 10);
  CHECK(json["replicas"] == 4);
  CHECK(json["rank"] == 3);
  CHECK(json["seed"] == 0);
  CHECK(json["epoch"] == 2);
  CHECK(json["shuffle"] == true);
  CHECK(json["drop_last"] == false);
}

TEST_CASE("sampler refuses what cannot be sampled") {
  refuses("sampler", 2, "--length");
  refuses("sampler --length 0", 2, "--length is 0; give a number from 1 to 100000000");
  refuses("sampler --length 1000000000 --replicas 8", 2,
          "give a number from 1 to 100000000, whose order");
  refuses("sampler --length -5", 2, "--length is -5");
  refuses("sampler --length ten", 2, "--length: ten is no whole number");
  refuses("sampler --length 1e3", 2, "--length: 1e3 is no whole number; write it in digits");
  refuses("sampler --length 99999999999999999999", 2, "has more digits than any number");
  refuses("sampler --length 10 --replicas 0", 2, "--replicas is 0; give a number from 1");
  refuses("sampler --length 10 --replicas 4 --rank 4", 2, "--rank is 4; give a number from 0 to 3");
  refuses("sampler --length 10 --replicas 4 --rank -1", 2, "--rank is -1");
  refuses("sampler --length 10 --rank 1", 2, "--replicas");
  refuses("sampler --length 10 --epoch -1", 2, "--epoch is -1");
}

TEST_CASE("help names the sampler") {
  CHECK_THAT(run("--help").out, Catch::Contains("sampler"));
  CHECK_THAT(run("sampler --help").out, Catch::Contains("--drop-last"));
}
