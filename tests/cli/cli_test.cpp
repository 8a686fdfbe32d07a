// The program as a person runs it: what it prints, what it writes, how it ends.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "cli/program.h"
#include "support/skip.h"

using nlohmann::json;
using trainscope::test::Folder;
using trainscope::test::has_window;
using trainscope::test::read;
using trainscope::test::refuses;
using trainscope::test::Result;
using trainscope::test::run;

TEST_CASE("run prints one JSON object of both sides, and nothing else on standard output") {
  const Result result = run("run pinned-vs-pageable --json");
  REQUIRE(result.code == 0);
  const json object = json::parse(result.out);
  CHECK(object["origin"] == "simulated");
  CHECK(object["executor"] == "sim");
  CHECK(object["seed"] == 0);
  CHECK_FALSE(object.contains("expectations"));  // of a real GPU
  for (const char* side : {"A", "B"}) {
    const json& one = object["runs"][side];
    CHECK(one["machine"] == "h200-1");
    CHECK(one["metrics"]["time.h2d"]["unit"] == "ns");
    CHECK(one["metrics"]["time.h2d"]["value"].get<double>() > 0);
    CHECK(one["spans"].get<int>() > 0);
    CHECK(one["dropped"] == 0);
  }
  const json& metrics_a = object["runs"]["A"]["metrics"];
  const json& metrics_b = object["runs"]["B"]["metrics"];
  CHECK(metrics_a["time.h2d"]["value"].get<double>() >
        2 * metrics_b["time.h2d"]["value"].get<double>());
}

TEST_CASE("a lesson's knobs are those that its seed draws, in a run, from a link and on a sheet") {
  const auto kernel = [](const std::string& what) {
    const Result result = run(what + " --json");
    REQUIRE(result.code == 0);
    return json::parse(result.out)["runs"]["B"]["config"]["launch.kernel_ns"];
  };
  const json own = kernel("run launch-bound"), drawn = kernel("run launch-bound --seed 1");
  CHECK(own != drawn);
  CHECK(kernel("run launch-bound --set seed=1") == drawn);
  CHECK(kernel("run 'trainscope:1?lesson=launch-bound&seed=1'") == drawn);
  CHECK(kernel("run launch-bound --seed 1 --set launch.kernel_ns=4000") == 4000);
  CHECK(run("handout launch-bound --no-answers --seed 1 --out -").out !=
        run("handout launch-bound --no-answers --seed 4 --out -").out);
  // Where it draws nothing, a row of launches has no random number.
  const char* idle = "seed changes nothing with workload = launch";
  CHECK(run("run launch-bound --seed 1").err.find(idle) == std::string::npos);
  CHECK_THAT(run("run --set workload=launch --seed 1").err, Catch::Contains(idle));
}

TEST_CASE("flags beat the lesson, for both sides or for one") {
  const json object = json::parse(
      run("run pinned-vs-pageable --machine t4-1 --set copy.count=1 --set B.copy.bytes=4096 --json")
          .out);
  CHECK(object["runs"]["A"]["machine"] == "t4-1");
  CHECK(object["runs"]["A"]["config"]["copy.count"] == 1);
  CHECK(object["runs"]["A"]["config"]["copy.bytes"] == 67108864);
  CHECK(object["runs"]["B"]["config"]["copy.bytes"] == 4096);
}

TEST_CASE("a series is one value a step") {
  const Result result = run("run --set workload=train --steps 5 --series time.step");
  REQUIRE(result.code == 0);
  std::istringstream lines(result.out);
  int step = 0, expected = 0;
  double value = 0;
  while (lines >> step >> value) {
    CHECK(step == expected++);
    CHECK(value > 0);
  }
  CHECK(expected == 5);
}

TEST_CASE("compare decomposes the difference of two runs into parts that sum to it") {
  const Result result = run("compare pinned-vs-pageable:A pinned-vs-pageable:B --json");
  REQUIRE(result.code == 0);
  const json object = json::parse(result.out);
  double sum = 0;
  for (const auto& part : object["parts"]) sum += part["ns"].get<double>();
  const auto step = [&](const char* side) {
    return object["runs"][side]["metrics"]["time.step"]["value"].get<double>();
  };
  CHECK(sum == Approx(step("B") - step("A")));
  CHECK(run("compare pinned-vs-pageable:A pinned-vs-pageable").code == 0);
}

TEST_CASE("a copy beside a training run lists no knobs of training as its own") {
  const Folder folder;
  const std::string config = folder.file("train.toml");
  std::ofstream(config) << "workload = \"train\"\nmachine = \"h200-1\"\nsteps = 3\n"
                           "batch_size = 8\n[model]\nname = \"gpt-mini\"\n";
  const std::string text = run("compare pinned-vs-pageable:A " + config).out;
  const auto row = [&](const std::string& knob) {
    const std::size_t at = text.find("   " + knob + " ");
    return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  CHECK_THAT(row("workload"), Catch::Contains("copy") && Catch::Contains("train"));
  CHECK_THAT(row("model.name"), Catch::Contains("gpt-mini") && !Catch::Contains("mlp"));
  CHECK_THAT(row("batch_size"), Catch::Contains("8") && !Catch::Contains("64"));
  CHECK_THAT(row("copy.count"), Catch::Contains("3"));
}

TEST_CASE("validate prints the simulator's error against published measurements") {
  const Result result = run("validate --published");
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Catch::Contains("mean error") && Catch::Contains("worst"));
  CHECK(json::parse(run("validate --published --json").out)["checks"].size() >= 27);
}

TEST_CASE("what needs a GPU ends with one sentence where there is none, and writes nothing") {
  if (json::parse(run("doctor --json").out)["doctor"][5]["found"])
    TRAINSCOPE_SKIP("there is a GPU here");
  const Folder folder;
  for (const std::string command : {"validate", "validate --json", "calibrate", "calibrate --json",
                                    "run --set workload=copy --executor cuda"})
    refuses(command, 3, "GPU");
  refuses("calibrate --out " + folder.file("machines"), 3, "GPU");
  refuses("validate --out " + folder.file("page.md"), 3, "GPU");
  CHECK(folder.entries() == 0);
  refuses("validate --published --machine t4-1", 2, "--published");
  refuses("calibrate h200", 2, "h200");
}

TEST_CASE("doctor says of each thing whether it is there and what its absence switches off") {
  const json entries = json::parse(run("doctor --json").out)["doctor"];
  std::set<std::string> names;
  for (const json& entry : entries) {
    names.insert(entry["what"].get<std::string>());
    INFO(entry.dump());
    CHECK_FALSE(entry["detail"].get<std::string>().empty());
    const bool says_what_for = !entry["switches_off"].get<std::string>().empty();
    CHECK((entry["found"].get<bool>() || says_what_for));
  }
  for (const char* name : {"NVIDIA GPU", "CUDA toolkit", "executor cuda", "CUPTI", "cuBLASLt",
                           "cuDNN", "NVRTC", "NCCL"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("a bare config runs a kernel: 109 blocks on 108 SMs take twice as long as 108") {
  const auto step = [](int blocks) {
    std::string what =
        "run --set workload=kernel --set kernel.block=1024 --set kernel.registers=64 "
        "--set kernel.flops_per_thread=100000 --set kernel.bytes_per_thread=0 "
        "--machine a100-sxm-1 --json --set kernel.grid=";
    what += std::to_string(blocks);
    const Result result = run(what);
    REQUIRE(result.code == 0);
    return json::parse(result.out)["runs"]["A"]["metrics"]["time.step"]["value"].get<double>();
  };
  CHECK(step(109) / step(108) == Approx(2).epsilon(0.01));
}

TEST_CASE("bad usage and bad input end with 2 and one sentence") {
  const Folder folder;
  refuses("run", 2, "run what?");
  refuses("run pined-vs-pageable", 2, "did you mean pinned-vs-pageable?");
  refuses("run pinned-vs-pageable --set copy.bytes", 2, "write knob=value");
  refuses("run pinned-vs-pageable --set copy.bytes=-4", 2, "is out of range");
  refuses("run --set workload=copy --set copy.bytes=1000000000000000000", 2, "is out of range");
  refuses("run --set workload=copy --set B.copy.bytes=4", 2, "this run has one side");
  refuses("run --set workload=copy --machine h20-1", 2, "did you mean h200-1?");
  refuses("run --set workload=copy --executor gpu", 2, "there is no executor gpu");
  refuses("run --set workload=copy --series time.stap", 2, "did you mean time.step?");
  refuses("run --set workload=copy --save x.json", 2, "does not end in .tsrun");
  refuses("run --set workload=copy --nonsense", 2, "--nonsense");
  refuses("run missing.toml", 2, "there is no such file");
  refuses("import missing.json", 2, "missing.json");
  refuses("import", 2, "TRACE");
  refuses("check missing", 2, "there is no such file or folder");
  refuses("compare a b", 2, "there is no lesson a");
  refuses("run --set workload=kernel --set kernel.shared_bytes=65537 --machine t4-1", 2,
          "NVIDIA T4 cannot launch a block of 65537 B of shared memory");
  refuses("lesons", 2, "lesons");
}

TEST_CASE("what this machine lacks ends with 3") {
  refuses("run --set workload=copy --executor cuda", 3, "--executor sim");
  refuses("pinned-vs-pageable", 3, "");
}

namespace {

// `flag` with a path that cannot be written is refused, and nothing is left behind.
void refuses_output(const std::string& flag, const std::string& ending) {
  const Folder folder;
  const std::string start = "run --set workload=copy " + flag + " ";
  refuses(start + "/proc/no/such/place" + ending, 2, "cannot be written");
  refuses(start + folder.file(""), 2, "cannot be written");
  CHECK(folder.entries() == 0);
}

}  // namespace

TEST_CASE("an output that cannot be written ends with 2 and leaves nothing behind") {
  refuses_output("--trace", ".json");
  refuses_output("--html", ".html");
  refuses_output("--save", ".tsrun");
}

TEST_CASE("a picture that cannot be written ends with 2 and leaves nothing behind") {
  if (!has_window()) TRAINSCOPE_SKIP("this program was built without its window");
  refuses_output("--png", ".png");
}

TEST_CASE("a report is one file without outside references") {
  const Folder folder;
  const std::string file = folder.file("r.html");
  REQUIRE(run("run pinned-vs-pageable --html " + file).code == 0);
  const std::string page = read(file);
  CHECK_THAT(page, Catch::Contains("SIMULATED"));
  CHECK_THAT(page, !Catch::Contains("src=\"http") && !Catch::Contains("href=\"http"));
}

TEST_CASE("a picture has the theme, the size and the scale that were asked for, or says why not") {
  if (!has_window()) TRAINSCOPE_SKIP("this program was built without its window");
  const Folder folder;
  const std::string png = folder.file("p.png");
  const std::string start = "run --set workload=copy --png " + png + " ";
  refuses(start + "--theme projektor", 2, "did you mean projector?");
  refuses(start + "--size big", 2, "1366x768");
  refuses(start + "--size 100x100", 2, "640x400");
  refuses(start + "--at noon", 2, "61.4ms");
  refuses(start + "--at 3h", 2, "61.4ms");
  refuses(start + "--at 3s --save " + folder.file("p.tsrun"), 2,
          "--at is 3s, past the end of the run at ");
  refuses(start + "--scale 12", 2, "--scale: 12 is no number from 0.75 to 3");
  refuses(start + "--scale nan", 2, "--scale: nan is no number");
  CHECK(folder.entries() == 0);
  if (run(start + "--theme projector --size 800x600 --scale 2").code == 3)
    TRAINSCOPE_SKIP("pictures need OSMesa");
  const std::string bytes = read(png);
  REQUIRE(bytes.size() > 24);
  const auto number = [&](std::size_t at) {
    return static_cast<unsigned char>(bytes[at + 2]) * 256 +
           static_cast<unsigned char>(bytes[at + 3]);
  };
  CHECK(number(16) == 1600);
  CHECK(number(20) == 1200);
}

TEST_CASE("the picture of the course is as tall as the course, unless it is told") {
  if (!has_window()) TRAINSCOPE_SKIP("this program was built without its window");
  const Folder folder;
  const std::string png = folder.file("course.png");
  refuses("lessons --present --png " + png, 2, "--present shows a lesson");
  if (run("lessons --png " + png).code == 3) TRAINSCOPE_SKIP("pictures need OSMesa");
  const auto height = [&] {
    const std::string bytes = read(png);
    return static_cast<unsigned char>(bytes.at(22)) * 256 +
           static_cast<unsigned char>(bytes.at(23));
  };
  CHECK(height() > 2000);
  refuses("lessons --scale 2 --png " + png, 2, "give a smaller --scale");
  run("lessons --size 1024x640 --png " + png);
  CHECK(height() == 640);
}
