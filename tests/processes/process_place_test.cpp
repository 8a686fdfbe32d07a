// Environments as torchrun and Slurm make them, and ones that somebody broke.

#include "cuda/process_place.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "base/error.h"

using namespace trainscope;
using Catch::Contains;

namespace {

using Environment = std::map<std::string, std::string>;

std::optional<cuda::ProcessPlace> place_in(const Environment& environment) {
  return cuda::process_place([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

const Environment kTorchrun{{"RANK", "5"},           {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},     {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "gpu0"}, {"MASTER_PORT", "29500"}};
const Environment kSlurm{{"SLURM_PROCID", "3"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NODELIST", "node[01-03,7],gpu5"},
                         {"SLURM_JOB_ID", "1234567"}};

std::string complaint(Environment environment, const std::string& name, const char* value) {
  environment.erase(name);
  if (value) environment[name] = value;
  try {
    place_in(environment);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a process that nobody started as a rank has no place") {
  CHECK_FALSE(place_in({}));
  CHECK_FALSE(place_in({{"WORLD_SIZE", "4"}, {"SLURM_JOB_ID", "7"}}));
  CHECK_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "7"}}));
}

TEST_CASE("torchrun says rank, ranks and master, before Slurm does") {
  Environment both = kSlurm;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  for (const Environment& environment : {kTorchrun, both}) {
    const auto place = place_in(environment);
    REQUIRE(place);
    CHECK(place->rank == 5);
    CHECK(place->ranks == 8);
    CHECK(place->local_rank == 1);
    CHECK(place->master == "gpu0");
    CHECK(place->port == 29500);
  }
}

TEST_CASE("the store stands beside the one that torchrun's agent keeps") {
  Environment environment = kTorchrun;
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  CHECK(place_in(environment)->port == 29500);
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  CHECK(place_in(environment)->port == 29501);
  CHECK_THAT(complaint(environment, "MASTER_PORT", "65535"), Contains("65534"));
}

TEST_CASE("Slurm says the same, with a port from the job's number") {
  Environment environment = kSlurm;
  const auto place = place_in(environment);
  REQUIRE(place);
  CHECK(place->rank == 3);
  CHECK(place->ranks == 4);
  CHECK(place->local_rank == 1);
  CHECK(place->master == "node01");
  CHECK(place->port == 19567);
  environment["MASTER_ADDR"] = "10.0.0.1";
  environment["MASTER_PORT"] = "4000";
  CHECK(place_in(environment)->master == "10.0.0.1");
  CHECK(place_in(environment)->port == 4000);
}

TEST_CASE("a single task of Slurm's is a place of one, whatever else is set") {
  const auto place = place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
  REQUIRE(place);
  CHECK(place->rank == 0);
  CHECK(place->ranks == 1);
}

TEST_CASE("what is wrong in the environment is named") {
  for (const char* name : {"WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"})
    CHECK_THAT(complaint(kTorchrun, name, nullptr),
               Contains(name) && Contains("RANK is set in the environment but"));
  for (const char* name : {"SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NODELIST", "SLURM_JOB_ID"})
    CHECK_THAT(complaint(kSlurm, name, nullptr), Contains(name));
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"})
    for (const char* value : {"", "two", "1x", "-1", "99999999999999999999"})
      CHECK_THAT(complaint(kTorchrun, name, value), Contains(name));
  CHECK_THAT(complaint(kTorchrun, "RANK", "8"), Contains("from 0 to 7"));
  CHECK_THAT(complaint(kTorchrun, "LOCAL_RANK", "4"), Contains("from 0 to 3"));
  CHECK_THAT(complaint(kTorchrun, "MASTER_PORT", "0"), Contains("from 1 to 65535"));
  CHECK_THAT(complaint(kTorchrun, "MASTER_ADDR", ""), Contains("MASTER_ADDR"));
  CHECK_THAT(complaint(kSlurm, "SLURM_NODELIST", "node[1-"), Contains("SLURM_NODELIST"));
}

TEST_CASE("the first host of Slurm's list") {
  CHECK(cuda::first_host("node[01-03,7],gpu5") == "node01");
  CHECK(cuda::first_host("gpu5,node[1-2]") == "gpu5");
  CHECK(cuda::first_host("rack[3,5]-n[10-12].site") == "rack3-n10.site");
  for (const char* list : {"", ",a", "a[", "a[]", "a[x]", "a]1", "bgl[123x456]", "a;b"})
    CHECK_FALSE(cuda::first_host(list));
}
