// Every shipped lesson from its first step to its last, with the right answers and with wrong ones.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/temporary_folder.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;
using scenario::QuestionKind;

namespace {

bool is_right(const scenario::Option& option, const scenario::Sides& sides) {
  return option.correct_when->evaluate(sides).truth();
}

// Takes a lesson by its actions, as a person does with keys.
class Learner {
 public:
  Learner(Driver& driver, bool right) : driver_(driver), right_(right) {}

  void take(const scenario::Lesson& lesson) {
    INFO(lesson.id << ", " << (right_ ? "right" : "wrong"));
    driver_.workspace().open_lesson(lesson);
    driver_.workspace().restart_lesson();
    for (const char* side : {"A", "B"})
      runs_.push_back(std::make_shared<analysis::Run>(
          analysis::run_config(side, driver_.workspace().sides()[runs_.size()].config)));
    driver_.workspace().adopt(runs_);
    const scenario::Progress& progress = driver_.workspace().lesson()->progress;
    for (std::size_t step = 0;; ++step) {
      INFO("step " << step);
      driver_.settle();
      answer();
      if (driver_.app().can("lesson.run")) ask("lesson.run");
      check_card();
      if (step + 1 == progress.steps()) break;
      ask("lesson.next");
      REQUIRE(progress.step() == step + 1);
    }
    CHECK(progress.finished());
  }

  // Questions with a right answer that were answered, and those of them that were judged right.
  int judged = 0;
  int judged_right = 0;

 private:
  void ask(const std::string& action) {
    CAPTURE(action);
    REQUIRE(driver_.app().can(action));
    driver_.app().run(action);
    driver_.settle();
  }

  void answer() {
    const scenario::Step& step = driver_.workspace().lesson()->step();
    if (!step.question) return;
    const scenario::Question& question = *step.question;
    scenario::Progress& progress = driver_.workspace().lesson()->progress;
    const scenario::Sides sides{runs_[0].get(), runs_[1].get()};
    switch (question.kind) {
      case QuestionKind::kChoice:
        ask("lesson.option_" + std::to_string(option(question, sides) + 1));
        break;
      case QuestionKind::kNumber:
        progress.enter(question.answer->evaluate(sides).value * (right_ ? 1 : 3) +
                       (right_ ? 0 : 1));
        break;
      case QuestionKind::kText:
        progress.write(right_ ? question.text_answer : "because it is so");
        break;
      case QuestionKind::kFindSpan:
        find(question, *sides.at(question.span->run == "B" ? 1 : 0));
        return;
    }
    ask("lesson.predict");
  }

  int option(const scenario::Question& question, const scenario::Sides& sides) const {
    for (std::size_t i = 0; i < question.options.size(); ++i)
      if (is_right(question.options[i], sides) == right_) return static_cast<int>(i);
    FAIL("no option is " << (right_ ? "right" : "wrong"));
    return 0;
  }

  // A wrong span is no answer: the learner looks again, and then goes on without one.
  void find(const scenario::Question& question, const analysis::Run& run) {
    const auto meant = scenario::find_spans(*question.span, run);
    REQUIRE_FALSE(meant.empty());
    const std::size_t side = question.span->run == "B" ? 1 : 0;
    trace::SpanId chosen = meant.front();
    if (!right_) {
      chosen = 0;
      while (std::find(meant.begin(), meant.end(), chosen) != meant.end()) ++chosen;
    }
    driver_.app().attention().timeline.selected = {static_cast<Side>(side), chosen};
    ask("lesson.predict");
    const scenario::Progress& progress = driver_.workspace().lesson()->progress;
    CHECK(progress.answer(progress.step()).committed == right_);
    if (!right_) ask("lesson.skip");
  }

  void check_card() {
    const LessonCard card = card_of(driver_.workspace());
    CHECK(card.error.empty());
    CHECK_FALSE(card.ending);
    CHECK_FALSE(card.text.empty());
    if (card.question) count(*card.question);
    for (const LookBack& recap : card.recaps) count(recap.question);
  }

  void count(const QuestionCard& question) {
    if (question.open || question.skipped || !question.right) return;
    ++judged;
    judged_right += *question.right ? 1 : 0;
  }

  Driver& driver_;
  bool right_;
  std::vector<RunPointer> runs_;
};

}  // namespace

TEST_CASE("every shipped lesson is finished with right answers and with wrong ones") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const test::TemporaryFolder folder;
  driver->workspace().keep_learner_in(folder.path());
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    Learner knowing(*driver, true), guessing(*driver, false);
    knowing.take(lesson);
    guessing.take(lesson);
    INFO(lesson.id);
    CHECK(knowing.judged > 0);
    CHECK(knowing.judged_right == knowing.judged);
    CHECK(guessing.judged_right == 0);
  }
}
