// A run whose GPU is full, as a person sees it: a result like any other.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"

using nlohmann::json;
using namespace trainscope::test;

namespace {

// Eight layers of 8192 and a batch of 65536: 2 GiB for each result on a T4 of 16 GB.
const std::string kFull =
    "run --machine t4-1 --steps 3 --set workload=train --set batch_size=65536 --set "
    "model.hidden=8192 --set model.layers=8 --set data.source=tensor ";

}  // namespace

TEST_CASE("a run out of memory ends well, and says what asked for how much and who has it") {
  const Result ran = run(kFull);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("NVIDIA T4 is out of memory at line ") &&
                          Catch::Contains(" (activations) asks for ") &&
                          Catch::Contains("the largest are relu 1 (activations, 2 GiB), ") &&
                          Catch::Contains("memory.peak_allocated"));
}

TEST_CASE("the JSON of a run out of memory carries the reason in words and in numbers") {
  const json whole = json::parse(run(kFull + "--json").out);
  const json& one = whole["runs"]["A"];
  const json& why = one["out_of_memory"];
  CHECK(why["buffer"].get<std::string>().starts_with("relu "));
  CHECK(why["role"] == "activations");
  CHECK(why["requested"].get<std::int64_t>() + why["allocated"].get<std::int64_t>() >
        why["capacity"].get<std::int64_t>());
  CHECK(why["allocated"] <= why["reserved"]);
  CHECK(why["reserved"] <= why["capacity"]);
  CHECK(why["message"].get<std::string>().starts_with("NVIDIA T4 is out of memory at line "));
  CHECK_FALSE(why["holders"].empty());
  CHECK(one["metrics"]["memory.alloc_retries"]["value"] == 1);
  CHECK_FALSE(json::parse(run("run --set workload=copy --json").out)["runs"]["A"].contains(
      "out_of_memory"));
}

TEST_CASE("a run out of memory is saved, opened and drawn as one that ran to its end") {
  const Folder folder;
  saved_and_opened(kFull + "--trace " + folder.file("ran.json"), folder.file("full.tsrun"));
  CHECK_THAT(read(folder.file("ran.json")), Catch::Contains("\"allocated: parameters\""));
}

// On a T4 the first step fits, and with the optimizer's state the second does not.
TEST_CASE("what a run had done when its memory was full stands in brackets, and beside no ratio") {
  const Folder folder;
  const std::string common =
      "workload = \"train\"\nmodel.name = \"gpt2-large\"\ndata.name = \"tokens\"\nmodel.seq_len = "
      "256\noptimizer.name = \"adamw\"\noptimizer.impl = \"fused\"\nsteps = 4\nbatch_size = 4\n";
  std::ofstream(folder.file("fits.toml")) << common << "machine = \"a100-sxm-1\"\n";
  std::ofstream(folder.file("full.toml")) << common << "machine = \"t4-1\"\n";
  const Result alone = run("run " + folder.file("full.toml"));
  REQUIRE_THAT(alone.out, Catch::Contains("NVIDIA T4 is out of memory"));
  REQUIRE_THAT(alone.out, Catch::Contains("time.step"));
  CHECK_THAT(alone.out, Catch::Contains("Times are of one step (step 0, warm-up)") &&
                            Catch::Contains("In brackets: up to where a run ended"));
  const Result both = run("compare " + folder.file("fits.toml") + " " + folder.file("full.toml"));
  CHECK_THAT(both.out, Catch::Contains("(step 0, warm-up)") &&
                           Catch::Contains("In brackets: up to where a run ended"));
  std::istringstream rows(both.out);
  int checked = 0;
  for (std::string row; std::getline(rows, row);)
    if (row.starts_with("time.step") || row.starts_with("throughput.samples")) {
      ++checked;
      INFO(row);
      CHECK(std::ranges::count(row, '(') == 1);
      CHECK_THAT(row, Catch::Matches(".* \\([0-9.]+ [a-z/]+\\) +(step time|throughput)"));
    }
  CHECK(checked == 2);
  CHECK_THAT(run("run --set workload=copy").out, !Catch::Contains("In brackets"));
}

TEST_CASE("a copy that does not fit ends before it begins") {
  const Result ran = run("run --machine t4-1 --set workload=copy --set \"copy.bytes=100 GiB\"");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("NVIDIA T4 is out of memory: y (batch) asks for 100 GiB"));
}

TEST_CASE("a lesson whose side runs out of memory is told without what the run does not have") {
  const Result ran = run("run dataset-on-gpu --set B.data.name=imagenet");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("is out of memory at line "));
}
