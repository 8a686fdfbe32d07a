// What a learner got wrong: how long it is kept, and how it is asked again.
#include "scenario/missed.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "scenario/learner.h"
#include "scenario/progress.h"

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kLesson = "pinned-vs-pageable";

bool never() {
  return false;
}

Choice choice(const std::string& lesson, const std::string& step, int option = 0) {
  return {lesson, step, option, {}};
}

TurnedKnobs on_machine(const std::string& id) {
  TurnedKnobs knobs;
  knobs.a.set("machine", id);
  knobs.b.set("machine", id);
  return knobs;
}

// By runs of the test's own.
int right_option_of(const Lesson& lesson, const std::string& step, const TurnedKnobs& knobs) {
  const analysis::Run a = analysis::run_config("A", lesson.side("A", knobs.a)),
                      b = analysis::run_config("B", lesson.side("B", knobs.b));
  return right_option(*step_of(choice(lesson.id, step), lesson)->question, {&a, &b});
}

int marked_right(const AskedAgain& asked) {
  int right = -1;
  const auto& options = asked.question.options;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i].right) right = static_cast<int>(i);
  return right;
}

Answers answers_to(const std::string& lesson) {
  Answers answers;
  answers.lesson = lesson;
  answers.at("predict").answer.option = 1;
  return answers;
}

}  // namespace

TEST_CASE("a question stays missed until it is answered rightly") {
  Choices missed;
  take(missed, {choice("a", "predict", 2), false});
  take(missed, {choice("b", "predict"), false});
  take(missed, {choice("a", "say-it-back"), true});
  CHECK(missed == Choices{choice("a", "predict", 2), choice("b", "predict")});
  // Missed again it comes after the others, with what was chosen now.
  take(missed, {choice("a", "predict", 1), false});
  CHECK(missed == Choices{choice("b", "predict"), choice("a", "predict", 1)});
  take(missed, {choice("b", "predict", 1), true});
  CHECK(missed == Choices{choice("a", "predict", 1)});
}

TEST_CASE("predictions and last questions come back, and what is read off panels does not") {
  Step step;
  step.kind = StepKind::kPredict;
  CHECK_FALSE(comes_back(step));
  step.question = Question();
  CHECK(comes_back(step));
  step.kind = StepKind::kRecap;
  CHECK(comes_back(step));
  step.kind = StepKind::kObserve;
  CHECK_FALSE(comes_back(step));
  step.kind = StepKind::kPredict;
  step.question->kind = QuestionKind::kNumber;
  CHECK_FALSE(comes_back(step));
}

TEST_CASE("a missed question is decided by its lesson's runs, as the learner ran them") {
  const Lesson lesson = find_lesson(kLesson);
  for (const TurnedKnobs& knobs : {TurnedKnobs(), on_machine("t4-1")}) {
    Choice missed = choice(kLesson, "predict");
    missed.knobs = knobs;
    const auto asked = ask_again(lesson, missed, never);
    REQUIRE(asked);
    CHECK(marked_right(*asked) == right_option_of(lesson, "predict", knobs));
    CHECK(asked->missed == missed);
    CHECK(asked->title == lesson.title);
    CHECK(asked->caveat.empty());
  }
  CHECK(right_option_of(lesson, "predict", {}) !=
        right_option_of(lesson, "predict", on_machine("t4-1")));
}

TEST_CASE(
    "the numbers of a missed question are filled in, and before the answer none of a result") {
  const auto asked = ask_again(find_lesson(kLesson), choice(kLesson, "predict"), never);
  REQUIRE(asked);
  CHECK_THAT(asked->setting, Contains("64 MiB"));
  CHECK(asked->question.before_run);
  for (const analysis::SheetOption& option : asked->question.options) {
    CAPTURE(option.text, option.why);
    CHECK((option.text + option.why).find('{') == std::string::npos);
    CHECK(option.text.find("GB/s") == std::string::npos);
  }
}

TEST_CASE("a missed question is asked in the language that is read now") {
  const auto asked = first_to_ask({choice(kLesson, "predict")}, "de", never);
  REQUIRE(asked);
  CHECK(asked->title == find_lesson(kLesson, "de").title);
  CHECK(asked->question.options[2].text == "Zwei- bis viermal so lang");
}

TEST_CASE("what its lesson no longer asks is passed over, and so is a lesson that is gone") {
  const Choices gone{choice("no-such-lesson", "predict"), choice(kLesson, "no-such-step"),
                     choice(kLesson, "scene"), choice(kLesson, "predict", 7),
                     choice(kLesson, "predict", -1)};
  CHECK_FALSE(first_to_ask(gone, "", never));
  CHECK_FALSE(first_to_ask({}, "", never));
  Choices missed = gone;
  missed.push_back(choice(kLesson, "say-it-back"));
  const auto asked = first_to_ask(missed, "", never);
  REQUIRE(asked);
  CHECK(asked->missed.step == "say-it-back");
  CHECK(to_revisit(gone, {find_lesson(kLesson)}) == 0);
  CHECK(to_revisit(missed, {find_lesson(kLesson)}) == 1);
  CHECK(to_revisit(missed, {}) == 0);
}

TEST_CASE("a missed question whose runs decide for no option, or cannot be made, is not asked") {
  Lesson lesson = find_lesson(kLesson);
  const Choice missed = choice(kLesson, "predict");
  CHECK_FALSE(ask_again(lesson, missed, [] { return true; }));
  for (Step& step : lesson.steps)
    if (step.id == "predict")
      for (Option& option : step.question->options)
        option.correct_when = Expression::parse("A.time.h2d > 0");
  CHECK_FALSE(ask_again(lesson, missed, never));
  Choice nowhere = missed;
  nowhere.knobs = on_machine("no-such-machine");
  CHECK_THROWS_WITH(first_to_ask({nowhere}, "", never), Catch::Contains("no-such-machine"));
  const auto asked = first_to_ask({nowhere, choice(kLesson, "say-it-back")}, "", never);
  REQUIRE(asked);
  CHECK(asked->missed.step == "say-it-back");
}

TEST_CASE("what was missed is there again the next time, with the knobs that were turned") {
  const test::TemporaryFolder folder;
  Choice missed = choice("sdpa", "predict", 2);
  missed.knobs = on_machine("t4-1");
  missed.knobs.b.set("seed", std::int64_t{7});
  {
    Learner learner(folder.path());
    learner.keep(answers_to("sdpa"), {true, 3, 4, true},
                 {{missed, false}, {choice("sdpa", "say-it-back"), true}});
    CHECK(learner.missed() == Choices{missed});
  }
  Learner learner(folder.path());
  CHECK(learner.fault().empty());
  CHECK(learner.missed() == Choices{missed});
  CHECK(learner.records().at("sdpa") == LessonRecord{true, 3, 4, true});
  learner.keep(JudgedChoice{missed, true});
  CHECK(Learner(folder.path()).missed().empty());
  CHECK(Learner(folder.path()).records().at("sdpa") == LessonRecord{true, 3, 4, true});
}

TEST_CASE("a later attempt tells what it decided before it is finished") {
  const test::TemporaryFolder folder;
  Learner learner(folder.path());
  learner.keep(answers_to("sdpa"), {true, 4, 4, false});
  learner.keep(answers_to("sdpa"), {false, 0, 4, true}, {{choice("sdpa", "predict", 1), false}});
  Learner again(folder.path());
  CHECK(again.missed() == Choices{choice("sdpa", "predict", 1)});
  CHECK(again.records().at("sdpa").points == 4);
}

TEST_CASE("a learner's file of before anything was missed is read, and nothing is missed in it") {
  const LearnerFile learner = read_learner(
      R"({"format": 1, "lessons": {"sdpa": {"finished": true, "points": 3, "of": 4, "missed": true}}})",
      "learner.json");
  CHECK(learner.records.at("sdpa") == LessonRecord{true, 3, 4, true});
  CHECK(learner.missed.empty());
}

TEST_CASE("of what was missed an entry that cannot be read is left out, and the rest stays") {
  const std::string good = R"({"format": 1, "lesson": "sdpa", "knobs": {},
                               "steps": [{"id": "predict", "option": 2}]})";
  const auto missed_in = [](const std::string& entries) {
    const std::string text = R"({"format": 1, "lessons": {}, "missed": )" + entries + "}";
    return read_learner(text, "learner.json").missed;
  };
  const Choices one{choice("sdpa", "predict", 1)};
  CHECK(missed_in("[" + good + "]") == one);
  for (const std::string bad :
       {"3", "{}", "[]", "null", R"({"format": 1, "lesson": "a", "steps": []})",
        R"({"format": 1, "lesson": "a", "steps": [{"id": "predict", "option": 0}]})",
        R"({"format": 1, "lesson": "a", "steps": [{"id": "predict", "text": "so"}]})",
        R"({"format": 1, "lesson": "a", "knobs": {"A": {"no.such.knob": 1}, "B": {}},
            "steps": [{"id": "predict", "option": 1}]})"}) {
    INFO(bad);
    CHECK(missed_in("[" + bad + ", " + good + "]") == one);
  }
  for (const char* no_list : {"3", "{}", "null", "\"so\""}) {
    INFO(no_list);
    CHECK(missed_in(no_list).empty());
  }
}

TEST_CASE("questions to be asked again that cannot be read are kept beside, with a sentence") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "learner.json";
  const std::string text =
      R"({"format": 1, "lessons": {}, "missed": [{"format": 1, "lesson": "sdpa", "knobs": {},
          "steps": [{"id": "predict", "option": 2}]}, {"format": 7}]})";
  std::filesystem::create_directories(folder.path());
  write_file(file, text);
  Learner learner(folder.path());
  CHECK(learner.missed() == Choices{choice("sdpa", "predict", 1)});
  CHECK_THAT(learner.take_fault(), Catch::Contains("1 of the questions to be asked again") &&
                                       Catch::Contains("learner.json.bad still has them"));
  learner.keep(answers_to("launch-bound"), {true, 1, 1, false});
  CHECK(learner.fault().empty());
  CHECK(read_file(file.string() + ".bad", 1 << 20) == text);
  CHECK(Learner(folder.path()).fault().empty());
  CHECK(Learner(folder.path()).missed() == Choices{choice("sdpa", "predict", 1)});
}
