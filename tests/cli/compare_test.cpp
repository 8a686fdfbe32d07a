// `trainscope compare`, with every kind of thing on either side.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "report/comparison.h"
#include "support/skip.h"
#include "support/traces.h"

using nlohmann::json;
using namespace trainscope::test;

namespace {

// The parts from A to B and the times of both, as the JSON has them.
void parts_sum(const json& object) {
  double sum = 0, size = 0;
  for (const json& part : object["parts"]) {
    sum += part["ns"].get<double>();
    size += std::abs(part["ns"].get<double>());
  }
  const char* time = object["parts_are"] == "a step" ? "time.step" : "time.total";
  const auto of = [&](const char* side) {
    return object["runs"][side]["metrics"][time]["value"].get<double>();
  };
  CHECK(sum == Approx(of("B") - of("A")).margin(1e-9 * size));
}

// The same as the table has them, in its last digit. A comparison without parts has no such table,
// nor has one of two that are alike.
bool printed_parts_sum(const std::string& out, bool has_parts) {
  INFO(out);
  const std::size_t heading = out.find("where the time went");
  const bool is_explained =
      has_parts && out.find(trainscope::report::kNothingToExplain) == out.npos;
  REQUIRE((heading != out.npos) == is_explained);
  if (!is_explained) return false;
  std::istringstream lines(out.substr(heading));
  std::vector<std::int64_t> ticks;
  std::set<std::string> units;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && !line.empty();) {
    const std::size_t unit = line.rfind(' ');
    std::string number = line.substr(line.rfind(' ', unit - 1) + 1);
    units.insert(line.substr(unit + 1));
    std::erase(number, '.');
    ticks.push_back(std::strtoll(number.c_str(), nullptr, 10));
  }
  CHECK(units.size() == 1);
  REQUIRE(ticks.size() > 2);
  CHECK(std::accumulate(ticks.begin(), ticks.end() - 1, std::int64_t{0}) == ticks.back());
  return true;
}

// One of each kind in the folder, by name.
std::vector<std::string> kinds(const Folder& folder) {
  std::ofstream(folder.file("mine.toml")) << "workload = \"train\"\nsteps = 4\n";
  run("run num-workers --save " + folder.file("lesson.tsrun"));
  run("run --set workload=copy --steps 9 --save " + folder.file("one.tsrun"));
  run("run --set workload=launch --trace " + folder.file("ours.json"));
  return {"pinned-vs-pageable",        "pinned-vs-pageable:A",     folder.file("mine.toml"),
          folder.file("lesson.tsrun"), folder.file("one.tsrun:A"), folder.file("ours.json")};
}

// Both forms; whether there is a table of where the time went.
bool check_comparison(const std::string& a, const std::string& b) {
  INFO(a << " " << b);
  const Result result = run("compare " + a + " " + b + " --json");
  REQUIRE(result.code == 0);
  const json object = json::parse(result.out);
  REQUIRE(object["runs"].size() == 2);
  parts_sum(object);
  const Result table = run("compare " + a + " " + b);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("imes are of "));
  return printed_parts_sum(table.out, !object["parts"].empty());
}

}  // namespace

TEST_CASE("anything that is a run can be compared with anything else that is") {
  const Folder folder;
  const auto all = kinds(folder);
  std::size_t explained = 0;
  for (const std::string& a : all)
    for (const std::string& b : all) explained += check_comparison(a, b) ? 1 : 0;
  CHECK(explained >= all.size());
}

TEST_CASE("recorded traces can be compared with anything else that is a run") {
  if (!real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Folder folder;
  auto all = kinds(folder);
  std::size_t explained = 0;
  for (const char* name : {"three-streams-events.json.gz", "resnet50-v100-2021-schema.json.gz"}) {
    const std::string recorded = (real_traces_folder() / name).string();
    for (const std::string& other : all) {
      explained += check_comparison(recorded, other) ? 1 : 0;
      explained += check_comparison(other, recorded) ? 1 : 0;
    }
    all.push_back(recorded);
  }
  CHECK(explained > 0);
}

TEST_CASE("a saved comparison opens as it was") {
  const Folder folder;
  const std::string saved = folder.file("c.tsrun");
  const Result compared = run("compare pinned-vs-pageable num-workers --save " + saved);
  REQUIRE(compared.code == 0);
  CHECK(run("run " + saved).out == compared.out);
  const json a = json::parse(run("compare pinned-vs-pageable " + saved + ":A --json").out);
  CHECK(a["ratios"]["time.step"] == 1);
}

TEST_CASE("a run without steps is compared as a whole, and that is said") {
  const Folder folder;
  const std::string trace = folder.file("bare.json");
  std::ofstream(trace) << R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k",
    "ts": 10, "dur": 500, "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}]})";
  const Result table = run("compare pinned-vs-pageable " + trace);
  REQUIRE(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("the whole run, warm-up included, since B has no steps"));
  const json object = json::parse(run("compare pinned-vs-pageable " + trace + " --json").out);
  CHECK(object["parts_are"] == "the whole run");
  CHECK(object["runs"]["B"]["metrics"]["time.total"]["value"] == 500e3);
  parts_sum(object);
}

TEST_CASE("a comparison that cannot be made is refused with one sentence") {
  const Folder folder;
  std::ofstream(folder.file("mine.toml")) << "workload = \"copy\"\n";
  refuses("compare pinned-vs-pageable", 2, "B is required");
  refuses("compare pinned-vs-pageable:C num-workers", 2, "has no side C");
  refuses("compare pinned-vs-pageable num-worker", 2, "did you mean num-workers?");
  refuses("compare num-workers " + folder.file("mine.toml") + ":B", 2, "has no side B");
  refuses("compare num-workers " + folder.file("none.json"), 2, "none.json");
  refuses("compare num-workers " + folder.file("none.toml"), 2, "there is no such file");
  refuses("compare num-workers " + folder.file(""), 2, "folder");
}

TEST_CASE("a comparison says which side it takes of what has two") {
  const Folder folder;
  const std::string saved = folder.file("two.tsrun");
  REQUIRE(run("run pinned-vs-pageable --save " + saved).code == 0);
  const Result lesson = run("compare pinned-vs-pageable pinned-vs-pageable:B");
  CHECK(lesson.err ==
        "pinned-vs-pageable: side B is compared; write pinned-vs-pageable:A for side A\n");
  CHECK(run("compare pinned-vs-pageable:A " + saved).err ==
        saved + ": side B is compared; write " + saved + ":A for side A\n");
  CHECK(run("compare pinned-vs-pageable:A " + saved + ":B").err.empty());
}
