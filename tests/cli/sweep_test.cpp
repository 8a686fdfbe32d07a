// `trainscope sweep`: its table, its JSON and its CSV say the same.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"

using namespace trainscope::test;
using nlohmann::json;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("sweep runs a config for each value, and its three outputs agree") {
  const Folder folder;
  const std::string what = "sweep --set workload=copy --vary copy.bytes=1048576..16777216:x4";
  const Result table = run(what + " --csv " + folder.file("sweep.csv"));
  CHECK(table.code == 0);
  const std::vector<std::string> rows = lines(table.out);
  REQUIRE(rows.size() == 6);  // what it is, nothing, the head and 1, 4, 16 MiB
  CHECK(rows[0] == "SIMULATED  1 x H200, PCIe 5.0 x16, pytorch-eager");
  CHECK_THAT(rows[2], Catch::Contains("copy.bytes") && Catch::Contains("bandwidth.h2d"));
  CHECK_THAT(rows[3], Catch::Contains("1 MiB"));
  CHECK_THAT(rows[5], Catch::Contains("16 MiB"));
  const json data = json::parse(run(what + " --json").out);
  CHECK(data["vary"][0]["knob"] == "copy.bytes");
  CHECK(data["vary"][0]["values"] == json({1048576, 4194304, 16777216}));
  REQUIRE(data["points"].size() == 3);
  const json alone =
      json::parse(run("run --set workload=copy --set copy.bytes=4194304 --json").out);
  CHECK(data["points"][1]["runs"]["A"]["metrics"] == alone["runs"]["A"]["metrics"]);
  const std::vector<std::string> csv = lines(read(folder.file("sweep.csv")));
  REQUIRE(csv.size() == 4);
  CHECK_THAT(csv[0], Catch::StartsWith("copy.bytes,side,time.total [ns]"));
  CHECK_THAT(csv[0], Catch::EndsWith(",ended,refused,origin,machine,complete,caveat\r"));
  CHECK_THAT(csv[2],
             Catch::StartsWith("4194304,A,") && Catch::EndsWith(",simulated,h200-1,true,\r"));
  CHECK(data["origin"] == "simulated");
  CHECK(data["machine"] == "h200-1");
  CHECK(data["config"] == json({{"machine", "h200-1"}, {"seed", 0}, {"workload", "copy"}}));
  CHECK_FALSE(data.contains("sides"));
}

TEST_CASE("a sweep of machines says so, and names each one's beside its numbers") {
  const Folder folder;
  const std::string what = "sweep --set workload=copy --vary machine=t4-1,h200-1";
  const Result table = run(what + " --csv " + folder.file("sweep.csv"));
  CHECK_THAT(table.out, Catch::StartsWith("SIMULATED  machine varied, pytorch-eager\n\n"));
  const std::vector<std::string> csv = lines(read(folder.file("sweep.csv")));
  REQUIRE(csv.size() == 3);
  CHECK_THAT(csv[1], Catch::EndsWith(",simulated,t4-1,true,\r"));
  CHECK_THAT(csv[2], Catch::EndsWith(",simulated,h200-1,true,\r"));
  const json data = json::parse(run(what + " --json").out);
  CHECK(data["machine"].is_null());
  CHECK(data["config"] == json({{"seed", 0}, {"workload", "copy"}}));
  CHECK(json::parse(run("sweep --set workload=copy --vary seed=1,2 --json").out)["seed"].is_null());
}

TEST_CASE("a sweep tells what its sides have alike and what each has alone") {
  const json memory =
      json::parse(run("sweep pinned-vs-pageable --vary copy.bytes=4096,8192 --json").out);
  CHECK(memory["machine"] == "h200-1");
  CHECK(memory["config"]["copy.count"] == 3);
  CHECK_FALSE(memory["config"].contains("copy.memory"));
  CHECK_FALSE(memory["config"].contains("copy.bytes"));
  CHECK(memory["sides"]["A"]["config"] == json({{"copy.memory", "pageable"}}));
  CHECK(memory["sides"]["B"]["config"] == json({{"copy.memory", "pinned"}}));
  const std::string machines = "sweep which-gpu --vary batch_size=1,2";
  const std::vector<std::string> rows = lines(run(machines).out);
  REQUIRE(rows.size() == 9);
  CHECK_THAT(rows[7], Catch::StartsWith("A: Best throughput: batch_size = 2, "));
  CHECK_THAT(rows[0], Catch::StartsWith("A  SIMULATED  1 x L40S"));
  CHECK_THAT(rows[1], Catch::StartsWith("B  SIMULATED  1 x A100"));
  const json sides = json::parse(run(machines + " --json").out);
  CHECK(sides["machine"].is_null());
  CHECK(sides["sides"]["A"]["machine"] == "l40s-1");
  CHECK(sides["sides"]["B"]["config"]["machine"] == "a100-40-sxm-1");
}

TEST_CASE("sweep runs both sides of a lesson, and combinations of two knobs") {
  const Result table =
      run("sweep pinned-vs-pageable --vary copy.bytes=1048576,4194304 --vary "
          "copy.count=1,2");
  CHECK(table.code == 0);
  const std::vector<std::string> rows = lines(table.out);
  REQUIRE(rows.size() == 7);
  CHECK_THAT(rows[0], Catch::StartsWith("SIMULATED  1 x H200"));
  CHECK_THAT(rows[2], Catch::Contains("A bandwidth.h2d") && Catch::Contains("B bandwidth.h2d"));
}

TEST_CASE("sweep says of a combination why it cannot run, and refuses when none can") {
  const std::string gpt =
      "sweep --set model.name=gpt-mini --set data.name=text --steps 2 --set "
      "model.width=24 --vary model.heads=";
  const Result some = run(gpt + "4,5");
  CHECK(some.code == 0);
  CHECK_THAT(lines(some.out).back(), Catch::Contains("cannot be split among"));
  CHECK_THAT(some.err, Catch::Contains("1 of 2 combinations cannot run"));
  CHECK_THAT(run(gpt + "4,6").err, !Catch::Contains("cannot run"));
  refuses(gpt + "5,7", 2, "none of the 2 combinations can run");
  refuses("sweep --set workload=copy", 2, "--vary batch_size=1..1024");
  refuses("sweep --set workload=copy --vary copy.bites=1,2", 2, "did you mean copy.bytes?");
  refuses("sweep --vary batch_size=1,2", 2, "run what?");
  refuses("sweep nothing --vary batch_size=1,2", 2, "there is no lesson nothing");
}

TEST_CASE("the table says of a run without memory that it was, the JSON also what held it") {
  const std::string what =
      "sweep --set workload=train --set model.name=gpt2-large --set data.name=tokens --machine "
      "t4-1 "
      "--steps 1 --vary batch_size=256,512";
  const Result table = run(what);
  CHECK(table.code == 0);
  for (const std::string& row : lines(table.out)) CHECK(row.size() < 220);
  CHECK_THAT(table.out, Catch::Contains("NVIDIA T4 is out of memory at line"));
  CHECK_THAT(table.out, !Catch::Contains("the largest are"));
  const json data = json::parse(run(what + " --json").out);
  CHECK_THAT(data["points"][0]["runs"]["A"]["ended"].get<std::string>(),
             Catch::Contains("the largest are"));
}

TEST_CASE("sweep refuses a machine that there is not before anything is run") {
  refuses("sweep --set workload=copy --vary machine=t4-1,l4-2", 2, "l4-2 (did you mean l4-1?)");
}

TEST_CASE("sweep refuses a knob that is set and varied") {
  refuses("sweep --set batch_size=3 --vary batch_size=1,2", 2,
          "batch_size is given twice, by --set batch_size=3 and by --vary batch_size");
  refuses("sweep pinned-vs-pageable --set A.copy.count=9 --vary copy.count=1,2", 2,
          "by --set A.copy.count=9 and by --vary copy.count");
  refuses("sweep --steps 2 --vary steps=1,2", 2, "by --steps 2 and by --vary steps");
}

TEST_CASE("a point of a sweep that is to be read with care is marked, and below stands why") {
  const Result result =
      run("sweep --set model.name=gpt2 --vary precision=fp32,tf32 --machine v100-sxm-1 --steps 2");
  REQUIRE(result.code == 0);
  CHECK_THAT(result.out, Catch::Contains("\nRead with care: precision = tf32. "));
  int marked = 0;
  for (const std::string& line : lines(result.out))
    if (line.ends_with("read with care")) {
      CHECK_THAT(line, Catch::Contains("tf32"));
      ++marked;
    }
  CHECK(marked == 1);
}

TEST_CASE("where a loader's cores vary, epochs tell what steps hide, and the CSV has the caveat") {
  const Folder folder;
  const Result table =
      run("sweep --set workload=train --set model.name=resnet50 --set batch_size=64 --set "
          "precision=bf16 --set loader.sample_ms=8 --set loader.num_workers=32 --machine "
          "a100-sxm-1 --steps 6 --vary host.cores=4,64 --csv " +
          folder.file("sweep.csv"));
  REQUIRE(table.code == 0);
  const std::vector<std::string> rows = lines(table.out);
  REQUIRE(rows.size() > 4);
  CHECK_THAT(rows[2], Catch::Contains("time.epoch"));
  CHECK_THAT(rows[3], Catch::EndsWith("read with care"));
  CHECK_THAT(rows[4], !Catch::Contains("care"));
  const std::vector<std::string> csv = lines(read(folder.file("sweep.csv")));
  REQUIRE(csv.size() == 3);
  CHECK_THAT(csv[1], Catch::Contains(",true,\"") || Catch::Contains(",true,T"));
  CHECK_THAT(csv[1], Catch::Contains("loaded ahead"));
  CHECK_THAT(csv[2], Catch::EndsWith(",true,\r"));
  CHECK_THAT(run("sweep --set workload=train --vary batch_size=32,64 --steps 3").out,
             !Catch::Contains("time.epoch"));
}

TEST_CASE("what a run that ended early has up to there is told from what others have") {
  const Folder folder;
  const std::string what =
      "sweep --machine t4-1 --steps 3 --set workload=train --set model.hidden=8192 --set "
      "model.layers=8 --set data.source=tensor --vary batch_size=64,65536";
  const Result table = run(what + " --csv " + folder.file("sweep.csv"));
  const std::vector<std::string> rows = lines(table.out);
  REQUIRE(rows.size() > 5);
  CHECK_THAT(rows[2], Catch::Contains("memory.peak_allocated"));
  CHECK_THAT(rows[3], Catch::Contains(" GiB") && !Catch::Contains(" GiB)"));
  CHECK_THAT(rows[4], Catch::Contains(" GiB)") && Catch::Contains("is out of memory"));
  CHECK_THAT(table.out, Catch::Contains("In brackets: up to where a run ended"));
  const std::vector<std::string> csv = lines(read(folder.file("sweep.csv")));
  REQUIRE(csv.size() == 3);
  CHECK_THAT(csv[1], Catch::EndsWith(",true,\r"));
  CHECK_THAT(csv[2], Catch::EndsWith(",false,\r"));
  const json points = json::parse(run(what + " --json").out)["points"];
  CHECK(points[0]["runs"]["A"]["complete"] == true);
  CHECK(points[0]["runs"]["A"]["caveat"].is_null());
  CHECK(points[1]["runs"]["A"]["complete"] == false);
  CHECK(points[1]["runs"]["A"]["metrics"].contains("memory.peak_allocated"));
}

TEST_CASE("a sweep says which value is the largest that fits, and why the others do not, in full") {
  const Result table = run(
      "sweep --machine t4-1 --set workload=train --set model.name=gpt2 --set model.seq_len=1024 "
      "--set optimizer.name=adamw --set steps=2 --vary batch_size=1,2,64");
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("\nLargest of these that fits: batch_size = 2\n") &&
                            Catch::Contains("NVIDIA T4 is out of memory at line ") &&
                            Catch::Contains(" GiB\n") && !Catch::Contains("asks for 6.13 G\u2026"));
}

TEST_CASE("a sweep of machines says where GPUs have nothing to do") {
  const Result table =
      run("sweep --set workload=train --set steps=3 --set parallel.strategy=ddp --set "
          "parallel.world_size=8 --vary machine=h200-8,h200-8x2");
  CHECK_THAT(table.out,
             Catch::Contains("On h200-8x2 8 of 16 GPUs work: vary parallel.world_size, too"));
}
