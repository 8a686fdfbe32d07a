// The knobs that do what a vary step asks for.
#include "scenario/solution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "base/error.h"
#include "scenario/check.h"
#include "scenario/sheet.h"
#include "support/edited_lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using Catch::Contains;
using scenario::Lesson;
using test::Edit;
using test::Edited;
using test::step_of;

namespace {

// Of pinned-vs-pageable.
constexpr const char* kSolution = "solution = { common.copy.bytes = \"4 KiB\" }";

// The step as one that is done with any knob of its lesson.
const Edit kWithAnyKnob = {"\nknobs = [\"copy.bytes\"]\n", "\n\n"};

Lesson with_solution(const std::string& solution) {
  return scenario::load_lesson(Edited({kWithAnyKnob, {kSolution, solution}}).file());
}

std::string error_of(const std::vector<Edit>& edits) {
  const Edited edited(edits);
  try {
    scenario::load_lesson(edited.file());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const std::string& solution) {
  return error_of({kWithAnyKnob, {kSolution, solution}});
}

std::string findings_of(const Lesson& lesson) {
  std::string all;
  for (const auto& finding : scenario::check_lesson(lesson)) all += finding.sentence + "\n";
  return all;
}

}  // namespace

TEST_CASE("a solution names its sides as a lesson's configs do, and a side's own value wins") {
  const Lesson lesson = with_solution(
      "solution = { common.copy.bytes = 4096, B.copy.bytes = 512, A.copy.count = 9 }");
  const scenario::TurnedKnobs& turned = *step_of(lesson, "vary").solution;
  CHECK(turned.a.whole("copy.bytes") == 4096);
  CHECK(turned.a.whole("copy.count") == 9);
  CHECK(turned.b.whole("copy.bytes") == 512);
  CHECK_FALSE(turned.b.is_set("copy.count"));
}

TEST_CASE("a wrong solution is refused where it stands, with what to write instead") {
  CHECK_THAT(error_of("solution = { A.copy.byts = 4096 }"),
             Contains(".toml:131:28: there is no knob copy.byts (did you mean copy.bytes?)"));
  CHECK_THAT(error_of("solution = { A.copy.count = -1 }"),
             Contains(".toml:131:") && Contains("-1 is out of range"));
  CHECK_THAT(error_of("solution = { C.copy.count = 1 }"),
             Contains(".toml:131:") && Contains("a solution has no key C"));
  CHECK_THAT(error_of("solution = { B = 1 }"), Contains("B is not a table"));
  CHECK_THAT(error_of("solution = 4096"), Contains("solution is not a table"));
  CHECK_THAT(error_of("solution = {}"), Contains("a solution turns a knob"));
  CHECK_THAT(error_of("solution = { B.batch_size = 4 }"),
             Contains("turns batch_size, which is none of the lesson's knobs"));
  const std::string goal = "goal = { expect = \"A.copy.count > 3\", knobs = [\"copy.count\"] }\n";
  CHECK_THAT(error_of(goal + kSolution),
             Contains(".toml:132:") &&
                 Contains("to be reached with copy.count, and the solution turns copy.bytes"));
  CHECK(error_of(goal + "solution = { A.copy.count = 4 }") == "no error");
  CHECK_THAT(error_of({{"knobs = [\"copy.memory\"", "knobs = [\"copy.memry\""}}),
             Contains("did you mean copy.memory?"));
  CHECK_THAT(error_of({{"kind = \"predict\"", std::string("kind = \"predict\"\n") + kSolution}}),
             Contains("a solution is of a step of kind vary that has a goal"));
}

TEST_CASE("a lesson's check carries each solution out, and knows the step unsolved before it") {
  CHECK(findings_of(with_solution(kSolution)).empty());
  CHECK_THAT(findings_of(with_solution("solution = { common.copy.bytes = \"16 MiB\" }")),
             Contains("with its solution step vary is not done on h200-1 and ") &&
                 Contains(" more: A.copy.bytes == B.copy.bytes and") &&
                 Contains("and that is 16 MiB == 16 MiB and "));
  CHECK_THAT(findings_of(with_solution("")), Contains("does not say how; write solution = {"));
  Lesson lesson = with_solution(kSolution);
  scenario::Step& vary = lesson.steps[6];
  REQUIRE(vary.solution);
  vary.done_expect = scenario::Expression::parse("B.time.h2d > 0");
  CHECK_THAT(findings_of(lesson), Contains("step vary is done before the knob is turned"));
  vary.done_expect.reset();
  vary.goal = scenario::Expression::parse("A.copy.count == 3");
  CHECK_THAT(findings_of(lesson), Contains("step vary is done before the knob is turned"));
}

TEST_CASE("what a solution turns on both sides is demanded of both") {
  const Edit less = {
      "done_when = { expect = \"A.copy.bytes == B.copy.bytes and ratio(A.time.h2d, B.time.h2d) < "
      "1.5\" }",
      "done_when = { expect = \"A.time.h2d < 100 us\" }"};
  const auto told = [&](const std::string& solution) {
    return findings_of(scenario::load_lesson(
        Edited({kWithAnyKnob, less, {kSolution, "solution = { " + solution + " }"}}).file()));
  };
  CHECK_THAT(told("common.copy.bytes = 4096"),
             Contains("step vary turns knobs on both sides, and is done with those of A alone on"));
  CHECK(told("A.copy.bytes = 4096").empty());
  // What is turned otherwise on each side is no pair.
  CHECK(told("A.copy.bytes = 4096, B.copy.bytes = 8192").empty());
}

TEST_CASE("a side that a solution does not turn is not run again") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const test::Pair pair = test::run_on(lesson, "h200-1");
  const scenario::Sides sides{&pair.a, &pair.b};
  scenario::TurnedKnobs solution;
  solution.b.set_text("copy.bytes=4096");
  const scenario::SolvedRuns solved = scenario::solve(solution, sides);
  CHECK(solved.sides[0] == &pair.a);
  REQUIRE(solved.sides[1] != &pair.b);
  CHECK(solved.sides[1]->config.whole("copy.bytes") == 4096);
  CHECK(solved.sides[1]->label == "B");
}

TEST_CASE(
    "a sheet tells a task's knobs, what they change, and the reason with these runs' numbers") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const test::Pair pair = test::run_on(lesson, "h200-1"),
                   turned = test::run_on(lesson, "h200-1", {"copy.bytes=4096"});
  const scenario::Sides sides{&pair.a, &pair.b};
  const auto sheet = scenario::sheet_of(lesson, sides, scenario::solve_steps(lesson, sides));
  const auto vary = std::ranges::find(sheet.steps, "vary", &analysis::SheetStep::kind);
  REQUIRE(vary != sheet.steps.end());
  REQUIRE(vary->solution);
  CHECK(vary->explain ==
        scenario::fill_in(step_of(lesson, "vary").explain, {&turned.a, &turned.b}));
  CHECK_FALSE(vary->of_own_run);
  const analysis::SheetSolution& solution = *vary->solution;
  REQUIRE(solution.columns.size() == 4);
  CHECK(solution.columns[1].side + " " + solution.columns[1].when == "A after");
  REQUIRE(solution.changes.size() == 2);
  CHECK(solution.changes[0].is_knob);
  CHECK(solution.changes[0].values ==
        std::vector<std::string>{"64 MiB", "4 KiB", "64 MiB", "4 KiB"});
  const analysis::Metric& copies = analysis::find_metric("time.h2d");
  CHECK(solution.changes[1].name == copies.label);
  CHECK(solution.changes[1].values[0] == analysis::show(copies, test::value(pair.a, "time.h2d")));
  CHECK(solution.changes[1].values[3] == analysis::show(copies, test::value(turned.b, "time.h2d")));
  // Without its runs nothing of it is told.
  CHECK_FALSE(std::ranges::any_of(scenario::sheet_of(lesson, sides).steps,
                                  [](const auto& step) { return step.solution.has_value(); }));
}

TEST_CASE("a solution that does not hold on another machine is not told there") {
  Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const test::Pair pair = test::run_on(lesson, "t4-1");
  const scenario::Sides sides{&pair.a, &pair.b};
  CHECK(scenario::solve_steps(lesson, sides).size() == 1);
  lesson.steps[6].done_expect = scenario::Expression::parse("A.copy.count > 3");
  CHECK(scenario::solve_steps(lesson, sides).empty());
}

namespace {

// A knob that is refused without the others reaches nothing.
bool reaches(const scenario::Expression& goal, const scenario::TurnedKnobs& knobs,
             const scenario::Sides& sides) {
  try {
    return scenario::is_reached(goal, scenario::solve(knobs, sides).sides);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("no knob of a problem's solution reaches its goal alone, and each track has a problem") {
  std::set<std::string> tracks;
  for (const Lesson& lesson : scenario::all_lessons()) {
    if (lesson.level != "problem") continue;
    const test::Pair pair = test::run_on(lesson, lesson.common.word("machine"));
    const scenario::Sides sides{&pair.a, &pair.b};
    for (const scenario::Step& step : lesson.steps) {
      if (!step.goal || step.solution->a.values().size() < 2) continue;
      tracks.insert(lesson.track);
      for (const auto& [name, value] : step.solution->a.values()) {
        CAPTURE(lesson.id, name);
        scenario::TurnedKnobs one;
        one.a.set(name, value);
        CHECK_FALSE(reaches(*step.goal, one, sides));
      }
    }
  }
  CHECK(tracks == std::set<std::string>{"T0", "T1", "T2", "T3", "T4", "T5"});
}
