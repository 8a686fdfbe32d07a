// Answers files, and what they are worth.

#include "scenario/grade.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/temporary_folder.h"
#include "scenario/answers.h"

using namespace trainscope;
using namespace trainscope::scenario;

namespace {

// What a learner who is always right hands in; tasks are left out.
Answers right_answers(const Lesson& lesson, const Sides& sides) {
  Answers answers;
  answers.lesson = lesson.id;
  for (const Step& step : lesson.steps) {
    if (!step.question) continue;
    const Question& question = *step.question;
    StepAnswer& given = answers.at(step.id);
    for (std::size_t i = 0; i < question.options.size(); ++i)
      if (question.options[i].correct_when->evaluate(sides).truth())
        given.answer.option = static_cast<int>(i);
    if (question.answer) {
      const Quantity truth = question.answer->evaluate(sides);
      given.answer.number = truth.value;
      given.unit = truth.unit;
    }
    if (question.span) {
      const analysis::Run& run = *sides[question.span->run == "A" ? 0 : 1];
      const trace::Span& span = run.trace->spans()[find_spans(*question.span, run).front()];
      given.span = ChosenSpan{run.label, run.trace->lanes()[span.lane].name, run.trace->name(span),
                              span.start};
    }
    if (question.kind == QuestionKind::kText) given.answer.text = "my own words";
    given.answer.committed = true;
  }
  return answers;
}

struct Both {
  analysis::Run a, b;
  explicit Both(const Lesson& lesson, const program::Config& flags = {})
      : a(analysis::run_config("A", lesson.side("A", flags))),
        b(analysis::run_config("B", lesson.side("B", flags))) {}
  Sides sides() const { return {&a, &b}; }
};

const Mark& mark_of(const Grade& grade, const std::string& step) {
  for (const Mark& mark : grade.marks)
    if (mark.step == step) return mark;
  FAIL("no mark for " << step);
  return grade.marks.front();
}

std::string refusal(const std::string& text) {
  try {
    Grader().grade(parse_answers(text, "ada.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string with_steps(const std::string& steps) {
  return R"({"format": 1, "lesson": "pinned-vs-pageable", "steps": [)" + steps + "]}";
}

}  // namespace

TEST_CASE("answers come back from their file as they went in") {
  Answers answers;
  answers.lesson = "pinned-vs-pageable";
  answers.student = "Ada \"Countess\" Lovelace";
  answers.knobs.a.set("seed", std::int64_t{7});
  answers.at("predict").answer.option = 2;
  answers.at("guess").answer.number = 5.3e6;
  answers.at("guess").unit = "ns";
  answers.at("guess").hinted = true;
  answers.at("find").span = ChosenSpan{"A", "host main", "held: staging", 81};
  answers.at("say").answer.text = "two\nlines";
  answers.at("again").answer.skipped = true;
  answers.at("vary").knobs.emplace();
  answers.at("vary").knobs->b.set("copy.bytes", std::int64_t{4096});
  answers.at("vary").reached = true;
  const Answers back = parse_answers(write_answers(answers), "f.json");
  CHECK(write_answers(back) == write_answers(answers));
  CHECK(back.file == "f.json");
  CHECK(back.student == answers.student);
  CHECK(back.knobs == answers.knobs);
  CHECK(back.find("predict")->answer.option == 2);
  CHECK(back.find("guess")->answer.number == 5.3e6);
  CHECK(back.find("find")->span->start == 81);
  CHECK(back.find("again")->answer.skipped);
  CHECK(back.find("vary")->knobs->b.whole("copy.bytes") == 4096);
  CHECK(back.find("vary")->reached);
  CHECK(back.find("nothing") == nullptr);
}

TEST_CASE("a learner who is right about a lesson gets all points of its questions") {
  const Lesson lesson = find_lesson("pinned-vs-pageable");
  const Both runs(lesson);
  Answers answers = right_answers(lesson, runs.sides());
  answers.at("vary").knobs.emplace();
  for (program::Config* side : {&answers.at("vary").knobs->a, &answers.at("vary").knobs->b})
    side->set("copy.bytes", std::int64_t{1024});
  const Grade grade = Grader().grade(answers);
  CHECK(grade.of() == 3);  // find, vary, say-it-back
  CHECK(grade.points() == 3);
  CHECK(grade.score() == 1);
  CHECK(grade.predicted_rightly() == 1);
  CHECK(grade.predicted() == 1);
  CHECK(grade.notes.empty());
}

TEST_CASE("wrong, skipped and missing answers are told apart") {
  const Lesson lesson = find_lesson("pinned-vs-pageable");
  const Both runs(lesson);
  Answers answers = right_answers(lesson, runs.sides());
  StepAnswer& predict = answers.at("predict");
  predict.answer.option = predict.answer.option == 0 ? 1 : 0;
  answers.at("find").span->start += 1;
  answers.at("say-it-back").answer = {};
  answers.at("say-it-back").answer.skipped = true;
  const Grade grade = Grader().grade(answers);
  CHECK(mark_of(grade, "predict").mark == MarkKind::kWrong);
  CHECK(mark_of(grade, "predict").given != mark_of(grade, "predict").truth);
  CHECK(mark_of(grade, "find").mark == MarkKind::kWrong);
  CHECK(mark_of(grade, "say-it-back").mark == MarkKind::kSkipped);
  CHECK(mark_of(grade, "vary").mark == MarkKind::kMissing);
  CHECK(grade.points() == 0);
  CHECK(grade.of() == 3);
}

TEST_CASE("a prediction is listed and worth nothing, until they are counted") {
  const Lesson lesson = find_lesson("pinned-vs-pageable");
  const Both runs(lesson);
  Answers answers;
  answers.lesson = lesson.id;
  answers.at("predict") = *right_answers(lesson, runs.sides()).find("predict");
  const Grade guessed = Grader().grade(answers);
  CHECK(mark_of(guessed, "predict").mark == MarkKind::kRight);
  CHECK(mark_of(guessed, "predict").decided());
  CHECK_FALSE(mark_of(guessed, "predict").counts());
  CHECK(guessed.points() == 0);
  GradeRules rules;
  rules.count_predictions = true;
  const Grade counted = Grader(rules).grade(answers);
  CHECK(counted.points() == 1);
  CHECK(counted.of() == 4);
}

TEST_CASE("a task counts when the knobs as they were left reach its goal") {
  const auto mark_with = [](std::int64_t bytes) {
    Answers answers;
    answers.lesson = "pinned-vs-pageable";
    answers.at("vary").knobs.emplace();
    for (program::Config* side : {&answers.at("vary").knobs->a, &answers.at("vary").knobs->b})
      side->set("copy.bytes", bytes);
    return mark_of(Grader().grade(answers), "vary");
  };
  CHECK(mark_with(2048).mark == MarkKind::kRight);
  CHECK(mark_with(1 << 24).mark == MarkKind::kWrong);
  CHECK(mark_with(2048).given == "A.copy.bytes = 2 KiB, B.copy.bytes = 2 KiB");
}

namespace {

// The answer to a task alone, with knobs as --set has them: "A.copy.memory=pinned".
Grade grade_of_task(const char* lesson, const char* step, const std::vector<std::string>& knobs) {
  Answers answers;
  answers.lesson = lesson;
  TurnedKnobs& turned = answers.at(step).knobs.emplace();
  for (const std::string& knob : knobs)
    (knob[0] == 'A' ? turned.a : turned.b).set_text(knob.substr(2));
  return Grader().grade(answers);
}

}  // namespace

TEST_CASE("a task that was reached by turning other knobs earns no point, and is told") {
  struct Case {
    const char *lesson, *step;
    std::vector<std::string> knobs;
    const char* stray;
  };
  const std::vector<Case> cases{
      {"pinned-vs-pageable", "vary", {"A.copy.memory=pinned"}, "copy.memory was turned"},
      {"amp-loss-scale", "climb", {"A.scaler.init_scale=65536"}, "scaler.init_scale was turned"},
      {"batch-size",
       "goal",
       {"A.model.layers=1", "A.model.hidden=4096"},
       "model.hidden, model.layers were turned"},
      {"non-blocking-needs-pinned",
       "vary",
       {"A.loader.pin_memory=true"},
       "loader.pin_memory was turned"},
      // Of a step that names none: what the lesson does not show.
      {"occupancy-cliff", "vary", {"B.kernel.flops_per_thread=1"}, "kernel.flops_per_thread was"}};
  for (const Case& one : cases) {
    INFO(one.lesson);
    const Grade grade = grade_of_task(one.lesson, one.step, one.knobs);
    CHECK(mark_of(grade, one.step).mark == MarkKind::kWrong);
    CHECK(grade.points() == 0);
    REQUIRE(grade.notes.size() == 1);
    CHECK_THAT(grade.notes[0], Catch::Contains("no point for " + std::string(one.step)) &&
                                   Catch::Contains(one.stray));
  }
}

TEST_CASE("a knob that stands where it stood is not turned, and a machine is one") {
  const std::vector<std::string> small{"A.copy.bytes=2048", "B.copy.bytes=2048"};
  std::vector<std::string> knobs = small;
  knobs.emplace_back("A.copy.memory=pageable");
  const Grade same = grade_of_task("pinned-vs-pageable", "vary", knobs);
  CHECK(mark_of(same, "vary").mark == MarkKind::kRight);
  CHECK(same.notes.empty());
  knobs = small;
  knobs.emplace_back("A.machine=t4-1");
  CHECK(mark_of(grade_of_task("pinned-vs-pageable", "vary", knobs), "vary").mark ==
        MarkKind::kWrong);
  // A lesson about machines has those that it is made for.
  CHECK_THAT(grade_of_task("which-gpu", "vary", {"A.machine=laptop-1"}).notes.at(0),
             Catch::Contains("machine laptop-1 was turned"));
  CHECK(mark_of(grade_of_task("which-gpu", "vary", {"B.machine=rtx3090-1"}), "vary").mark ==
        MarkKind::kRight);
}

TEST_CASE("a wrong span that is called as the right one is told apart by when it is") {
  const Lesson lesson = find_lesson("pinned-vs-pageable");
  const Both runs(lesson);
  Answers answers = right_answers(lesson, runs.sides());
  answers.at("find").span->start += 1;
  const Mark mark = mark_of(Grader().grade(answers), "find");
  CHECK(mark.mark == MarkKind::kWrong);
  CHECK_THAT(mark.given, Catch::StartsWith("at ") && Catch::Contains(" us in step 0: held: "));
  CHECK_THAT(mark.truth, Catch::StartsWith("at ") && Catch::Contains(" us in step 0: held: "));
  CHECK(mark.given != mark.truth);
  answers.at("find").span->lane = "elsewhere";
  CHECK_THAT(mark_of(Grader().grade(answers), "find").given,
             Catch::StartsWith("held: ") && Catch::Contains(" in elsewhere of A"));
}

TEST_CASE("equal runs are carried out once, also for graders at work at once") {
  const Grader grader;
  std::vector<int> points(6, -1);
  in_parallel(points.size(), [&](std::size_t i) {
    Answers answers;
    answers.lesson = "pinned-vs-pageable";
    answers.student = "S" + std::to_string(i);
    for (program::Config* side :
         {&answers.at("vary").knobs.emplace().a, &answers.at("vary").knobs->b})
      side->set("copy.bytes", std::int64_t{2048});
    points[i] = grader.grade(answers).points();
  });
  CHECK(points == std::vector<int>(6, 1));
  CHECK(grader.carried_out() == 4);  // A and B, as the lesson has them and as they were turned
}

TEST_CASE("a lesson of one's own is graded: from a folder that is named, and beside the answers") {
  const test::TemporaryFolder mine, elsewhere;
  std::string text = read_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml", 1 << 20);
  const std::string id = "id = \"pinned-vs-pageable\"";
  text.replace(text.find(id), id.size(), "id = \"find-unused\"");
  mine.write("find-unused.toml", text);
  mine.write("settings.toml", "workload = \"copy\"\n");
  Answers answers;
  answers.lesson = "find-unused";
  answers.file = (elsewhere.path() / "ada.json").string();
  CHECK_THROWS_WITH(Grader().grade(answers), Catch::Contains("there is no lesson find-unused"));
  CHECK(Grader({{mine.path()}, false}).grade(answers).lesson == "find-unused");
  answers.file = (mine.path() / "ada.json").string();
  CHECK(Grader().grade(answers).of() == 3);
  // What a student hands in along with the answers replaces no shipped lesson.
  mine.write("pinned-vs-pageable.toml", "format = 1\n");
  answers.lesson = "pinned-vs-pageable";
  CHECK(Grader().grade(answers).of() == 3);
  CHECK_THROWS_AS(Grader({{mine.path()}, false}).grade(answers), InputError);
  const Shelf shelf = readable_lessons({}, {{mine.path()}, {}});
  CHECK(shelf.unreadable.size() == 1);  // the lesson that is none; the config is no lesson
  CHECK(std::ranges::count(shelf.lessons, "find-unused", &Lesson::id) == 1);
}

TEST_CASE("a seed that the lesson does not list is told") {
  Answers answers;
  answers.lesson = "amp-underflow";
  answers.knobs.a.set("seed", std::int64_t{1});
  answers.knobs.b = answers.knobs.a;
  const auto notes = Grader().grade(answers).notes;
  REQUIRE(!notes.empty());
  CHECK_THAT(notes.back(), Catch::Contains("the seed 1 is none of those that amp-underflow lists"));
  CHECK(seed_caveat(find_lesson("amp-underflow"), 4).empty());
  CHECK(seed_caveat(find_lesson("pinned-vs-pageable"), 1).empty());
}

TEST_CASE("right answers to every lesson are right, on a student's own seed, too") {
  for (const Lesson& lesson : all_lessons()) {
    INFO(lesson.id);
    Answers answers;
    program::Config seeded;
    seeded.set("seed", seed_of_student("Ada", lesson.seeds));
    const Both runs(lesson, seeded);
    answers = right_answers(lesson, runs.sides());
    answers.student = "Ada";
    answers.knobs.a = answers.knobs.b = seeded;
    const Grade grade = Grader().grade(answers);
    CHECK(grade.count(MarkKind::kUndecided) == 0);
    CHECK(grade.count(MarkKind::kWrong) == 0);
    CHECK(grade.points() > 0);
    CHECK(grade.notes.empty());
  }
}

TEST_CASE("a seed belongs to a name") {
  CHECK(seed_of_student("Ada") == seed_of_student("  ada "));
  CHECK(seed_of_student("Ada") != seed_of_student("Bob"));
  CHECK(seed_of_student("") == 0);
  for (const char* name : {"Ada", "Bob", "Eve", ""}) {
    const std::vector<std::int64_t> among{3, 5, 8};
    CHECK(std::count(among.begin(), among.end(), seed_of_student(name, among)) == 1);
  }
  Answers answers;
  answers.lesson = "pinned-vs-pageable";
  answers.student = "Ada";
  CHECK(Grader().grade(answers).notes.empty());  // with the lesson's own
  answers.knobs.a.set("seed", seed_of_student("Bob"));
  answers.knobs.b = answers.knobs.a;
  CHECK_THAT(Grader().grade(answers).notes.front(), Catch::Contains("another than that name's"));
}

TEST_CASE("what is no answers file is refused in one sentence") {
  CHECK_THAT(refusal("{\n  \"format\": 1,,"), Catch::StartsWith("ada.json:2:"));
  CHECK_THAT(refusal("[]"), Catch::Contains("the file is no object"));
  CHECK_THAT(refusal("{}"), Catch::Contains("no format"));
  CHECK_THAT(refusal(R"({"format": 2, "lesson": "x", "steps": []})"), Catch::Contains("newer"));
  CHECK_THAT(refusal(R"({"format": 1, "lesson": "pinned-vs-pagable", "steps": []})"),
             Catch::StartsWith("ada.json: ") && Catch::Contains("did you mean pinned-vs-pageable"));
  CHECK_THAT(refusal(with_steps(R"({"id": "predikt", "option": 1})")),
             Catch::Contains("no step predikt (did you mean predict?)"));
  CHECK_THAT(refusal(with_steps(R"({"id": "predict", "option": 9})")),
             Catch::Contains("4 options, and the answer is option 9"));
  CHECK_THAT(refusal(with_steps(R"({"id": "predict", "option": 18446744073709551615})")),
             Catch::Contains("no whole number from 1"));
  CHECK_THAT(refusal(with_steps(R"({"id": "predict", "opton": 1})")),
             Catch::Contains("unknown key opton (did you mean option?)"));
  CHECK_THAT(refusal(with_steps(R"({"id": "predict"}, {"id": "predict"})")),
             Catch::Contains("twice"));
  CHECK_THAT(refusal(with_steps(R"({"id": "vary", "knobs": {"A": {"copy.byte": 1}}})")),
             Catch::Contains("did you mean copy.bytes"));
  CHECK_THAT(refusal(R"({"format": 1, "lesson": "pinned-vs-pageable",
                         "knobs": {"A": {"copy.bytes": 8}}, "steps": []})"),
             Catch::Contains("another copy.bytes"));
}
