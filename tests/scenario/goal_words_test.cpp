// A task's target beside what the runs have of it, in words.
#include "scenario/goal_words.h"

#include <catch2/catch.hpp>
#include <set>

#include "scenario/grade.h"

using namespace trainscope;
using scenario::Expression;
using Lines = std::vector<std::string>;

namespace {

// Runs that are asked for their metrics alone.
analysis::Run run_with(const char* label, std::initializer_list<std::pair<const char*, double>> has,
                       std::initializer_list<const char*> settings = {}) {
  analysis::Run run;
  run.label = label;
  for (const char* setting : settings) run.config.set_text(setting);
  for (const auto& [name, value] : has)
    run.metrics.push_back({&analysis::find_metric(name), value});
  return run;
}

Lines words(const char* wanted, const analysis::Run& a, const analysis::Run& b,
            const char* language = "en") {
  const scenario::Lesson lesson = scenario::find_lesson("keep-it-fed", language);
  return scenario::goal_words(lesson, Expression::parse(wanted), {}, {&a, &b});
}

}  // namespace

TEST_CASE("a goal says what is asked for and what the run has") {
  const auto a = run_with("A", {{"gpu.util", 0.836}, {"time.step", 12.4e6}, {"sm.waves", 1.5}});
  const auto b = run_with("B", {{"time.step", 10e6}, {"host.lead", 2e6}});
  CHECK(words("A.gpu.util >= 0.96", a, b) ==
        Lines{"GPU-Util of A: 83.6 %, asked for: at least 96 %"});
  CHECK(words("ratio(A.time.step, B.time.step) <= 1.1", a, b) ==
        Lines{"step time of A: 1.24 times that of B, asked for: at most 1.1"});
  CHECK(words("A.time.step <= 1.1 * B.time.step", a, b) ==
        Lines{"step time of A: 1.24 times that of B, asked for: at most 1.1"});
  CHECK(words("A.time.step < B.time.step", a, b) ==
        Lines{"step time of A: 12.4 ms, asked for: less than 10 ms (that of B)"});
  CHECK(words("B.host.lead < 0.1 * B.time.step", a, b) ==
        Lines{"host ahead of B: 20 % of step time, asked for: less than 10 %"});
  CHECK(words("A.time.step - B.time.step < 0.2 ms", a, b) ==
        Lines{"step time, A minus B: 2.40 ms, asked for: less than 200 us"});
}

TEST_CASE("a goal is told in the lesson's language") {
  const auto a = run_with("A", {{"gpu.util", 0.836}, {"time.step", 12.4e6}});
  const auto b = run_with("B", {{"time.step", 10e6}});
  CHECK(words("A.gpu.util >= 0.96", a, b, "de") ==
        Lines{"GPU-Util von A: 83,6 %, verlangt: mindestens 96 %"});
  CHECK(words("ratio(A.time.step, B.time.step) < 1.1", a, b, "de") ==
        Lines{"Zeit je Schritt (im Fenster *step time*) von A: das 1,24-fache von B, verlangt: "
              "weniger als 1,1"});
}

TEST_CASE("a factor that is asked for keeps the digits that the lesson writes") {
  const auto a = run_with("A", {{"throughput.samples", 1000}});
  const auto b = run_with("B", {{"throughput.samples", 976}});
  CHECK(words("B.throughput.samples < 0.975 * A.throughput.samples", a, b) ==
        Lines{"throughput of B: 0.98 times that of A, asked for: less than 0.975"});
  const auto almost = run_with("B", {{"throughput.samples", 974.9}});
  CHECK(words("B.throughput.samples > 0.975 * A.throughput.samples", a, almost) ==
        Lines{"throughput of B: just under 0.975 times that of A, asked for: more than 0.975"});
}

TEST_CASE("a value that only looks as if it were there is said to be beside it") {
  const auto a = run_with("A", {{"gpu.util", 0.95996}});
  CHECK(words("A.gpu.util >= 0.96", a, run_with("B", {})) ==
        Lines{"GPU-Util of A: just under 96 %, asked for: at least 96 %"});
}

TEST_CASE("what the other side has is asked for as the other side's") {
  const auto a = run_with("A", {{"time.step", 2e6}, {"gpu.busy", 1e6}});
  const auto b = run_with("B", {{"time.step", 1e6}});
  CHECK(words("A.time.step < B.time.step", a, b) ==
        Lines{"step time of A: 2 ms, asked for: less than 1 ms (that of B)"});
  CHECK(words("A.time.step < A.gpu.busy", a, b) ==
        Lines{"step time of A: 2 ms, asked for: less than 1 ms"});
}

TEST_CASE("settings that are still to be made are asked for first, and alone") {
  const auto a = run_with("A", {{"time.step", 2e6}}, {"batch_size=64", "loader.num_workers=4"});
  const auto b = run_with("B", {{"time.step", 1e6}}, {"batch_size=32", "precision=bf16"});
  CHECK(words("A.loader.num_workers < 4 and ratio(A.time.step, B.time.step) < 1.1", a, b) ==
        Lines{"`loader.num_workers` of A: 4, asked for: less than 4"});
  CHECK(words("A.batch_size == B.batch_size and A.time.step < B.time.step", a, b) ==
        Lines{"`batch_size`: 64 in A, 32 in B, asked for: the same on both sides"});
  CHECK(words("A.precision == B.precision", a, b) ==
        Lines{"`precision`: fp32 in A, bf16 in B, asked for: the same on both sides"});
  CHECK(words("A.batch_size * A.accumulate_steps <= 8", a, b) ==
        Lines{"`batch_size` x `accumulate_steps` of A: 64, asked for: at most 8"});
}

TEST_CASE("where a setting is to differ, that is asked for") {
  const auto a = run_with("A", {}, {"data.location=host"});
  const auto b = run_with("B", {}, {"data.location=host"});
  CHECK(words("A.data.location != B.data.location", a, b) ==
        Lines{"`data.location`: host in A, host in B, asked for: not the same on both sides"});
}

TEST_CASE("of what held when the task was set a goal is silent, until it no longer does") {
  const scenario::Lesson lesson = scenario::find_lesson("keep-it-fed");
  const auto wanted = Expression::parse("A.gpu.util >= 0.96 and B.launch.calls > 100");
  const auto a = run_with("A", {{"gpu.util", 0.9}}), b = run_with("B", {{"launch.calls", 150}});
  const auto other = run_with("B", {{"launch.calls", 20}}),
             done = run_with("A", {{"gpu.util", 0.97}});
  CHECK(scenario::goal_words(lesson, wanted, {&a, &b}, {&a, &b}).size() == 1);
  CHECK(scenario::goal_words(lesson, wanted, {&a, &b}, {&a, &other}).size() == 2);
  CHECK(scenario::goal_words(lesson, wanted, {&a, &b}, {&done, &b}) ==
        Lines{"GPU-Util of A: 97 %, asked for: at least 96 %"});
}

TEST_CASE("what cannot be told of a goal is left out with all of it") {
  const auto a = run_with("A", {{"gpu.util", 0.9}, {"time.step", 2e6}});
  const auto b = run_with("B", {{"time.step", 1e6}});
  CHECK(words("A.gpu.util > 0.96 or A.time.step < B.time.step", a, b).empty());
  CHECK(words("abs(A.time.step - B.time.step) < 0.1 ms and A.gpu.util > 0.96", a, b).empty());
  CHECK(words("A.mfu > 0.5", a, b).empty());  // no such value
  CHECK(scenario::goal_words(scenario::find_lesson("keep-it-fed"),
                             Expression::parse("A.gpu.util > 0.96"), {}, {})
            .empty());
}

TEST_CASE("every shipped lesson's task is told, but for what has no value or another shape") {
  std::set<std::string> untold;
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    const analysis::Run a = analysis::run_config("A", lesson.side("A")),
                        b = analysis::run_config("B", lesson.side("B"));
    for (const scenario::Step& step : lesson.steps) {
      const Expression* task = scenario::task_of(step);
      if (!task) continue;
      if (scenario::goal_words(lesson, *task, {&a, &b}, {&a, &b}).empty()) untold.insert(lesson.id);
    }
  }
  // A sum of two metrics; a loss that is not reached, and a run out of memory, have no value yet;
  // where the least of a knob is asked for, the goal itself holds from the start.
  CHECK(untold == std::set<std::string>{"allocated-vs-reserved", "bad-batches", "fit-the-card",
                                        "num-workers", "sixteen-bytes-a-parameter"});
}
