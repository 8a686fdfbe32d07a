// What the program prints of machines, knobs, metrics and lessons, and what it checks them for.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/program.h"
#include "support/sanitized.h"
#include "support/skip.h"

using nlohmann::json;
using trainscope::test::Folder;
using trainscope::test::has_window;
using trainscope::test::read;
using trainscope::test::Result;
using trainscope::test::run;
using trainscope::test::run_in;

TEST_CASE("the registries print tables and JSON") {
  for (const char* name : {"lessons", "knobs", "metrics", "machines"}) {
    const Result table = run(name);
    CHECK(table.code == 0);
    CHECK(table.out.size() > 100);
    const json object = json::parse(run(std::string(name) + " --json").out);
    CHECK(object[name].size() > 0);
  }
  const json lessons = json::parse(run("lessons --json").out)["lessons"];
  CHECK(lessons[0]["id"] == "anatomy-of-a-step");
  CHECK(lessons[0]["requires"] == json::array());
  const auto pinned = std::ranges::find_if(
      lessons, [](const json& one) { return one["id"] == "pinned-vs-pageable"; });
  REQUIRE(pinned != lessons.end());
  CHECK((*pinned)["track"] == "T1");
  CHECK((*pinned)["requires"] == json::array({"time-it-right"}));
  CHECK((*pinned)["terms"].size() == 4);
  CHECK((*pinned)["claim"] == "C1");
  CHECK((*pinned)["machines"] == json::array());
  CHECK_THAT(run("lessons").out,
             Catch::Matches("lesson +title +track +level +minutes +requires\n[^]*"
                            "\npinned-vs-pageable +Pinned vs pageable memory +"
                            "T1 +worked +5 +time-it-right\n[^]*"));
  const Result doctor = run("doctor");
  INFO(doctor.err);
  CHECK(doctor.code == 0);
}

TEST_CASE("knobs and metrics are told in lines that a terminal has room for") {
  for (const char* name : {"knobs", "metrics"}) {
    std::istringstream lines(run(name).out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 110);
  }
  const std::string knobs = run("knobs").out;
  CHECK_THAT(knobs, Catch::Contains("\nloader.pin_memory = false\n") &&
                        Catch::Contains("    in PyTorch: pin_memory\n") &&
                        Catch::Contains("    values: true, false\n"));
  CHECK_THAT(run("metrics").out, Catch::Contains("time.step  [ns]\n    "));
}

TEST_CASE("machines counts memory in GiB, as PyTorch does, and says so") {
  const std::string table = run("machines").out;
  CHECK_THAT(table, Catch::Contains("79.2 GiB") && Catch::Contains("GiB of 2^30 bytes"));
  CHECK_THAT(run("machines h100-sxm-8").out, Catch::Contains("79.2 GiB"));
}

TEST_CASE("machines prints the data sheet of one, its JSON and the page of all") {
  const Folder folder;
  const Result sheet = run("machines h200-8x2");
  CHECK(sheet.code == 0);
  CHECK_THAT(sheet.out, Catch::StartsWith("h200-8x2\n2 nodes of 8 x H200") &&
                            Catch::Contains("55.43 GB/s  measured   large pinned"));
  const json one = json::parse(run("machines h200-8x2 --json").out)["machines"];
  REQUIRE(one.size() == 1);
  CHECK(one[0]["gpu_count"] == 8);
  CHECK(one[0]["nodes"] == 2);
  CHECK(one[0]["figures"][0]["meaning"] == "what the GPU can do, as CUDA numbers it");
  const Result unknown = run("machines h20-8");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Catch::Contains("there is no machine h20-8 (did you mean h200-8?)"));
  const std::string own = folder.file("my.toml");
  std::ofstream(own) << "base = \"h200-8\"\n";
  CHECK_THAT(run("machines " + own).out, Catch::StartsWith("my\n8 x H200"));
  const std::string page = folder.file("machines.html");
  const Result written = run("machines --html " + page);
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  CHECK_THAT(written.err, Catch::Contains("wrote " + page));
  CHECK_THAT(read(page), Catch::Contains("id=\"dgx1-v100-8x2\""));
  CHECK(run("machines --html " + folder.file("")).code == 2);  // a folder
}

TEST_CASE("every shipped lesson passes every check on every machine it allows, as machines do") {
  // A sanitizer needs not see the same code run for every lesson.
  const std::string lessons = TRAINSCOPE_SOURCE_DIR "/scenarios";
  const std::string few = lessons + "/pinned-vs-pageable.toml " + lessons +
                          "/pinned-vs-pageable.de.toml " + lessons + "/amp-underflow.toml " +
                          lessons + "/buckets-and-overlap.toml";
  const Result result = run("check " + (trainscope::test::kSanitized ? few : lessons) +
                            " " TRAINSCOPE_SOURCE_DIR "/assets");
  INFO(result.out);
  CHECK(result.code == 0);
  if (trainscope::test::kSanitized) TRAINSCOPE_SKIP("under a sanitizer few lessons were checked");
}

TEST_CASE("a check that finds something ends with 1 and says where") {
  const Folder folder;
  const std::string file = folder.file("wrong.toml");
  std::ofstream(file) << "workload = \"copy\"\ncopy.bites = 5\ncopy.count = 0\n";
  const Result result = run("check " + file);
  CHECK(result.code == 1);
  CHECK_THAT(result.out, Catch::Contains("wrong.toml:2:14: there is no knob copy.bites") &&
                             Catch::Contains("wrong.toml:3:14: ") &&
                             Catch::EndsWith("1 checked, 2 findings\n"));
}

TEST_CASE("a check that has too little memory for one lesson tells the others, and ends with 2") {
  if (trainscope::test::kSanitized) TRAINSCOPE_SKIP("a sanitizer needs far more memory");
  const std::string lessons = TRAINSCOPE_SOURCE_DIR "/scenarios/";
  // Its spans take several times what there is, and what is left once they are gone is enough.
  const Folder folder;
  const std::string large = folder.file("pipeline-bubble.toml"),
                    small = lessons + "launch-bound.toml";
  std::string lesson = read(lessons + "pipeline-bubble.toml");
  const std::string steps = "\nsteps = 3\n";
  REQUIRE(lesson.find(steps) != std::string::npos);
  lesson.replace(lesson.find(steps), steps.size(), "\nsteps = 60\n");
  std::ofstream(large) << lesson;
  const Result result = run_in("sh -c 'ulimit -v 1500000; exec \"$@\"' sh",
                               "check " + small + " " + large + " " + small);
  CHECK(result.code == 2);
  CHECK(result.out == small + ": ok\n" + large + ": not checked to its end\n" + small + ": ok\n");
  CHECK_THAT(result.err, Catch::Contains("more memory than there is"));
}

TEST_CASE(
    "what is wrong in the claims beside a lesson is told once, and hides nothing of the lesson") {
  const Folder folder;
  const std::string lesson = folder.file("pinned-vs-pageable.toml"),
                    claims = folder.file("claims.toml");
  std::string text = read(TRAINSCOPE_SOURCE_DIR "/scenarios/pinned-vs-pageable.toml");
  const auto edit = [&](const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  edit("claim = \"C1\"", "claim = \"my-1\"\nmachines = [\"h200-1\", \"t4-1\"]");
  edit("minutes = 5", "minutes = 50");
  std::ofstream(lesson) << text;
  std::ofstream(claims) << "my-1 = \"without an end\n";
  const Result result = run("check " + claims + " " + lesson);
  CHECK(result.code == 1);
  const std::size_t first = result.out.find("claims.toml:1:");
  REQUIRE(first != std::string::npos);
  CHECK(result.out.find("claims.toml:1:", first + 1) == std::string::npos);
  CHECK_THAT(result.out, Catch::Contains("pinned-vs-pageable.toml:8:11: minutes is 50") &&
                             Catch::EndsWith("2 checked, 2 findings\n"));
}

TEST_CASE("a lesson that waits for an action that does not exist is found") {
  if (!has_window()) TRAINSCOPE_SKIP("only the window knows its actions");
  const Folder folder;
  const std::string file = folder.file("pinned-vs-pageable.toml");
  std::string lesson = read(TRAINSCOPE_SOURCE_DIR "/scenarios/pinned-vs-pageable.toml");
  const auto at = lesson.find("lesson.run");
  REQUIRE(at != std::string::npos);
  std::ofstream(file) << lesson.replace(at, 10, "lesson.rnu");
  const Result result = run("check " + file);
  CHECK(result.code == 1);
  CHECK_THAT(result.out,
             Catch::Contains("there is no action lesson.rnu (did you mean lesson.run?)"));
}
