// Traces that the program writes and reads: recorded, imported, replayed.

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.h"
#include "support/skip.h"
#include "support/traces.h"

namespace fs = std::filesystem;
using nlohmann::json;
using trainscope::test::Folder;
using trainscope::test::read;
using trainscope::test::refuses;
using trainscope::test::Result;
using trainscope::test::run;

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
  // Which is told in whole nanoseconds.
  CHECK(std::floor(replayed["runs"]["A"]["metrics"]["time.step"]["value"].get<double>()) ==
        first["time"].get<double>());
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
