#include "report/json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "machine/figures.h"
#include "machine/machine.h"
#include "program/knobs.h"
#include "report/runs.h"
#include "support/config.h"

using namespace trainscope;
using nlohmann::json;

TEST_CASE("the JSON of a run names origin, executor, seed, machine, config and metrics") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const json out = json::parse(report::run_json({&a, &b}, 7, "sim"));
  CHECK(out["origin"] == "simulated");
  CHECK(out["executor"] == "sim");
  CHECK(out["seed"] == 7);
  REQUIRE(out["runs"].size() == 2);
  const json& run = out["runs"]["A"];
  CHECK(run["machine"] == "h200-1");
  CHECK(run["config"]["copy.memory"] == "pageable");
  CHECK(out["runs"]["B"]["config"]["copy.memory"] == "pinned");
  CHECK(run["metrics"]["time.step"]["unit"] == "ns");
  CHECK(run["spans"] == a.trace->spans().size());
  CHECK(run["dropped"] == 0);
}

TEST_CASE("the parts of the critical path are in the JSON and sum to a step") {
  const analysis::Run a = test::copies("A", "pageable");
  const json run = json::parse(report::run_json({&a}, 0, "sim"))["runs"]["A"];
  const json& path = run["critical_path"];
  CHECK(path["inferred"] == false);
  CHECK(path["unit"] == "ns");
  double sum = 0;
  for (const auto& [part, time] : path["parts"].items()) sum += time.get<double>();
  CHECK(sum == Approx(run["metrics"]["time.step"]["value"].get<double>()));
  CHECK(path["parts"]["staging"].get<double>() > 0.9 * sum);
}

TEST_CASE("the operations of a run are in its JSON, longest first, and of what they are counted") {
  const analysis::Run whole = test::run_of("A", test::kernels(3));
  const json alone = json::parse(report::run_json({&whole}, 0, "sim"))["runs"]["A"];
  CHECK(alone["operations_are"] == "the whole run");
  REQUIRE(alone["operations"].size() == 3);
  CHECK(alone["operations"][0]["where"] == "GPU");
  CHECK(alone["operations"][0]["total"] == 100);
  CHECK_FALSE(alone["operations"][0].contains("self"));

  const analysis::Run steps = test::copies("A", "pageable");
  const json run = json::parse(report::run_json({&steps}, 0, "sim"))["runs"]["A"];
  CHECK(run["operations_are"] == "a step");
  double last = std::numeric_limits<double>::infinity(), on_gpu = 0;
  for (const json& one : run["operations"]) {
    CHECK(one["total"].get<double>() <= last);
    last = one["total"].get<double>();
    if (one["where"] == "GPU") on_gpu += one["total"].get<double>();
    CHECK(one.contains("self") == (one["where"] == "host"));
  }
  CHECK(on_gpu == Approx(run["metrics"]["gpu.busy"]["value"].get<double>()));
  CHECK_FALSE(json::parse(report::compare_json(steps, steps, 0, "sim"))["runs"]["A"].contains(
      "operations"));
}

TEST_CASE("what a lesson expects of a real GPU, and else there is no such list") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const auto written = [&](const std::vector<report::ExpectationEntry>& entries) {
    return json::parse(report::run_json({&a, &b}, 0, "cuda", "", entries));
  };
  CHECK_FALSE(written({}).contains("expectations"));
  const json list =
      written({{"ratio(A.time.step, B.time.step)", 1.5, 4, 2.25, "1", true, ""},
               {"A.gpu.util", {}, 0.5, 0.75, "%", false, ""},
               {"A.sm.waves", 2, {}, {}, "", {}, "run A has no sm.waves"}})["expectations"];
  REQUIRE(list.size() == 3);
  CHECK(list[0] == json({{"expression", "ratio(A.time.step, B.time.step)"},
                         {"min", 1.5},
                         {"max", 4.0},
                         {"value", 2.25},
                         {"unit", "1"},
                         {"holds", true}}));
  CHECK(list[1]["holds"] == false);
  CHECK_FALSE(list[1].contains("min"));
  CHECK(list[2]["holds"].is_null());
  CHECK_FALSE(list[2].contains("value"));
  CHECK(list[2]["why"] == "run A has no sm.waves");
}

TEST_CASE("ranks that wait for one another are in the JSON, and else there is no such list") {
  const analysis::Run run = test::straggling();
  const json out = json::parse(report::run_json({&run}, 0, "sim"));
  const json& ranks = out["runs"]["A"]["ranks"];
  REQUIRE(ranks.size() == 2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(ranks[rank]["rank"] == rank);
    CHECK(ranks[rank]["busy"] == run.ranks[rank].busy);
    CHECK(ranks[rank]["wait"] == run.ranks[rank].wait);
  }
  CHECK(ranks[0]["wait"] > ranks[1]["wait"]);
  const analysis::Run alone = test::copies("A", "pinned");
  CHECK_FALSE(json::parse(report::run_json({&alone}, 0, "sim"))["runs"]["A"].contains("ranks"));
}

TEST_CASE("a config in JSON has the knobs that are set, machine and seed, each of its type") {
  const analysis::Run run = test::copies("A", "pinned");
  const json out = json::parse(report::run_json({&run}, 0, "sim"));
  const json& config = out["runs"]["A"]["config"];
  CHECK(config["copy.count"].is_number_integer());
  CHECK(config["transfer.non_blocking"] == true);
  CHECK(config["machine"] == "h200-1");
  CHECK(config["seed"] == 0);
  CHECK_FALSE(config.contains("batch_size"));
}

TEST_CASE("knobs in JSON are all that the run does something with, defaults with them") {
  const analysis::Run run =
      analysis::run_config("A", test::config_of({"workload=train", "steps=2"}));
  const json one = json::parse(report::run_json({&run}, 0, "sim"))["runs"]["A"];
  CHECK(one["knobs"]["steps"] == 2);
  CHECK(one["knobs"]["batch_size"] == run.config.whole("batch_size"));
  CHECK(one["knobs"]["precision"] == run.config.word("precision"));
  CHECK_FALSE(one["knobs"].contains("copy.bytes"));
  CHECK_FALSE(one["config"].contains("batch_size"));
  REQUIRE(one.contains("caveat"));
  CHECK(one["caveat"].is_null());
}

TEST_CASE("a metric in JSON reads back as exactly the number that it was") {
  const analysis::Run run = test::copies("A", "pageable");
  const json out = json::parse(report::run_json({&run}, 0, "sim"));
  const json& metrics = out["runs"]["A"]["metrics"];
  REQUIRE(metrics.size() == run.metrics.size());
  for (const analysis::MetricValue& one : run.metrics) {
    CAPTURE(one.metric->name);
    CHECK(metrics[one.metric->name]["value"].get<double>() == one.value);
  }
}

TEST_CASE("a number that is not finite is left out of the JSON") {
  analysis::Run run = test::run_of("A", test::kernels(3));
  REQUIRE(run.metrics.size() > 2);
  run.metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  run.metrics[1].value = std::numeric_limits<double>::infinity();
  const json out = json::parse(report::run_json({&run}, 0, "sim"));
  CHECK(out["runs"]["A"]["metrics"].size() == run.metrics.size() - 2);
}

TEST_CASE("an imported run has neither seed nor config, and says what was dropped") {
  const auto trace = test::kernels(5);
  trace->add_dropped({"complete event without a duration", 3, true});
  trace->add_dropped({"arrow that ends but does not start", 9, false});
  const analysis::Run run = test::run_of("A", trace);
  const json out = json::parse(report::run_json({&run}, 0, "sim"));
  CHECK(out["origin"] == "imported");
  CHECK(out["executor"] == "imported");
  CHECK(out["seed"].is_null());
  const json& one = out["runs"]["A"];
  CHECK(one["machine"] == "trace.json");
  CHECK(one["config"].empty());
  CHECK(one["spans"] == 5);
  CHECK(one["dropped"] == 3);
  CHECK(one["drops"][1]["reason"] == "arrow that ends but does not start");
}

TEST_CASE("runs of different origins say their own in JSON") {
  const analysis::Run a = test::run_of("A", test::kernels(2)), b = test::copies("B", "pinned");
  const json out = json::parse(report::run_json({&a, &b}, 0, "sim"));
  CHECK(out["runs"]["A"]["origin"] == "imported");
  CHECK(out["runs"]["B"]["origin"] == "simulated");
}

TEST_CASE("the parts of a comparison sum to the difference") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const json out = json::parse(report::compare_json(a, b, 0, "sim"));
  double sum = 0;
  for (const json& part : out["parts"]) sum += part["ns"].get<double>();
  const auto time = [&](const char* run) {
    return out["runs"][run]["metrics"]["time.step"]["value"].get<double>();
  };
  CHECK(sum == Approx(time("B") - time("A")));
  CHECK(out["ratios"]["time.step"].get<double>() == time("B") / time("A"));
  CHECK(out["parts_are"] == "a step");
}

TEST_CASE("two runs of which one has no steps are not divided into parts") {
  const analysis::Run a = test::run_of("A", test::kernels(2)), b = test::copies("B", "pinned");
  CHECK(json::parse(report::compare_json(a, b, 0, "sim"))["parts"].empty());
}

TEST_CASE("the registries list every knob, metric and machine") {
  const json knobs = json::parse(report::knobs_json())["knobs"];
  CHECK(knobs.size() == program::knobs().size());
  for (const json& knob : knobs) CHECK(program::find_knob_or_null(knob["name"].get<std::string>()));
  const json metrics = json::parse(report::metrics_json())["metrics"];
  CHECK(metrics.size() == analysis::metrics().size());

  const machine::Machine machine = machine::load_machine("h200-1");
  const json machines = json::parse(report::machines_json({machine}))["machines"];
  REQUIRE(machines.size() == 1);
  CHECK(machines[0]["id"] == "h200-1");
  REQUIRE(machines[0]["figures"].size() == machine::all_figures(machine).size());
  CHECK_FALSE(machines[0]["figures"][0]["source"].get<std::string>().empty());
}

TEST_CASE("lessons, actions, findings and what doctor saw are lists of objects") {
  const json lessons = json::parse(report::lessons_json({{"a-b",
                                                          "A \"b\"",
                                                          "Copies",
                                                          "worked",
                                                          5,
                                                          "T1",
                                                          {"a", "b"},
                                                          {"pinned"},
                                                          "C1",
                                                          "It is faster",
                                                          {"t4-1"}}}));
  CHECK(lessons["lessons"][0] == json{{"id", "a-b"},
                                      {"title", "A \"b\""},
                                      {"topic", "Copies"},
                                      {"level", "worked"},
                                      {"minutes", 5},
                                      {"track", "T1"},
                                      {"requires", {"a", "b"}},
                                      {"terms", json::array({"pinned"})},
                                      {"claim", "C1"},
                                      {"heard", "It is faster"},
                                      {"machines", json::array({"t4-1"})}});
  CHECK(json::parse(report::actions_json({{"run", "Run", "Ctrl+R", "h"}}))["actions"][0]["label"] ==
        "Run");
  CHECK(json::parse(report::doctor_json({{"GPU", false, "none", "x"}}))["doctor"][0]["found"] ==
        false);
  const json check = json::parse(report::check_json(2, {"a.toml:1:2: wrong"}));
  CHECK(check["checked"] == 2);
  CHECK(check["findings"][0] == "a.toml:1:2: wrong");
}

TEST_CASE("text that is not UTF-8 makes valid JSON all the same") {
  const json out = json::parse(report::check_json(1, {"bad \xFF byte"}));
  CHECK(out["findings"][0] == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("what people wrote on a run is in its JSON, by the lane's name") {
  analysis::Run run = test::copies("A", "pinned");
  CHECK_FALSE(json::parse(report::run_json({&run}, 0, "sim"))["runs"]["A"].contains("notes"));
  run.notes = {{1, 100, 250, "here it waits"}};
  const json notes = json::parse(report::run_json({&run}, 0, "sim"))["runs"]["A"]["notes"];
  REQUIRE(notes.size() == 1);
  CHECK(notes[0]["lane"] == run.trace->lanes()[1].name);
  CHECK(notes[0]["start"] == 100);
  CHECK(notes[0]["end"] == 250);
  CHECK(notes[0]["text"] == "here it waits");
}
