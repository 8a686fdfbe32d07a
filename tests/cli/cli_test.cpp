// The program as a person runs it: what it prints, what it writes, how it ends.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "cli/program.h"
#include "support/sanitized.h"
#include "support/skip.h"
#include "support/traces.h"

namespace fs = std::filesystem;
using nlohmann::json;
using trainscope::test::Folder;
using trainscope::test::has_window;
using trainscope::test::read;
using trainscope::test::refuses;
using trainscope::test::Result;
using trainscope::test::run;
using trainscope::test::run_in;

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

TEST_CASE("the same inputs and seed give byte-equal trace files") {
  const Folder folder;
  const std::string first = folder.file("first.json"), second = folder.file("second.json");
  const std::string what = "run --set workload=train --set loader.num_workers=2 --seed 5 --trace ";
  REQUIRE(run(what + first).code == 0);
  REQUIRE(run(what + second).code == 0);
  CHECK(read(first).size() > 1000);
  CHECK(read(first) == read(second));
}

TEST_CASE("several ranks are written as a folder of one trace each, also those simulated by one") {
  const Folder folder;
  const std::string ranks =
      "run --machine dgx1-v100-8 --set model.name=resnet18 --set batch_size=4 --set "
      "parallel.strategy=ddp --set parallel.world_size=3 --set steps=2 --trace ";
  REQUIRE(run(ranks + folder.file("t.json")).code == 0);
  REQUIRE(run(ranks + folder.file("packed") + " --set straggler.rank=1").code == 0);
  CHECK(fs::is_regular_file(folder.file("t.json")));
  for (const std::string rank : {"0", "1", "2"}) {
    const json plain = json::parse(read(folder.file("t/rank_" + rank + ".json")));
    CHECK(plain["distributedInfo"]["rank"] == std::stoi(rank));
    CHECK(plain["distributedInfo"]["world_size"] == 3);
    CHECK(plain["deviceProperties"].size() == 3);
    CHECK(run("import " + folder.file("packed/rank_" + rank + ".json.gz")).code == 0);
  }
  CHECK(!fs::exists(folder.file("t/rank_3.json")));
}

TEST_CASE("a trace is carried out once more, as it was and with a change") {
  const Folder folder;
  const std::string trace = folder.file("trace.json");
  REQUIRE(run("run --set workload=train --set steps=5 --set loop.evaluate=false --trace " + trace)
              .code == 0);
  CHECK_THAT(run("import " + trace).out,
             Catch::Contains("what if (SIMULATED: the trace replayed, which takes"));
  const json imported = json::parse(run("import --json " + trace).out)["runs"]["A"];
  const json& what_if = imported["what_if"];
  CHECK(what_if["origin"] == "simulated");
  CHECK(what_if["replayed"].get<double>() ==
        Approx(imported["metrics"]["time.step"]["value"].get<double>()).epsilon(0.001));
  REQUIRE(!what_if["changes"].empty());
  const json& first = what_if["changes"][0];
  const json replayed =
      json::parse(run("run --json --set workload=replay --set replay.trace=" + trace + " --set " +
                      first["settings"][0].get<std::string>())
                      .out);
  CHECK(replayed["origin"] == "simulated");
  CHECK(replayed["runs"]["A"]["machine"] == "recorded");
  CHECK(replayed["runs"]["A"]["metrics"]["time.step"]["value"].get<double>() ==
        Approx(first["time"].get<double>()).epsilon(1e-6));
  CHECK(run("compare " + trace + " " + trace).code == 0);
  const std::string replay = "run --set workload=replay";
  refuses(replay, 2, "set replay.trace to the file of one");
  refuses(replay + " --set replay.trace=" + folder.file("none.json"), 2, "there is no such file");
  refuses(replay + " --set replay.trace=" + trace + " --set replay.host_speed=0", 2,
          "replay.host_speed");
  CHECK_THAT(run(replay + " --machine t4-1 --set replay.trace=" + trace).err,
             Catch::Contains("machine changes nothing"));
}

TEST_CASE("a trace that a config names stands beside the config") {
  const Folder folder;
  REQUIRE(run("run --set workload=train --set steps=3 --set loop.evaluate=false --trace " +
              folder.file("trace.json"))
              .code == 0);
  const std::string config = folder.file("replay.toml");
  std::ofstream(config) << "workload = \"replay\"\n[replay]\ntrace = \"trace.json\"\n";
  const Result replayed = run("run --json " + config);
  CHECK(replayed.code == 0);
  CHECK(json::parse(replayed.out)["runs"]["A"]["machine"] == "recorded");
  // A flag's is one from where the program is started.
  refuses("run " + config + " --set replay.trace=trace.json", 2, "there is no such file");
}

TEST_CASE("a folder of one job's ranks is imported as one run") {
  const Folder folder;
  const std::string job = folder.file("job");
  const json ran = json::parse(
      run("run --machine dgx1-v100-8 --set model.name=resnet18 --set batch_size=4 --set "
          "parallel.strategy=ddp --set parallel.world_size=3 --set steps=3 --set straggler.rank=1 "
          "--set straggler.factor=2 --json --trace " +
          job)
          .out);
  const json read = json::parse(run("import --json " + job).out);
  for (const char* metric : {"time.step", "comm.wait", "gpu.busy", "memory.peak_allocated"}) {
    INFO(metric);
    CHECK(read["runs"]["A"]["metrics"][metric]["value"].get<double>() ==
          Approx(ran["runs"]["A"]["metrics"][metric]["value"].get<double>()));
  }
  CHECK_THAT(run("import " + job).out, Catch::Contains("rank of A  GPU busy  waits for others"));
  CHECK(run("import " + job + " " + job + "/rank_1.json.gz").code == 0);
  CHECK(run("compare " + job + " pinned-vs-pageable").code == 0);
  CHECK(run("import " + job + " --series gpu.busy@2").code == 0);
  refuses("run " + job, 2, "`trainscope import " + job + "` reads a trace");
  refuses("import " + folder.file(""), 2, "this folder holds no trace");
  refuses("compare " + folder.file("") + " " + job, 2, "this folder holds no trace");
}

TEST_CASE("a trace of ours leaves the warm-up out as its run did, also once it is saved") {
  const Folder folder;
  const std::string trace = folder.file("t.json"), saved = folder.file("t.tsrun");
  const json ran = json::parse(
      run("run --set model.name=resnet18 --set steps=3 --seed 7 --json --trace " + trace).out);
  const json read = json::parse(run("import --json " + trace).out);
  REQUIRE(run("import " + trace + " --save " + saved).code == 0);
  const json again = json::parse(run("run --json " + saved).out);
  for (const char* metric : {"time.step", "time.forward", "gpu.busy"}) {
    const json& value = ran["runs"]["A"]["metrics"][metric];
    CHECK(read["runs"]["A"]["metrics"][metric] == value);
    CHECK(again["runs"]["A"]["metrics"][metric] == value);
  }
  CHECK(read["seed"].is_null());
  CHECK(read["runs"]["A"]["config"].empty());
}

TEST_CASE("a series may be of one side and one rank") {
  const std::string series = "run pinned-vs-pageable --series ";
  const std::string both = run(series + "time.h2d").out;
  const std::string a = run(series + "A.time.h2d").out, b = run(series + "B.time.h2d").out;
  CHECK(a != b);
  CHECK(both == a + b);
  CHECK(run(series + "B.time.h2d@0").out == b);
  refuses(series + "C.time.h2d", 2, "there is no run C");
  refuses(series + "A.time.h2d@1", 2, "no rank 1");
}

TEST_CASE("a trace that was written can be read again") {
  const Folder folder;
  for (const char* name : {"t.json", "t.json.gz"}) {
    const std::string file = folder.file(name);
    const Result written = run("run --set workload=copy --json --trace " + file);
    REQUIRE(written.code == 0);
    const Result result = run("import --json " + file);
    REQUIRE(result.code == 0);
    const json before = json::parse(written.out)["runs"]["A"];
    const json after = json::parse(result.out)["runs"]["A"];
    CHECK(after["spans"] == before["spans"]);
    CHECK(after["metrics"]["time.h2d"] == before["metrics"]["time.h2d"]);
  }
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

TEST_CASE("files that are no traces are refused, whatever they hold") {
  const Folder folder;
  const auto with = [&](const std::string& bytes) {
    const std::string file = folder.file("bad.json");
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  };
  refuses("import " + with(""), 2, "bad.json");
  refuses("import " + with("{\"traceEvents\": [{\"ph\": \"X\", "), 2, "bad.json");
  refuses("import " + with("\x1f\x8b\x08 cut"), 2, "bad.json");
  refuses("import " + with(std::string("\0\1\2\3\xff\xfe", 6)), 2, "bad.json");
  refuses("import " + with("[1, 2, 3]"), 2, "bad.json");
  refuses("import " + with("{\"other\": 1}"), 2, "bad.json");
  refuses("import " + with(std::string(1000000, '[')), 2, "bad.json");
  refuses("import " + folder.file(""), 2, "bad.json");
}

TEST_CASE("an imported trace counts every complete event") {
  if (!trainscope::test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto folder = trainscope::test::real_traces_folder();
  const json object =
      json::parse(run("import --json " + (folder / "ddp-a100-2ranks.json.gz").string()).out);
  const json& one = object["runs"]["A"];
  CHECK(object["origin"] == "imported");
  CHECK(one["spans"].get<int>() + one["dropped"].get<int>() == 26933);
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
