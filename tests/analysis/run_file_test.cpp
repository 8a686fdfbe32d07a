#include "analysis/runs/run_file.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "machine/machine_json.h"
#include "sim/simulation.h"
#include "support/random_program.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/packed.h"

using namespace trainscope;
using analysis::Run;
using analysis::SavedRuns;

namespace {

std::shared_ptr<const Run> run(const char* label, std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return std::make_shared<const Run>(analysis::run_config(label, config));
}

SavedRuns saved(std::vector<std::shared_ptr<const Run>> runs) {
  SavedRuns all;
  all.version = "1.2.3";
  all.executor = "sim";
  all.seed = 5;
  all.subject = {"a-lesson",   "A lesson", "It need not hold.", {"One.", "Two: größer."},
                 {"A limit."}, "de"};
  all.runs = std::move(runs);
  return all;
}

void same_metrics(const Run& a, const Run& b) {
  REQUIRE(a.metrics.size() == b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i) {
    INFO(a.metrics[i].metric->name);
    REQUIRE(a.metrics[i].metric == b.metrics[i].metric);
    REQUIRE(a.metrics[i].value == b.metrics[i].value);
  }
  REQUIRE(a.gaps.size() == b.gaps.size());
}

// Saved, opened and saved again: the same bytes, the same numbers. Returns what was opened.
SavedRuns there_and_back(const SavedRuns& before) {
  const std::string bytes = analysis::pack_runs(before);
  SavedRuns after = analysis::unpack_runs(bytes, "t.tsrun");
  REQUIRE(analysis::pack_runs(after) == bytes);
  REQUIRE(after.runs.size() == before.runs.size());
  for (std::size_t i = 0; i < after.runs.size(); ++i) {
    CHECK(after.runs[i]->label == before.runs[i]->label);
    CHECK(after.runs[i]->config == before.runs[i]->config);
    same_metrics(*after.runs[i], *before.runs[i]);
  }
  return after;
}

}  // namespace

TEST_CASE(
    "a saved run tells what its loader takes in the long run, though not what its threads do") {
  const auto early = run("A", {"workload=train", "model.name=resnet18", "batch_size=32", "steps=4",
                               "host.cores=2", "loader.num_workers=16", "loader.sample_ms=5"});
  REQUIRE_THAT(early->caveat, Catch::Contains("16 workers, on 2 cores, take 80 ms for a batch"));
  const SavedRuns opened = there_and_back(saved({early}));
  CHECK(opened.runs.front()->caveat == early->caveat);
}

TEST_CASE("a saved run has everything that the run had, and saves to the same bytes again") {
  for (const char* workload :
       {"workload=copy", "workload=train", "workload=launch", "workload=kernel", "workload=gemm"}) {
    const SavedRuns before = saved({run("A", {workload, "copy.memory=pageable", "seed=5"}),
                                    run("B", {workload, "machine=t4-1", "steps=7"})});
    const SavedRuns after = there_and_back(before);
    CHECK(after.version == "1.2.3");
    CHECK(after.executor == "sim");
    CHECK(after.seed == 5);
    CHECK(after.subject.caveat == before.subject.caveat);
    CHECK(after.subject.paragraphs == before.subject.paragraphs);
    CHECK(after.subject.language == before.subject.language);
    const Run &a = *before.runs[0], &b = *after.runs[0];
    CHECK(b.program->listing.lines == a.program->listing.lines);
    CHECK(b.program->steps == a.program->steps);
    CHECK(b.trace->origin().detail == a.trace->origin().detail);
    CHECK(machine::to_json(*b.machine) == machine::to_json(*a.machine));
    CHECK(b.machine->figures.size() == a.machine->figures.size());
  }
}

TEST_CASE("runs of several GPUs come back, one that ended in a deadlock as well") {
  const SavedRuns before = saved(
      {run("A", {"machine=h100-sxm-8", "steps=3", "parallel.world_size=3", "parallel.strategy=dp"}),
       run("B", {"machine=h100-sxm-8", "steps=3", "parallel.world_size=3", "parallel.strategy=ddp",
                 "uneven_batches=true"})});
  const SavedRuns after = there_and_back(before);
  CHECK_FALSE(after.runs[0]->ending);
  REQUIRE(after.runs[1]->ending);
  CHECK(sim::sentence(*after.runs[1]->ending) == sim::sentence(*before.runs[1]->ending));
}

TEST_CASE("runs of random programs come back with the same numbers") {
  const auto machine =
      std::make_shared<const machine::Machine>(machine::load_machine("v100-sxm-1"));
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    auto one = std::make_shared<Run>();
    one->label = "A";
    const auto program = std::make_shared<program::Program>(test::random_program(seed));
    const auto trace = std::make_shared<trace::Trace>(trace::Origin{});
    sim::Simulation(*program, *machine, "native", *trace).finish();
    one->machine = machine;
    one->program = program;
    one->trace = trace;
    analysis::analyse(*one);
    there_and_back(saved({one}));
  }
}

TEST_CASE("an imported trace can be saved as a run") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto files = test::real_traces();
  REQUIRE(!files.empty());
  for (const std::filesystem::path& file : files) {
    INFO(file);
    const auto one = std::make_shared<const Run>(analysis::import_run("A", file));
    SavedRuns before = saved({one});
    before.executor = "imported";
    const SavedRuns after = there_and_back(before);
    CHECK(after.runs[0]->trace->origin().kind == trace::OriginKind::kImported);
    CHECK(after.runs[0]->trace->dropped_events() == one->trace->dropped_events());
    CHECK(!after.runs[0]->machine);
    CHECK(!after.runs[0]->program);
  }
}

TEST_CASE("every machine of the catalogue comes back from its JSON whole") {
  for (const std::string& id : machine::machine_ids()) {
    INFO(id);
    const machine::Machine machine = machine::load_machine(id);
    const auto json = machine::to_json(machine);
    const machine::Machine again = machine::machine_from_json(json);
    CHECK(machine::to_json(again) == json);
    CHECK(again.nodes == machine.nodes);
    CHECK(again.network.bytes_per_s == machine.network.bytes_per_s);
    CHECK(again.gpu_link.kind == machine.gpu_link.kind);
    CHECK(again.host.wake_ns == machine.host.wake_ns);
    CHECK(again.figures.size() == machine.figures.size());
  }
}

TEST_CASE("a saved machine with numbers that no machine has is refused") {
  const auto good = machine::to_json(machine::load_machine("dgx1-v100-8"));
  const auto with = [&](const char* part, const char* key, const nlohmann::json& value) {
    auto json = good;
    json[part][key] = value;
    return json;
  };
  CHECK_NOTHROW(machine::machine_from_json(good));
  CHECK_THROWS_AS(machine::machine_from_json(with("gpu", "sm_count", 0)), InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("gpu", "sm_count", 2147483647)), InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("host", "staging_chunk", 0)), InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("pcie_tree", "sockets", 0)), InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("pcie_tree", "sockets", 30000)), InputError);
  const auto pairs = [](int a, int b, int links) { return nlohmann::json{{a, b, links}}; };
  CHECK_THROWS_AS(machine::machine_from_json(with("gpu_link", "pairs", pairs(0, 1000000, 1))),
                  InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("gpu_link", "pairs", pairs(1, 1, 1))),
                  InputError);
  CHECK_THROWS_AS(machine::machine_from_json(with("gpu_link", "pairs", pairs(0, 1, 0))),
                  InputError);
  auto crowd = good;
  crowd["gpu_count"] = crowd["nodes"] = 65536;
  CHECK_THROWS_AS(machine::machine_from_json(crowd), InputError);
}

TEST_CASE("a saved run opens when its machine is no longer in the catalogue") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("mine.toml", "base = \"h200-1\"\nname = \"My machine\"\n");
  program::Config config;
  config.set_text("workload=copy");
  config.set("machine", file.string());
  const auto one = std::make_shared<const Run>(analysis::run_config("A", config));
  analysis::save_runs(saved({one}), folder.path() / "mine.tsrun");
  std::filesystem::remove(file);
  const SavedRuns after = analysis::open_runs(folder.path() / "mine.tsrun");
  CHECK(after.runs[0]->machine->name == "My machine");
  same_metrics(*after.runs[0], *one);
}

TEST_CASE("files that are no saved runs are refused with one sentence that names them") {
  const test::TemporaryFolder folder;
  const auto refuses = [&](const std::string& bytes, const std::string& part) {
    const auto file = folder.write("bad.tsrun", bytes);
    CHECK_THROWS_WITH(analysis::open_runs(file),
                      Catch::Contains("bad.tsrun: ") && Catch::Contains(part));
  };
  const std::string good = analysis::pack_runs(saved({run("A", {"workload=copy"})}));
  refuses("", "this is not a saved run");
  refuses("{\"traceEvents\": []}", "this is not a saved run");
  refuses(good.substr(0, good.size() / 2), "is damaged");
  refuses(good + "x", "is damaged");
  std::string flipped = good;
  flipped[good.size() / 3] = static_cast<char>(flipped[good.size() / 3] + 1);
  refuses(flipped, "checksum");
  CHECK_THROWS_WITH(analysis::open_runs(folder.path()), Catch::Contains("folder"));
  CHECK_THROWS_WITH(analysis::open_runs(folder.path() / "none.tsrun"),
                    Catch::Contains("there is no such file"));
}

TEST_CASE("a saved run can be read first and get its numbers then, the same as at once") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.tsrun";
  analysis::save_runs(saved({run("A", {"workload=train", "steps=3"})}), file);
  const SavedRuns read = analysis::read_runs(file), opened = analysis::open_runs(file);
  REQUIRE(read.runs.size() == 1);
  CHECK_FALSE(analysis::is_analysed(*read.runs[0]));
  CHECK(read.runs[0]->metrics.empty());
  const Run analysed = analysis::analysed(*read.runs[0], file.string());
  REQUIRE(analysis::is_analysed(*opened.runs[0]));
  REQUIRE(analysed.metrics.size() == opened.runs[0]->metrics.size());
  for (std::size_t i = 0; i < analysed.metrics.size(); ++i)
    CHECK(analysed.metrics[i].value == opened.runs[0]->metrics[i].value);
  CHECK(analysed.gaps.size() == opened.runs[0]->gaps.size());
}

TEST_CASE(
    "a run that nobody could have carried out can be read, and is refused with one sentence") {
  Run impossible = *run("A", {"workload=kernel"});
  program::Program program = *impossible.program;
  for (program::Operation& operation : program.operations)
    if (operation.block_work) operation.block_work->registers = 100'000;
  impossible.program = std::make_shared<program::Program>(program);
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.tsrun";
  analysis::save_runs(saved({std::make_shared<const Run>(impossible)}), file);
  const SavedRuns read = analysis::read_runs(file);
  const auto begins = Catch::StartsWith(file.string() + ": cannot be opened: ");
  CHECK_THROWS_WITH(analysis::analysed(*read.runs[0], file.string()), begins);
  CHECK_THROWS_WITH(analysis::open_runs(file), begins);
}

// The checksum is right in these: what a person's own editor, or an enemy, could write.
TEST_CASE("heads and traces that say impossible things are refused, not believed") {
  const SavedRuns original = saved({run("A", {"workload=train", "steps=3"})});
  const std::string content = analysis::runs_content(original);
  const auto refuses = [](const std::string& bytes) {
    CHECK_THROWS_WITH(analysis::read_runs_content(bytes, "bad.tsrun"),
                      Catch::StartsWith("bad.tsrun: "));
  };
  const auto with_head = [&](const std::string& head) {
    const std::string size{static_cast<char>(head.size() | 0x80),
                           static_cast<char>(head.size() >> 7)};
    refuses(size + head);
  };
  with_head("{}");
  with_head("[[[[");
  with_head(std::string(10'000, '['));
  with_head(R"({"version": 1})");
  with_head(R"({"version": "1", "executor": "sim", "seed": 1e300, "compared": false})");
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string changed = content;
    for (int i = 0; i < 1 + round % 3; ++i)
      changed[random() % changed.size()] = static_cast<char>(random());
    try {
      const SavedRuns opened = analysis::read_runs_content(changed, "bad.tsrun");
      analysis::pack_runs(opened);
    } catch (const InputError& error) {
      ++refused;
      REQUIRE(std::string(error.what()).starts_with("bad.tsrun: "));
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("a saved run of a model of text knows how many tokens a sample has") {
  const SavedRuns after = there_and_back(
      saved({run("A", {"model.name=gpt-mini", "steps=3"}), run("B", {"model.name=mlp"})}));
  CHECK(analysis::value_of(after.runs[0]->metrics, "throughput.tokens"));
  CHECK(!analysis::value_of(after.runs[1]->metrics, "throughput.tokens"));
}
