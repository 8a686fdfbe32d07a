// Lessons as the words of a handout.
#include "scenario/sheet.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace trainscope;
using analysis::SheetAnswer;
using analysis::SheetStep;

namespace {

struct Ran {
  explicit Ran(const scenario::Lesson& lesson)
      : a(analysis::run_config("A", lesson.side("A"))),
        b(analysis::run_config("B", lesson.side("B"))) {}
  analysis::Run a, b;
  analysis::LessonSheet sheet(const scenario::Lesson& lesson) const {
    return scenario::sheet_of(lesson, {&a, &b});
  }
};

const SheetStep& step_of(const analysis::LessonSheet& sheet, const std::string& kind) {
  const auto found = std::find_if(sheet.steps.begin(), sheet.steps.end(),
                                  [&](const SheetStep& step) { return step.kind == kind; });
  REQUIRE(found != sheet.steps.end());
  return *found;
}

void check_texts(const SheetStep& step) {
  for (const std::string* text : {&step.text, &step.hint, &step.explain, &step.answer}) {
    CAPTURE(*text);
    CHECK(text->find('{') == std::string::npos);
    CHECK(text->find("??") == std::string::npos);
    CHECK(text->find(scenario::kBlank) == std::string::npos);
    CHECK(text->find("Shift+") == std::string::npos);
    CHECK(text->find("Ctrl+") == std::string::npos);
  }
}

}  // namespace

TEST_CASE("every lesson makes a sheet whose questions have one right answer") {
  const auto lessons = scenario::all_lessons();
  REQUIRE(lessons.size() >= 70);
  for (const scenario::Lesson& lesson : lessons) {
    CAPTURE(lesson.id);
    const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
    REQUIRE(sheet.steps.size() == lesson.steps.size());
    CHECK(sheet.steps.front().before_run);
    CHECK_FALSE(sheet.steps.back().before_run);
    for (const SheetStep& step : sheet.looked_back) check_texts(step);
    for (const SheetStep& step : sheet.steps) {
      CAPTURE(step.kind, step.text);
      check_texts(step);
      const auto right = std::count_if(step.options.begin(), step.options.end(),
                                       [](const auto& option) { return option.right; });
      CHECK(right == (step.asks == SheetAnswer::kChoice ? 1 : 0));
      CHECK(step.answer.empty() ==
            (step.asks == SheetAnswer::kNone || step.asks == SheetAnswer::kChoice));
    }
  }
}

TEST_CASE("a sheet's numbers are the run's, and before the run only the knobs are known") {
  scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  lesson.steps[1].text = "Do {A.copy.count} copies take {A.time.h2d}?";
  const Ran ran(lesson);
  const analysis::LessonSheet sheet = ran.sheet(lesson);
  CHECK(sheet.steps[1].text == "Do 3 copies take ____?");
  const std::string time = scenario::fill_in("{A.time.h2d}", {&ran.a, &ran.b});
  REQUIRE(sheet.looked_back.size() == 1);
  CHECK(sheet.looked_back[0].text == "Do 3 copies take " + time + "?");
  CHECK(step_of(sheet, "explain").text.find("Of " + time) != std::string::npos);
  const std::string found = step_of(sheet, "observe").answer;
  CHECK(found.find("**A**, *host main*: `held: staging") == 0);
}

TEST_CASE("what a learner's own knobs decide is left out of a sheet, and the rest is told") {
  scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const auto vary =
      std::ranges::find(lesson.steps, scenario::StepKind::kVary, &scenario::Step::kind);
  REQUIRE(vary != lesson.steps.end());
  vary->explain = "A takes {A.time.step} at {A.copy.bytes}. A call costs the same for any size.";
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  CHECK(step_of(sheet, "vary").explain == "A call costs the same for any size.");
  CHECK(step_of(sheet, "vary").of_own_run);
  CHECK_FALSE(step_of(sheet, "explain").of_own_run);
}

TEST_CASE("to work on, a sheet has blanks for what only the runs say") {
  const scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  CHECK(step_of(sheet, "observe").asked.find("A's copies take ____ times as long") == 0);
  CHECK(step_of(sheet, "scene").asked == step_of(sheet, "scene").text);
  CHECK(std::ranges::count(sheet.metrics, "bandwidth.h2d") == 1);
  CHECK(std::ranges::count(sheet.metrics, "memory.peak_allocated") == 0);
}

TEST_CASE("the numbers of a German sheet have commas, wherever they stand") {
  const scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable", "de");
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  const auto has_point = [](const std::string& words) {
    for (std::size_t at = 1; at + 1 < words.size(); ++at)
      if (words[at] == '.' && std::isdigit(words[at - 1]) && std::isdigit(words[at + 1]))
        return true;
    return false;
  };
  for (const SheetStep& step : sheet.steps) {
    CAPTURE(step.text);
    for (const std::string* text : {&step.text, &step.explain, &step.answer, &step.depends})
      CHECK_FALSE(has_point(*text));
  }
  CHECK(step_of(sheet, "observe").text.find("Die Kopien von A brauchen 5,") == 0);
}

TEST_CASE("where any span of a line is right, the sheet names the one that is seen best") {
  const scenario::Lesson lesson = scenario::find_lesson("anatomy-of-a-step");
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  const auto backward = std::ranges::find_if(sheet.steps, [](const SheetStep& step) {
    return step.text.find("a kernel that `loss.backward()` causes") != std::string::npos;
  });
  REQUIRE(backward != sheet.steps.end());
  CHECK(backward->answer.find("`gemm ") != std::string::npos);
}

TEST_CASE("a number that counts something says what, beside its answer") {
  const scenario::Lesson lesson = scenario::find_lesson("cudnn-benchmark");
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  CHECK(step_of(sheet, "observe").answer.find(" steps (") != std::string::npos);
}

TEST_CASE("a German sheet names lanes and waits as its drawing does") {
  const scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable", "de");
  const analysis::LessonSheet sheet = Ran(lesson).sheet(lesson);
  const std::string found = step_of(sheet, "observe").answer;
  CHECK(found.find("**A**, *Host-Hauptthread*: `festgehalten: Staging`, ") == 0);
}
