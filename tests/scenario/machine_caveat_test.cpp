// Lessons on machines that their texts are not written for.
#include "scenario/machine_caveat.h"

#include <array>
#include <catch2/catch.hpp>

#include "scenario/progress.h"
#include "scenario/sheet.h"
#include "scenario/subject.h"

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;

namespace {

// Configs alone, which are all that is asked.
std::string caveat_on(const std::string& lesson_id, const std::string& a, const std::string& b) {
  const Lesson lesson = find_lesson(lesson_id);
  std::array<analysis::Run, 2> runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].label = i == 0 ? "A" : "B";
    runs[i].config = lesson.side(runs[i].label);
    const std::string& machine = i == 0 ? a : b;
    if (!machine.empty()) runs[i].config.set("machine", machine);
  }
  return machine_caveat(lesson, {&runs[0], &runs[1]});
}

// "The thirty-third register" on a T4, whose SMs hold one such block either way.
struct OnT4 {
  Lesson lesson = find_lesson("occupancy-cliff");
  analysis::Run a, b;
  OnT4() {
    program::Config flags;
    flags.set("machine", std::string("t4-1"));
    a = analysis::run_config("A", lesson.side("A", flags));
    b = analysis::run_config("B", lesson.side("B", flags));
  }
};

}  // namespace

TEST_CASE("a lesson says where its text is not written for a machine, and names those that it is") {
  CHECK(caveat_on("occupancy-cliff", "", "").empty());
  CHECK(caveat_on("occupancy-cliff", "b200-1", "b200-1").empty());
  CHECK(caveat_on("occupancy-cliff", "t4-1", "t4-1") ==
        "The text of this lesson is written for h200-1, b200-1; on t4-1 it need not hold.");
  CHECK(caveat_on("pinned-vs-pageable", "t4-1", "laptop-1").empty());
}

TEST_CASE("the text of a lesson that compares machines is written for those of its sides") {
  CHECK(caveat_on("which-gpu", "", "").empty());
  CHECK(caveat_on("which-gpu", "t4-1", "") ==
        "The text of this lesson is written for l40s-1, a100-40-sxm-1; on t4-1 it need not hold.");
}

TEST_CASE("a question of which the runs decide no answer has none, in judgement and on the sheet") {
  const OnT4 runs;
  const Sides sides{&runs.a, &runs.b};
  const analysis::LessonSheet sheet = sheet_of(runs.lesson, sides);
  CHECK_THAT(sheet.caveat, Contains("on t4-1"));
  CHECK(subject_of(runs.lesson, sides).caveat == sheet.caveat);
  int undecided = 0;
  for (std::size_t i = 0; i < runs.lesson.steps.size(); ++i) {
    const auto& question = runs.lesson.steps[i].question;
    if (!question) continue;
    Answer answer;
    answer.option = 0;
    const Verdict verdict = judge(*question, answer, sides);
    const analysis::SheetStep& step = sheet.steps[i];
    CHECK(verdict.decided == step.decided);
    if (step.decided) continue;
    ++undecided;
    CHECK_FALSE(verdict.right);
    CHECK(verdict.right_option == -1);
    for (const analysis::SheetOption& option : step.options)
      CHECK_FALSE((option.right || !option.why.empty()));
  }
  CHECK(undecided == 2);
}
