// The window's model and its worker, without a window.
#include "ui/app/workspace/workspace.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "ui/app/lesson/guess.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/idle.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

scenario::Lesson first_lesson() {
  return scenario::find_lesson("pinned-vs-pageable");
}

// At the run step, with the prediction made.
void open_and_predict(Workspace& workspace, int option) {
  workspace.open_lesson(first_lesson());
  workspace.next_step();
  workspace.lesson()->progress.choose(option);
  workspace.lesson()->progress.commit();
  workspace.next_step();
}

}  // namespace

TEST_CASE("a lesson's run is carried out beside the window and then revealed") {
  std::atomic<int> woken = 0;
  Workspace workspace([&woken] { ++woken; });
  open_and_predict(workspace, 0);
  REQUIRE(workspace.can_run());
  workspace.run_lesson();
  CHECK_FALSE(workspace.revealed());
  wait_until_idle(workspace);
  CHECK(workspace.revealed());
  CHECK(woken > 0);
  CHECK(workspace.lesson_sides().size() == 2);
  CHECK(end_of_sides(workspace) > 0);
}

TEST_CASE("a newer run abandons the older one of the same side at once") {
  Workspace workspace([] {});
  open_and_predict(workspace, 0);
  workspace.run_lesson();
  wait_until_idle(workspace);
  // Long enough that each would be under way when the next comes.
  for (std::int64_t count = 20000; count <= 20020; ++count)
    workspace.set_knob(0, "copy.count", count);
  workspace.set_knob(0, "copy.count", std::int64_t{2});
  wait_until_idle(workspace);
  CHECK(workspace.sides()[0].run->config.whole("copy.count") == 2);
  workspace.reset_knobs();
  CHECK(workspace.sides()[0].run == workspace.lesson()->as_run[0].run);
}

TEST_CASE("a long run can be drawn while it grows") {
  Workspace workspace([] {});
  open_and_predict(workspace, 0);
  workspace.run_lesson();
  wait_until_idle(workspace);
  workspace.set_knob(0, "copy.count", std::int64_t{60000});
  const TraceView before = workspace.sides()[0].view;
  const bool grew =
      wait_for(workspace, [&] { return workspace.sides()[0].view != before || !workspace.busy(); });
  REQUIRE(grew);
  CHECK(workspace.sides()[0].view->index.span_count <=
        workspace.sides()[0].view->trace->spans().size());
  workspace.return_to_lesson();
  workspace.show_shelf();
  CHECK(workspace.sides().empty());
}

TEST_CASE("what cannot be read is a sentence, not a crash") {
  Workspace workspace([] {});
  workspace.open_trace("/nowhere/trace.json.gz");
  wait_until_idle(workspace);
  CHECK_FALSE(workspace.sides()[0].error.empty());
  CHECK_FALSE(workspace.sides()[0].run);
  workspace.open_lesson(first_lesson());
  CHECK(workspace.sides().size() == 2);
}

TEST_CASE("a knob's wrong value is refused with a sentence and changes nothing") {
  Workspace workspace([] {});
  open_and_predict(workspace, 0);
  workspace.run_lesson();
  wait_until_idle(workspace);
  workspace.set_knob(0, "copy.count", std::int64_t{-4});
  CHECK_FALSE(workspace.notice.empty());
  CHECK_FALSE(workspace.knobs_changed());
}

TEST_CASE("the guess of a ratio is drawn where B would end") {
  Workspace workspace([] {});
  open_and_predict(workspace, 2);
  workspace.run_lesson();
  wait_until_idle(workspace);
  const LessonModel& lesson = *workspace.lesson();
  REQUIRE(predicted_steps(lesson) == std::vector<std::size_t>{1});
  const scenario::Sides sides = workspace.lesson_sides();
  const auto range = guess_in_b(*lesson.lesson.steps[1].question, lesson.progress.answer(1), sides);
  REQUIRE(range);
  const double a = *analysis::value_of(sides[0]->metrics, "time.h2d");
  CHECK(range->start == Approx(a / 4));
  CHECK(range->end == Approx(a / 2));
  CHECK(range->of == GuessedEnd::kCopies);
}

TEST_CASE("the guess of an option is drawn in whatever form it compares both sides") {
  Workspace workspace([] {});
  open_and_predict(workspace, 2);
  workspace.run_lesson();
  wait_until_idle(workspace);
  const scenario::Sides sides = workspace.lesson_sides();
  const double a = *analysis::value_of(sides[0]->metrics, "time.h2d");
  scenario::Question question;
  question.kind = scenario::QuestionKind::kChoice;
  scenario::Answer answer;
  answer.committed = true;
  answer.option = 0;
  const auto range_of = [&](const char* text) {
    question.options.assign(1, {});
    question.options[0].correct_when = scenario::Expression::parse(text);
    const auto range = guess_in_b(question, answer, sides);
    return range ? std::optional(std::pair(range->start / a, range->end / a)) : std::nullopt;
  };
  const auto is = [&](const char* text, double least, double most) {
    INFO(text);
    const auto range = range_of(text);
    REQUIRE(range);
    CHECK(range->first == Approx(least));
    CHECK(range->second == Approx(most));
  };
  is("ratio(A.time.h2d, B.time.h2d) >= 2 and ratio(A.time.h2d, B.time.h2d) < 4", 0.25, 0.5);
  is("ratio(B.time.h2d, A.time.h2d) > 0.5 and ratio(B.time.h2d, A.time.h2d) <= 0.9", 0.5, 0.9);
  is("A.time.h2d < 0.8 * B.time.h2d", 1.25, 1.5);
  is("B.time.h2d <= A.time.h2d", 0, 1);
  is("0.5 * A.time.h2d > B.time.h2d and A.gpu.util > 0.1", 0, 0.5);
  is("B.time.h2d > 2 * A.time.h2d and B.time.h2d < 3 * A.time.h2d", 2, 3);
  is("abs(A.time.h2d - B.time.h2d) <= 0.1 * A.time.h2d", 0.9, 1.1);
  is("A.time.h2d - B.time.h2d > 0.4 * A.time.h2d", 0, 0.6);
  is("2 >= A.time.h2d / B.time.h2d and ratio(A.time.h2d, B.time.h2d) > 1", 0.5, 1);
  CHECK_FALSE(range_of("B.time.h2d <= A.time.h2d and B.time.h2d > 2 * A.time.h2d"));
  CHECK_FALSE(range_of("B.time.h2d < A.time.h2d * ratio(A.time.h2d, B.time.h2d)"));
  CHECK_FALSE(range_of("A.time.h2d <= 0.5 * A.time.step and B.time.h2d <= 0.5 * B.time.step"));
  CHECK_FALSE(range_of("A.comm.exposed > 2 * B.comm.exposed"));
  CHECK_FALSE(range_of("B.time.h2d < A.time.h2d or B.time.h2d > 2 * A.time.h2d"));
  CHECK_FALSE(range_of("A.gpu.util > B.gpu.util"));
}

TEST_CASE("a ratio that was guessed as a number is drawn where B would end, either way round") {
  Workspace workspace([] {});
  open_and_predict(workspace, 2);
  workspace.run_lesson();
  wait_until_idle(workspace);
  const scenario::Sides sides = workspace.lesson_sides();
  const auto range_of = [&](const char* asked, double number) {
    scenario::Question question;
    question.kind = scenario::QuestionKind::kNumber;
    question.answer = scenario::Expression::parse(asked);
    scenario::Answer answer;
    answer.committed = true;
    answer.number = number;
    return guess_in_b(question, answer, sides);
  };
  const double a = *analysis::value_of(sides[0]->metrics, "time.total");
  const auto times = range_of("ratio(B.time.total, A.time.total)", 0.5);
  REQUIRE(times);
  CHECK(times->start == Approx(a / 2));
  CHECK(times->end == times->start);
  CHECK(times->of == GuessedEnd::kRun);
  CHECK(range_of("ratio(A.time.total, B.time.total)", 4)->end == Approx(a / 4));
  CHECK(range_of("B.time.total", 3e6)->start == 0);
  CHECK(range_of("B.time.total", 3e6)->end == 3e6);
  CHECK_FALSE(range_of("ratio(A.time.total, A.time.total)", 1));
  CHECK_FALSE(range_of("ratio(A.memory.peak_allocated, B.memory.peak_allocated)", 2));
}

TEST_CASE("a card shows what is known before the run and nothing more") {
  Workspace workspace([] {});
  workspace.open_lesson(first_lesson());
  const LessonCard scene = card_of(workspace);
  CHECK(scene.text.find("64 MiB") != std::string::npos);
  CHECK(scene.text.find('?') == std::string::npos);
  workspace.next_step();
  const LessonCard predict = card_of(workspace);
  REQUIRE(predict.question);
  CHECK(predict.question->options.size() == 4);
  for (const OptionCard& option : predict.question->options) CHECK_FALSE(option.right);
  workspace.lesson()->progress.choose(1);
  workspace.lesson()->progress.commit();
  CHECK_FALSE(card_of(workspace).question->right.has_value());
  CHECK(card_of(workspace).question->verdict.empty());
}

TEST_CASE("another language changes a lesson's words and leaves its step and answers alone") {
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  LessonModel& model = *workspace.lesson();
  workspace.next_step();
  model.progress.choose(2);
  model.progress.commit();
  workspace.set_language("de");
  CHECK(model.progress.step() == 1);
  CHECK(model.progress.answer(1).option == 2);
  CHECK(card_of(workspace).kind == "Vorhersagen");
  CHECK(card_of(workspace).question->options[2].text == "Zwei- bis viermal so lang");
  CHECK(workspace.notice.empty());
  workspace.set_language("en");
  CHECK(card_of(workspace).kind == "Predict");
  workspace.set_language("de");
  const test::TemporaryFolder folder;  // with the English file alone
  const auto english =
      folder.write("pinned-vs-pageable.toml",
                   read_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml", 1 << 20));
  workspace.open_lesson(scenario::find_lesson(english.string(), "de"));
  CHECK(workspace.notice == "This lesson is not there in Deutsch yet, and is shown in English.");
}

namespace {

// The shipped lesson as a file that is being written.
struct OwnLesson {
  OwnLesson() { save("", ""); }
  std::filesystem::path file() const { return folder.path() / "pinned-vs-pageable.toml"; }
  void save(const std::string& from, const std::string& to) const {
    std::string text = read_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml", 1 << 20);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_file(file(), text);
  }
  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE("a lesson that is saved while it is open is read again where one is") {
  const OwnLesson own;
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson(own.file().string()));
  wait_until_idle(workspace);
  workspace.next_step();
  workspace.lesson()->progress.choose(1);
  workspace.lesson()->progress.commit();
  workspace.reload_if_saved();
  CHECK(workspace.notice.empty());
  own.save("The same bytes cross the same link.", "The very same bytes cross the same link.");
  workspace.reload_if_saved();
  CHECK(workspace.notice == "The lesson was read again.");
  CHECK(card_of(workspace).text.find("The very same bytes") == 0);
  CHECK(workspace.lesson()->progress.answer(1).option == 1);
  // Another program: what was answered stays, and the step is found by its name.
  own.save("copy.count = 3", "copy.count = 5");
  workspace.reload_if_saved();
  wait_until_idle(workspace);
  CHECK(workspace.lesson()->step().id == "predict");
  CHECK(workspace.lesson()->progress.answer(1).option == 1);
  CHECK(workspace.sides()[0].config.whole("copy.count") == 5);
}

TEST_CASE("a lesson that is saved with a fault keeps its last good state and says where it is") {
  const OwnLesson own;
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson(own.file().string()));
  wait_until_idle(workspace);
  own.save("hint = \"It is hatched", "hnt = \"It is hatched");
  workspace.reload_if_saved();
  const std::string fault = workspace.lesson()->fault;
  CAPTURE(fault);
  CHECK(fault.find("pinned-vs-pageable.toml:") != std::string::npos);
  CHECK(fault.find("did you mean hint?") != std::string::npos);
  CHECK(workspace.lesson()->lesson.steps.size() == 8);
  own.save("", "");
  workspace.reload_if_saved();
  CHECK(workspace.lesson()->fault.empty());
}
