// A learner's way through a lesson, what is kept of it, and how the shelf shows it.
#include <imgui_internal.h>

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "scenario/grade.h"
#include "scenario/learner.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/app/lesson/prerequisite.h"
#include "ui/app/window/layout.h"
#include "ui/driver.h"
#include "ui/idle.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void answer(Workspace& workspace, int option) {
  workspace.lesson()->progress.choose(option);
  workspace.lesson()->progress.commit();
  workspace.keep_answers();
}

// Predicts `option`, finds the span, turns the knob as asked, and says it back rightly.
void take_lesson(Workspace& workspace, int option) {
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  workspace.next_step();
  answer(workspace, option);
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  workspace.next_step();
  workspace.show_hint();
  const auto& find = *workspace.lesson()->step().question;
  workspace.select_span(0, scenario::find_spans(*find.span, *workspace.sides()[0].run).front());
  while (workspace.lesson()->step().kind != scenario::StepKind::kVary) workspace.next_step();
  for (std::size_t side = 0; side < 2; ++side)
    workspace.set_knob(side, "copy.bytes", std::int64_t{4096});
  wait_until_idle(workspace);
  workspace.next_step();
  answer(workspace, right_option(*workspace.lesson()->step().question, workspace.lesson_sides()));
  workspace.keep_answers();
}

}  // namespace

TEST_CASE("what the window keeps of a lesson, grade scores as the window did") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.record.set_student("Ada");
  workspace.keep_learner_in(folder.path());
  take_lesson(workspace, 0);
  REQUIRE(workspace.notice.empty());
  const scenario::LessonRecord& record =
      workspace.record.learner().records().at("pinned-vs-pageable");
  CHECK(record == scenario::LessonRecord{true, 3, 3, true});
  const scenario::Answers answers =
      scenario::load_answers(workspace.record.learner().file_of("pinned-vs-pageable"));
  CHECK(answers.student == "Ada");
  CHECK(answers.knobs.a.whole("seed") == scenario::seed_of_student("Ada"));
  CHECK(answers.find("find")->hinted);
  CHECK(answers.find("vary")->knobs->b.whole("copy.bytes") == 4096);
  const scenario::Grade grade = scenario::Grader().grade(answers);
  CHECK(grade.points() == record.points);
  CHECK(grade.of() == record.of);
  CHECK(grade.marks.front().mark == scenario::MarkKind::kWrong);
  CHECK(grade.notes.empty());
}

TEST_CASE("a student's seed draws knobs of her own, and her answers name the seed alone") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.record.set_student("Ada");
  workspace.keep_learner_in(folder.path());
  workspace.open_lesson(scenario::find_lesson("launch-bound"));
  const scenario::Lesson& lesson = workspace.lesson()->lesson;
  const scenario::TurnedKnobs* drawn = lesson.drawn(scenario::seed_of_student("Ada"));
  REQUIRE(drawn);
  workspace.next_step();
  answer(workspace, 0);
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  CHECK_FALSE(workspace.knobs_changed());
  for (std::size_t i = 0; i < 2; ++i) {
    const program::Config& config = workspace.sides()[i].run->config;
    for (const auto& [name, value] : drawn->of(SideModel::label_of(i)).values())
      CHECK(config.value(name) == value);
    CHECK_FALSE(program::differing_knobs(config, lesson.side(SideModel::label_of(i))).empty());
  }
  const scenario::Answers answers =
      scenario::load_answers(workspace.record.learner().file_of("launch-bound"));
  CHECK(answers.knobs.a.values().size() == 1);
  CHECK(answers.knobs.a.is_set("seed"));
  CHECK(scenario::Grader().grade(answers).notes.empty());
}

TEST_CASE("a task that other knobs did is not reached, and its card says which to set back") {
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  workspace.next_step();
  answer(workspace, 0);
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  while (workspace.lesson()->step().kind != scenario::StepKind::kVary) {
    workspace.skip_question();
    workspace.next_step();
  }
  workspace.set_knob(0, "copy.memory", program::Value(std::string("pinned")));
  wait_until_idle(workspace);
  CHECK(card_of(workspace).goal ==
        "Here only `copy.bytes` is to be turned; set `copy.memory` back.");
  CHECK_FALSE(card_of(workspace).goal_reached);
  workspace.next_step();
  CHECK_FALSE(workspace.lesson()->noted.find("vary")->reached);
}

TEST_CASE("a lesson that was left goes on where it was left, with its runs") {
  const test::TemporaryFolder folder;
  {
    Workspace workspace([] {});
    workspace.keep_learner_in(folder.path());
    workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
    workspace.next_step();
    answer(workspace, 2);
    workspace.next_step();
    workspace.run_lesson();
    wait_until_idle(workspace);
    workspace.next_step();
    workspace.skip_question();
    workspace.keep_answers();
  }
  Workspace workspace([] {});
  workspace.keep_learner_in(folder.path());
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  wait_until_idle(workspace);
  CHECK(workspace.revealed());
  CHECK(workspace.lesson()->step().id == "why");
  CHECK(workspace.lesson()->progress.answer(1).option == 2);
  CHECK(workspace.lesson()->progress.answer(3).skipped);
  workspace.restart_lesson();
  CHECK(workspace.lesson()->progress.step() == 0);
  CHECK_FALSE(workspace.lesson()->progress.answer(1).committed);
  workspace.record.set_student("Ada");  // another's seed: another's lesson
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  CHECK(workspace.lesson()->progress.step() == 0);
}

TEST_CASE("a link into a lesson that is finished shows its answers, and they stay as they are") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.record.set_student("Ada");
  workspace.keep_learner_in(folder.path());
  take_lesson(workspace, 0);
  const auto file = workspace.record.learner().file_of("pinned-vs-pageable");
  const std::string given = read_file(file, 1 << 20);
  const auto walk_on = [&] {
    for (int i = 0; i < 8; ++i) {
      if (workspace.lesson()->step().question && !workspace.lesson()->progress.can_go_on())
        workspace.skip_question();
      workspace.next_step();
      workspace.keep_answers();
    }
  };
  for (const bool in_front_of_a_room : {false, true}) {
    workspace.present.on = in_front_of_a_room;
    workspace.open_link(scenario::parse_link("trainscope:1?lesson=pinned-vs-pageable&step=5"));
    wait_until_idle(workspace);
    CHECK(workspace.lesson()->progress.step() == 4);
    CHECK(workspace.lesson()->progress.answer(3).skipped == in_front_of_a_room);
    CHECK((workspace.lesson()->progress.answer(1).option == 0) == !in_front_of_a_room);
    walk_on();
    CHECK(workspace.lesson()->progress.finished());
    CHECK(read_file(file, 1 << 20) == given);
    CHECK_FALSE(workspace.record.learner().under_way("pinned-vs-pageable"));
  }
  CHECK_THAT(workspace.record.learner().fault(), Catch::Equals(""));
}

TEST_CASE("a question that a link went past is not answered, and comes when the lesson is opened") {
  const test::TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.keep_learner_in(folder.path());
  workspace.open_link(scenario::parse_link("trainscope:1?lesson=pinned-vs-pageable&step=4"));
  wait_until_idle(workspace);
  workspace.keep_answers();
  CHECK(workspace.record.learner().records().empty());
  workspace.skip_question();
  for (int i = 0; i < 8; ++i) {
    workspace.next_step();
    if (workspace.lesson()->step().kind == scenario::StepKind::kRecap) answer(workspace, 0);
  }
  CHECK(workspace.lesson()->progress.finished());
  CHECK_FALSE(workspace.record.learner().records().at("pinned-vs-pageable").finished);
  const auto kept = workspace.record.learner().under_way("pinned-vs-pageable");
  REQUIRE(kept);
  CHECK_FALSE(kept->find("predict"));
  CHECK(kept->find("find")->answer.skipped);
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  CHECK(workspace.lesson()->step().id == "predict");
  CHECK_FALSE(workspace.lesson()->progress.answer(1).committed);
  CHECK(workspace.lesson()->progress.answer(3).skipped);
}

TEST_CASE("answers that cannot be kept are a sentence, and the lesson goes on") {
  Workspace workspace([] {});
  workspace.keep_learner_in("/proc/no/such/place");
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  workspace.next_step();
  answer(workspace, 1);
  CHECK_THAT(workspace.notice, Catch::Contains("could not be kept"));
  CHECK(workspace.lesson()->progress.can_go_on());
  CHECK(workspace.record.learner().records().count("pinned-vs-pageable") == 1);
}

TEST_CASE("the shelf shows what is done, what is worth another go, and what is next") {
  REQUIRE_DRIVER(driver, 1400, 1000);
  const test::TemporaryFolder folder;
  {
    scenario::Learner learner(folder.path());
    const auto took = [&](const char* id, scenario::LessonRecord record) {
      scenario::Answers answers;
      answers.lesson = id;
      learner.keep(answers, record);
    };
    took("anatomy-of-a-step", {true, 4, 4, false});
    took("where-is-my-tensor", {true, 2, 4, true});
    took("pinned-vs-pageable", {false, 1, 4, false});
  }
  const Picture before = driver->window().capture();
  driver->workspace().keep_learner_in(folder.path());
  driver->settle();
  const Picture after = driver->window().capture();
  CHECK(before.rgba != after.rgba);
  keep_picture(*driver, "shelf");
  CHECK(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//##shelf/time-it-right/lesson"); }));
  REQUIRE(driver->workspace().lesson());
  CHECK(driver->workspace().lesson()->lesson.id == "time-it-right");
}

TEST_CASE(
    "of the lessons that one requires the first that is open comes, then one that was missed") {
  std::vector<scenario::Lesson> lessons(3);
  for (const char* id : {"a", "b", "c"}) lessons[static_cast<std::size_t>(*id - 'a')].id = id;
  lessons[2].requires_ids = {"not here", "a", "b"};
  scenario::Records records;
  CHECK_FALSE(prerequisite_of(lessons[0], lessons, records).lesson);
  const auto before = [&] { return prerequisite_of(lessons[2], lessons, records); };
  CHECK(before().lesson == &lessons[0]);
  CHECK_FALSE(before().again);
  records["a"] = {true, 4, 4, false};
  CHECK(before().lesson == &lessons[1]);
  records["b"] = {true, 2, 4, true};
  CHECK(before().lesson == &lessons[1]);
  CHECK(before().again);
  records["b"].missed = false;
  CHECK(before().lesson == &lessons[0]);
}

TEST_CASE("a learner who had to be shown is offered the lesson that comes before") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("pinned-vs-pageable");
  const auto [before, again] =
      prerequisite_of(driver->workspace().lesson()->lesson, driver->workspace().shelf.lessons(),
                      driver->workspace().record.learner().records());
  REQUIRE(before);
  CHECK_FALSE(again);
  const std::string offer = std::string("//") + kLessonPanel + "/**/Take \"" + before->title +
                            "\" first",
                    id = before->id;
  const auto is_offered = [&] {
    bool found = false;
    driver->act([&](ImGuiTestContext* context) {
      found = context->ItemInfo(offer.c_str(), ImGuiTestOpFlags_NoError).ID != 0;
    });
    return found;
  };
  for (int i = 0; i < 4 && !driver->app().can("lesson.show_me"); ++i) {
    driver->app().run("lesson.skip");
    driver->app().run("lesson.next");
    driver->settle();
  }
  CHECK_FALSE(is_offered());
  driver->app().run("lesson.show_me");
  driver->settle();
  CHECK(is_offered());
  REQUIRE(driver->click(offer));
  REQUIRE(driver->workspace().lesson());
  CHECK(driver->workspace().lesson()->lesson.id == id);
}

TEST_CASE("pointing at a term explains it, and a sheet lists them all") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  const auto explained = [] {
    const ImGuiWindow* tooltip = ImGui::FindWindowByName("##Tooltip_00");
    return tooltip && tooltip->Active;
  };
  const ImGuiWindow* card = ImGui::FindWindowByName(kLessonPanel);
  REQUIRE(card);
  bool found = false;
  for (float y = card->Pos.y + 60; y < card->Pos.y + 300 && !found; y += 8)
    for (float x = card->Pos.x + 20; x < card->Pos.x + card->Size.x - 20 && !found; x += 12) {
      ImGui::GetIO().AddMousePosEvent(x, y);
      driver->frame();
      driver->frame();
      found = explained();
    }
  CHECK(found);
  keep_picture(*driver, "term");
  driver->app().run("lesson.terms");
  driver->settle();
  CHECK(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  keep_picture(*driver, "terms");
}
