// Tasks that ask for the least of a knob, or the most.
#include "scenario/extreme.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "scenario/check.h"
#include "scenario/grade.h"
#include "support/edited_lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using Catch::Contains;
using scenario::Lesson;
using test::Edit;
using test::Edited;
using test::step_of;

namespace {

constexpr const char* kSolution = "solution = { common.copy.bytes = \"4 KiB\" }";
const Edit kOnTwo{"level = \"worked\"", "level = \"worked\"\nmachines = [\"h200-1\", \"t4-1\"]"};
const Edit kAnyKnob{"\nknobs = [\"copy.bytes\"]\n", "\n\n"};
const Edit kCounts{
    "done_when = { expect = \"A.copy.bytes == B.copy.bytes and ratio(A.time.h2d, B.time.h2d) < "
    "1.5\" }",
    "done_when = { expect = \"B.copy.count == 3 and A.copy.count >= 2\" }"};

// The task: copies of A, of which two are enough.
std::vector<Edit> with(const std::string& rest) {
  return {kOnTwo, kAnyKnob, kCounts, {kSolution, rest}};
}

std::string findings_of(const std::string& rest) {
  const Edited edited(with(rest));
  std::string all;
  for (const auto& one : scenario::check_lesson(scenario::load_lesson(edited.file())))
    all += one.sentence + "\n";
  return all;
}

std::string error_of(const std::string& rest) {
  const Edited edited(with(rest));
  try {
    scenario::load_lesson(edited.file());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// The mark of num-workers' task, and what is noted, with so many workers of A.
std::pair<scenario::MarkKind, std::string> graded(int workers, const std::string& knobs = "") {
  scenario::Answers answers;
  answers.lesson = "num-workers";
  if (!knobs.empty()) {
    answers.knobs.a.set_text(knobs);
    answers.knobs.b.set_text(knobs);
  }
  answers.at("vary").knobs.emplace().a.set("loader.num_workers", std::int64_t{workers});
  const scenario::Grade grade = scenario::Grader().grade(answers);
  std::string notes;
  for (const std::string& note : grade.notes) notes += note + "\n";
  for (const scenario::Mark& mark : grade.marks)
    if (mark.step == "vary") return {mark.mark, notes};
  return {scenario::MarkKind::kMissing, notes};
}

}  // namespace

TEST_CASE("a task that asks for the least is done with it, and with no more") {
  const Edited edited(with("least = \"A.copy.count\"\nsolution = { A.copy.count = 2 }"));
  const Lesson lesson = scenario::load_lesson(edited.file());
  const scenario::Step& vary = step_of(lesson, "vary");
  REQUIRE(vary.extreme);
  const auto done = [&](const char* count) {
    const test::Pair own = test::run_on(lesson, "h200-1");
    const analysis::Run a = test::run_side(lesson, "A", "h200-1", {count});
    return scenario::is_done(lesson, vary, {&a, &own.b});
  };
  CHECK_FALSE(done("copy.count=3"));
  CHECK(done("copy.count=2"));
  CHECK_FALSE(done("copy.count=1"));
}

TEST_CASE("the least and the most of a knob end where the knob does") {
  for (const auto& [rest, count, further] :
       {std::tuple{"least = \"A.copy.count\"", 1, ""},
        {"least = \"A.copy.count\"", 5, "A.copy.count = 4"},
        {"most = \"A.copy.count\"", 5, "A.copy.count = 6"},
        {"most = \"common.copy.count\"", 3, "common.copy.count = 4"}}) {
    CAPTURE(rest, count);
    const Edited edited(with(std::string(rest) + "\nsolution = { A.copy.count = 2 }"));
    const Lesson lesson = scenario::load_lesson(edited.file());
    const test::Pair own = test::run_on(lesson, "h200-1");
    const analysis::Run a =
        test::run_side(lesson, "A", "h200-1", {"copy.count=" + std::to_string(count)});
    const scenario::Step& vary = step_of(lesson, "vary");
    const auto knobs = scenario::one_further(lesson, vary, {&a, &own.b});
    CHECK(knobs.has_value() == (std::string(further) != ""));
    if (knobs) CHECK(scenario::words_of(*vary.extreme, *knobs) == further);
  }
}

TEST_CASE("of what does not count the next value is the one that the lesson sweeps") {
  const std::string bytes = "least = \"B.copy.bytes\"\nsolution = { B.copy.bytes = \"1 MiB\" }";
  CHECK_THAT(error_of(bytes), Contains("step vary asks for the least of copy.bytes, which does not "
                                       "count; name its values in a [sweep]"));
  std::vector<Edit> edits = with(bytes);
  edits.push_back({"[[step]]",
                   "[sweep]\nknob = \"copy.bytes\"\nvalues = [\"1 KiB\", \"1 MiB\", "
                   "\"64 MiB\"]\nmetric = \"time.h2d\"\n\n[[step]]"});
  const Edited edited(edits);
  const Lesson lesson = scenario::load_lesson(edited.file());
  const test::Pair own = test::run_on(lesson, "h200-1");
  const auto further = scenario::one_further(lesson, step_of(lesson, "vary"), {&own.a, &own.b});
  REQUIRE(further);
  CHECK(further->b.whole("copy.bytes") == 1 << 20);
  CHECK_FALSE(further->a.is_set("copy.bytes"));
}

TEST_CASE("what cannot be the least is refused with what to write") {
  const std::string solution = "\nsolution = { A.copy.count = 2 }";
  CHECK_THAT(error_of("least = \"copy.count\"" + solution),
             Contains("least names a side's knob; write \"A.c"));
  CHECK_THAT(error_of("least = \"A.copy.cuont\"" + solution), Contains("did you mean copy.count?"));
  CHECK_THAT(error_of("least = \"A.copy.count\"\nmost = \"A.copy.count\"" + solution),
             Contains("the least of a knob or for the most, not for both"));
  CHECK_THAT(error_of("least = \"A.copy.memory\"" + solution), Contains("which does not count"));
  const Edited elsewhere(std::vector<Edit>{
      {"id = \"run\"\nkind = \"run\"", "id = \"run\"\nleast = \"A.copy.count\"\nkind = \"run\""}});
  CHECK_THROWS_WITH(scenario::load_lesson(elsewhere.file()),
                    Contains("least is of a step of kind vary that has a goal"));
}

TEST_CASE("a lesson's check finds a solution that is not the least, and one that is far from it") {
  CHECK(findings_of("least = \"A.copy.count\"\nsolution = { A.copy.count = 2 }").empty());
  CHECK_THAT(
      findings_of("least = \"A.copy.count\"\nsolution = { A.copy.count = 3 }"),
      Contains("the solution of step vary is not the least that does: A.copy.count = 2 does, "
               "too, on h200-1"));
  CHECK_THAT(findings_of("least = \"A.copy.count\"\nsolution = { A.copy.count = 1 }"),
             Contains("with its solution step vary is not done on h200-1 and t4-1") &&
                 Contains("and that is 3 == 3 and 1 >= 2"));
  CHECK_THAT(findings_of("least = \"A.copy.count\"\nsolution = { A.copy.count = 90 }"),
             Contains("is not the least that does") && Contains("is too far on t4-1; even"));
}

TEST_CASE("only the fewest workers that do earn the point, whatever the machine and the draw") {
  using scenario::MarkKind;
  CHECK(graded(3).first == MarkKind::kRight);
  CHECK(graded(2).first == MarkKind::kWrong);
  CHECK(graded(4).first == MarkKind::kWrong);
  const auto [mark, notes] = graded(3, "seed=1");  // a batch of 192: two are enough
  CHECK(mark == MarkKind::kWrong);
  CHECK_THAT(notes, Contains("no point for vary: the least is asked for, and with "
                             "A.loader.num_workers = 2 the goal holds, too"));
  CHECK(graded(2, "seed=1").first == MarkKind::kRight);
  CHECK(graded(3, "machine=t4-1").first == MarkKind::kWrong);
  CHECK(graded(2, "machine=t4-1").first == MarkKind::kRight);
}

TEST_CASE("a solution is turned on to what is the least on another machine") {
  const Lesson lesson = scenario::find_lesson("num-workers");
  for (const auto& [machine, workers] : {std::pair{"h200-1", 3}, {"t4-1", 2}}) {
    const test::Pair own = test::run_on(lesson, machine);
    const scenario::Sides sides{&own.a, &own.b};
    CHECK(scenario::solution_on(lesson, step_of(lesson, "vary"), sides)
              .a.whole("loader.num_workers") == workers);
    const auto solved = scenario::solve_steps(lesson, sides);
    CHECK(solved.at("vary").sides[0]->config.whole("loader.num_workers") == workers);
  }
}
