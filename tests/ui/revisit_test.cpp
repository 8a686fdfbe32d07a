// A question that was missed, asked again on the last card of a later lesson.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "ui/app/lesson/revisit_card.h"
#include "ui/app/window/layout.h"
#include "ui/idle.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kPinned = "pinned-vs-pageable";
constexpr const char* kClock = "time-it-right";
constexpr const char* kStreams = "default-stream";

using Steps = std::set<std::string>;

// Its runs are made here, so that what is right is known before they are shown.
std::vector<RunPointer> adopt_runs(Workspace& workspace) {
  std::vector<RunPointer> runs;
  for (const SideModel& side : workspace.sides())
    runs.push_back(
        std::make_shared<const analysis::Run>(analysis::run_config(side.label, side.config)));
  workspace.adopt(runs);
  return runs;
}

void answer(Workspace& workspace, const scenario::Sides& sides, const Steps& wrong) {
  const scenario::Step& step = workspace.lesson()->step();
  if (!step.question) return;
  if (step.question->kind != scenario::QuestionKind::kChoice) return workspace.skip_question();
  const int right = scenario::right_option(*step.question, sides);
  REQUIRE(right >= 0);
  const auto options = static_cast<int>(step.question->options.size());
  workspace.lesson()->progress.choose(wrong.contains(step.id) ? (right + 1) % options : right);
  workspace.lesson()->progress.commit();
}

// From where it is to the step of that name, or to its end, and waits for what is asked again.
void walk(Workspace& workspace, const Steps& wrong = {}, const std::string& until = "") {
  const std::vector<RunPointer> runs = adopt_runs(workspace);
  const scenario::Progress& progress = workspace.lesson()->progress;
  while (workspace.lesson()->step().id != until) {
    CHECK_FALSE(workspace.revisit());
    answer(workspace, {runs[0].get(), runs[1].get()}, wrong);
    if (workspace.can_run()) workspace.run_lesson();
    workspace.keep_answers();
    if (progress.finished()) break;
    REQUIRE(progress.can_go_on());
    workspace.next_step();
  }
  REQUIRE(wait_for(workspace, [&] { return !workspace.revisit_busy(); }));
}

// Answers rightly but in these steps.
void take(Workspace& workspace, const char* lesson, const Steps& wrong = {}) {
  workspace.open_lesson(scenario::find_lesson(lesson));
  walk(workspace, wrong);
  REQUIRE(workspace.lesson()->progress.finished());
}

const scenario::Choices& missed_by(const Workspace& workspace) {
  return workspace.record.learner().missed();
}

int right_option_of(const Revisit& revisit) {
  const auto& options = revisit.question()->question.options;
  const auto right = std::ranges::find(options, true, &analysis::SheetOption::right);
  REQUIRE(right != options.end());
  return static_cast<int>(right - options.begin());
}

int wrong_option_of(const Revisit& revisit) {
  const auto options = static_cast<int>(revisit.question()->question.options.size());
  return (right_option_of(revisit) + 1) % options;
}

void answer_again(Workspace& workspace, bool right) {
  REQUIRE(workspace.revisit());
  const Revisit& revisit = *workspace.revisit();
  workspace.revisit()->choose(right ? right_option_of(revisit) : wrong_option_of(revisit));
  workspace.answer_again();
}

}  // namespace

TEST_CASE("a question that was missed is asked again once a later lesson is over, not in its own") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  REQUIRE(missed_by(workspace).size() == 1);
  CHECK(missed_by(workspace)[0].lesson == kPinned);
  CHECK(missed_by(workspace)[0].step == "predict");
  CHECK_FALSE(workspace.revisit());
  take(workspace, kClock);
  const auto card = revisit_card_of(workspace);
  REQUIRE(card);
  const scenario::Lesson lesson = scenario::find_lesson(kPinned);
  CHECK(card->lesson == kPinned);
  CHECK(card->title == lesson.title);
  CHECK(card->text == lesson.steps[1].text);
  CHECK(card->options.size() == lesson.steps[1].question->options.size());
}

TEST_CASE("what is asked again tells nothing before it is answered") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  take(workspace, kClock);
  workspace.revisit()->choose(0);
  const auto card = revisit_card_of(workspace);
  REQUIRE(card);
  CHECK(card->open);
  CHECK(card->options[0].chosen);
  CHECK((card->verdict + card->explain).empty());
  for (const OptionCard& option : card->options) CHECK_FALSE((option.right || option.wrong));
}

TEST_CASE("what is asked again and answered rightly is asked no more") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  take(workspace, kClock);
  answer_again(workspace, true);
  const auto card = revisit_card_of(workspace);
  REQUIRE(card);
  CHECK_FALSE(card->open);
  CHECK(card->right);
  CHECK(missed_by(workspace).empty());
  // It can no longer be changed.
  workspace.revisit()->choose(wrong_option_of(*workspace.revisit()));
  workspace.answer_again();
  CHECK(missed_by(workspace).empty());
  take(workspace, kStreams);
  CHECK_FALSE(workspace.revisit());
}

TEST_CASE("what is asked again and answered wrongly says why, and comes again") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"say-it-back"});
  take(workspace, kClock);
  REQUIRE(workspace.revisit());
  const int wrong = wrong_option_of(*workspace.revisit());
  answer_again(workspace, false);
  const auto card = revisit_card_of(workspace);
  REQUIRE(card);
  CHECK_FALSE(card->right);
  CHECK(card->options[static_cast<std::size_t>(wrong)].wrong);
  CHECK_FALSE(card->verdict.empty());
  CHECK_FALSE(card->explain.empty());
  CHECK((card->verdict + card->explain).find('{') == std::string::npos);
  REQUIRE(missed_by(workspace).size() == 1);
  CHECK(missed_by(workspace)[0].option == wrong);
  take(workspace, kStreams);
  REQUIRE(workspace.revisit());
  CHECK(workspace.revisit()->question()->missed.step == "say-it-back");
}

TEST_CASE("what is asked again may be left, and is there after the next lesson") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  take(workspace, kClock);
  REQUIRE(workspace.revisit());
  workspace.revisit()->set_aside();
  CHECK_FALSE(workspace.revisit());
  CHECK(missed_by(workspace).size() == 1);
  take(workspace, kStreams);
  CHECK(workspace.revisit());
}

TEST_CASE("of what was missed one question is asked a lesson, the oldest first") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict", "say-it-back"});
  REQUIRE(missed_by(workspace).size() == 2);
  take(workspace, kClock);
  REQUIRE(workspace.revisit());
  CHECK(workspace.revisit()->question()->missed.step == "predict");
  answer_again(workspace, true);
  take(workspace, kStreams);
  REQUIRE(workspace.revisit());
  CHECK(workspace.revisit()->question()->missed.step == "say-it-back");
}

TEST_CASE("a lesson taken again with the right answer is asked about no more") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  take(workspace, kPinned);
  CHECK(missed_by(workspace).empty());
  take(workspace, kClock);
  CHECK_FALSE(workspace.revisit());
}

TEST_CASE("what is asked again changes nothing of the lesson at whose end it is asked") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.keep_learner_in(folder.path());
  take(workspace, kPinned, {"predict"});
  take(workspace, kClock);
  const scenario::Records before = workspace.record.learner().records();
  const std::string answers = read_file(workspace.record.learner().file_of(kClock), 1 << 20);
  answer_again(workspace, false);
  workspace.keep_answers();
  CHECK(workspace.record.learner().records() == before);
  CHECK(read_file(workspace.record.learner().file_of(kClock), 1 << 20) == answers);
  CHECK(scenario::Learner(folder.path()).records() == before);
  CHECK(scenario::Learner(folder.path()).missed() == missed_by(workspace));
}

TEST_CASE("an attempt that goes on does not miss again what was made good since") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.keep_learner_in(folder.path());
  workspace.open_lesson(scenario::find_lesson(kPinned));
  walk(workspace, {"predict"}, "why");
  REQUIRE(missed_by(workspace).size() == 1);
  take(workspace, kClock);
  answer_again(workspace, true);
  workspace.open_lesson(scenario::find_lesson(kPinned));
  wait_until_idle(workspace);
  REQUIRE(workspace.lesson()->step().id == "why");
  workspace.keep_answers();
  CHECK(missed_by(workspace).empty());
  // What it had not come to can be missed yet.
  walk(workspace, {"say-it-back"});
  REQUIRE(missed_by(workspace).size() == 1);
  CHECK(missed_by(workspace)[0].step == "say-it-back");
}

TEST_CASE("questions that are skipped are not missed") {
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson(kPinned));
  adopt_runs(workspace);
  while (!workspace.lesson()->progress.finished()) {
    workspace.skip_question();
    if (workspace.can_run()) workspace.run_lesson();
    workspace.keep_answers();
    workspace.next_step();
  }
  workspace.keep_answers();
  CHECK(missed_by(workspace).empty());
}

TEST_CASE("in front of a room nothing is missed, and nothing is asked again") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  workspace.present.on = true;
  take(workspace, kClock, {"predict", "say-it-back"});
  CHECK(missed_by(workspace).size() == 1);
  CHECK_FALSE(workspace.revisit());
  workspace.present.on = false;
  REQUIRE(wait_for(workspace, [&] { return workspace.revisit() != nullptr; }));
  CHECK(workspace.revisit()->question()->missed.lesson == kPinned);
}

TEST_CASE("a question that its lesson no longer has is left out without a word") {
  const test::TemporaryFolder folder;
  {
    scenario::Learner learner(folder.path());
    learner.keep(scenario::JudgedChoice{{kPinned, "a-step-of-before", 0, {}}, false});
    learner.keep(scenario::JudgedChoice{{"a-lesson-of-before", "predict", 0, {}}, false});
  }
  Workspace workspace([] {});
  workspace.keep_learner_in(folder.path());
  take(workspace, kClock);
  CHECK_FALSE(workspace.revisit());
  CHECK(workspace.notice.empty());
}

TEST_CASE("a student's question is asked again on the runs of that student") {
  Workspace workspace([] {});
  workspace.record.set_student("Ada");
  take(workspace, kPinned, {"predict"});
  REQUIRE(missed_by(workspace).size() == 1);
  CHECK(missed_by(workspace)[0].knobs.a.whole("seed") == scenario::seed_of_student("Ada"));
  take(workspace, kClock);
  CHECK(workspace.revisit());
}

TEST_CASE("another language changes the words of what is asked again and leaves the choice") {
  Workspace workspace([] {});
  take(workspace, kPinned, {"predict"});
  take(workspace, kClock);
  workspace.revisit()->choose(2);
  workspace.set_language("de");
  REQUIRE(wait_for(workspace, [&] { return !workspace.revisit_busy(); }));
  const auto card = revisit_card_of(workspace);
  REQUIRE(card);
  CHECK(card->options[2].text == "Zwei- bis viermal so lang");
  CHECK(card->options[2].chosen);
  const scenario::Lesson lesson = scenario::find_lesson(kPinned, "de");
  for (const char* word :
       {"Before you go", "A question from *{}*, once more.", "Not now", "{} to revisit"})
    CHECK(lesson.say(word) != word);
}

namespace {

std::string in_lesson(const std::string& item) {
  return std::string("//") + kLessonPanel + "/**/" + item;
}

std::string option_again(int option) {
  const std::string number = std::to_string(option);
  return in_lesson("revisit/$$" + number + "/option " + number);
}

bool is_there(Driver& driver, const std::string& item) {
  bool found = false;
  driver.act([&](ImGuiTestContext* context) {
    found = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError).ID != 0;
  });
  return found;
}

// At the end of a lesson, with a question of the first one missed before.
void open_with_one_missed(Driver& driver, const test::TemporaryFolder& folder) {
  scenario::Learner(folder.path()).keep(scenario::JudgedChoice{{kPinned, "predict", 0, {}}, false});
  driver.workspace().keep_learner_in(folder.path());
  driver.workspace().open_lesson(scenario::find_lesson(kStreams));
  driver.settle();
  walk(driver.workspace());
  driver.settle();
}

}  // namespace

TEST_CASE("a learner answers what is asked again by mouse, and goes to its lesson from there") {
  REQUIRE_DRIVER(driver, 1920, 1800);
  const test::TemporaryFolder folder;
  open_with_one_missed(*driver, folder);
  const Workspace& workspace = driver->workspace();
  REQUIRE(workspace.revisit());
  keep_picture(*driver, "revisit-asked");
  check_words_are_whole();
  check_words_are_apart();
  REQUIRE(driver->click(option_again(right_option_of(*workspace.revisit()))));
  REQUIRE(driver->click(in_lesson("revisit/Answer")));
  CHECK(missed_by(workspace).empty());
  CHECK(scenario::Learner(folder.path()).missed().empty());
  keep_picture(*driver, "revisit-answered");
  check_words_are_whole();
  check_words_are_apart();
  const std::string title = scenario::find_lesson(kPinned).title;
  REQUIRE(driver->click(in_lesson("revisit/Take \"" + title + "\" again")));
  REQUIRE(workspace.lesson());
  CHECK(workspace.lesson()->lesson.id == kPinned);
}

TEST_CASE("a learner leaves what is asked again by mouse, and the lesson's own buttons stay") {
  REQUIRE_DRIVER(driver, 1920, 1800);
  const test::TemporaryFolder folder;
  open_with_one_missed(*driver, folder);
  REQUIRE(is_there(*driver, in_lesson("All lessons")));
  REQUIRE(driver->click(in_lesson("revisit/Not now")));
  CHECK_FALSE(is_there(*driver, in_lesson("revisit/Not now")));
  CHECK(missed_by(driver->workspace()).size() == 1);
  REQUIRE(driver->click(in_lesson("All lessons")));
  CHECK(driver->workspace().screen() == Screen::kShelf);
}

TEST_CASE("what is asked again is answered by the keys of every question") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const test::TemporaryFolder folder;
  open_with_one_missed(*driver, folder);
  const Workspace& workspace = driver->workspace();
  REQUIRE(workspace.revisit());
  CHECK_FALSE(driver->app().can("lesson.predict"));
  const int wrong = wrong_option_of(*workspace.revisit());
  driver->app().run("lesson.option_" + std::to_string(wrong + 1));
  CHECK(workspace.revisit()->chosen() == wrong);
  driver->app().run("lesson.predict");
  CHECK(workspace.revisit()->answered());
  CHECK_FALSE(driver->app().can("lesson.option_1"));
  CHECK(missed_by(workspace).size() == 1);
  driver->settle();
  check_words_are_whole();
  check_words_are_apart();
}

TEST_CASE("the shelf says how many questions are to be asked again") {
  REQUIRE_DRIVER(driver, 1400, 1000);
  driver->settle();
  const Picture before = driver->window().capture();
  const test::TemporaryFolder folder;
  scenario::Learner learner(folder.path());
  learner.keep(scenario::JudgedChoice{{"a-lesson-of-before", "predict", 0, {}}, false});
  driver->workspace().keep_learner_in(folder.path());
  driver->settle();
  CHECK(driver->window().capture().rgba == before.rgba);
  learner.keep(scenario::JudgedChoice{{kPinned, "predict", 0, {}}, false});
  driver->workspace().keep_learner_in(folder.path());
  driver->settle();
  CHECK(driver->window().capture().rgba != before.rgba);
  keep_picture(*driver, "shelf-to-revisit");
}
