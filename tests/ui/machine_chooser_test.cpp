// Machines chosen by mouse and keys: for A, for B, for both; in a lesson, and back.
#include <catch2/catch.hpp>

#include "ui/app/views/machine_words.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/panels/timelines/timelines.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kSheet = "//Machines##sheet/**/";
constexpr const char* kBar = "//##top bar/Machine";

scenario::Lesson first_lesson() {
  return scenario::find_lesson("pinned-vs-pageable");
}

void run_lesson(Driver& driver, scenario::Lesson lesson) {
  driver.workspace().open_lesson(std::move(lesson));
  driver.settle();
  for (const char* action :
       {"lesson.next", "lesson.skip", "lesson.next", "lesson.run", "lesson.next"}) {
    driver.app().run(action);
    driver.settle();
  }
  REQUIRE(driver.workspace().revealed());
}

// Opens the machines from the top bar, filters, clicks a row, a target, and the button.
bool choose(Driver& driver, const char* words, const std::string& id, const char* target) {
  return driver.click(kBar) && driver.act([&](ImGuiTestContext* context) {
    context->KeyCharsAppend(words);
    context->Yield(2);
    context->ItemClick((kSheet + id).c_str());
    context->ItemClick((std::string(kSheet) + target).c_str());
    context->Yield(2);
    context->ItemClick((kSheet + std::string("Run ") + target + " on it").c_str());
  });
}

bool is_open() {
  return ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
}

}  // namespace

TEST_CASE("a machine chosen for B runs B on it, and both sides say where they ran") {
  REQUIRE_DRIVER(driver);
  run_lesson(*driver, first_lesson());
  Workspace& workspace = driver->workspace();
  const Nanos a_before = workspace.sides()[0].view->trace->end();
  const RunPointer b_before = workspace.sides()[1].run;
  // One machine is said once, in the top bar.
  for (const TimelineSide& side : timeline_input(workspace, driver->app().attention()).sides) {
    CHECK(side.badge.empty());
    CHECK(side.machine.empty());
  }
  REQUIRE(choose(*driver, "laptop", "laptop-1", "B"));
  CHECK_FALSE(is_open());
  CHECK(workspace.forked());
  CHECK(workspace.sides()[0].config.word("machine") == "h200-1");
  CHECK(workspace.sides()[1].config.word("machine") == "laptop-1");
  CHECK(workspace.sides()[0].view->trace->end() == a_before);
  REQUIRE(workspace.sides()[1].run != b_before);
  CHECK(workspace.sides()[1].run->machine->id == "laptop-1");
  CHECK(workspace.sides()[1].view->trace->end() != b_before->trace->end());

  const TimelineInput input = timeline_input(workspace, driver->app().attention());
  for (const TimelineSide& side : input.sides) CHECK(side.badge.empty());  // both are simulated
  CHECK(input.sides[0].machine == machine::load_machine("h200-1").name);
  CHECK(input.sides[1].machine == machine::load_machine("laptop-1").name);
  CHECK(input.sides[0].config.find("machine") == std::string::npos);
  CHECK(machine_short(workspace.sides()[1]) == "laptop-1");

  // "What about my laptop's GPU?" was a question of one's own: Escape takes one back.
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Escape); }));
  CHECK_FALSE(workspace.forked());
  CHECK(workspace.sides()[1].run == b_before);
  CHECK(workspace.sides()[1].config.word("machine") == "h200-1");
}

TEST_CASE("a machine chosen for both runs both on it") {
  REQUIRE_DRIVER(driver);
  run_lesson(*driver, first_lesson());
  const Workspace& workspace = driver->workspace();
  REQUIRE(choose(*driver, "T4", "t4-1", "both"));
  for (const SideModel& side : workspace.sides()) {
    REQUIRE(side.run);
    CHECK(side.run->machine->id == "t4-1");
    CHECK(machine_name(side) == machine::load_machine("t4-1").name);
  }
  CHECK(workspace.knobs_changed());
}

TEST_CASE("machines are chosen by keys alone, and Escape leaves everything as it was") {
  REQUIRE_DRIVER(driver);
  run_lesson(*driver, first_lesson());
  const Workspace& workspace = driver->workspace();
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_M);
    context->Yield(3);
    context->KeyPress(ImGuiKey_DownArrow);
    context->KeyPress(ImGuiKey_Escape);
  }));
  CHECK_FALSE(is_open());
  CHECK_FALSE(workspace.forked());
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_M);
    context->Yield(3);
    context->KeyCharsAppend("a100 sxm");
    context->Yield(2);
    context->KeyPress(ImGuiKey_DownArrow);
    context->KeyPress(ImGuiKey_DownArrow);
    context->KeyPress(ImGuiKey_UpArrow);
    context->KeyPress(ImGuiKey_Enter);
  }));
  const auto catalogue = read_catalogue({});
  const auto shown = matching_machines(catalogue, "a100 sxm");
  REQUIRE(shown.size() > 1);
  for (const SideModel& side : workspace.sides())
    CHECK(side.config.word("machine") == catalogue[shown[1]].id);
}

TEST_CASE("a lesson's machines limit what can be chosen, and the others say why") {
  REQUIRE_DRIVER(driver);
  scenario::Lesson lesson = first_lesson();
  lesson.machines = {"h200-1", "t4-1"};
  run_lesson(*driver, lesson);
  Workspace& workspace = driver->workspace();
  CHECK(workspace.machine_refusal("t4-1").empty());
  CHECK(workspace.machine_refusal("laptop-1") == "This lesson is made for h200-1, t4-1.");
  REQUIRE(driver->click(kBar));
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyCharsAppend("laptop");
    context->Yield(2);
    context->ItemClick((std::string(kSheet) + "A").c_str());
    context->KeyPress(ImGuiKey_Enter);
  }));
  CHECK(is_open());
  CHECK_FALSE(workspace.forked());
  driver->app().choose_machine("A", "laptop-1");
  CHECK(workspace.sides()[0].config.word("machine") == "h200-1");
  // Rows that are scrolled out of sight cannot be clicked; words bring them back.
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemInput("//Machines##sheet/##words");
    context->KeyCharsReplace("t4-1");
    context->Yield(2);
    context->KeyPress(ImGuiKey_Enter);
  }));
  CHECK(workspace.sides()[0].config.word("machine") == "t4-1");
}

TEST_CASE("before the run the machines can be read and none can be chosen") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(first_lesson());
  driver->settle();
  REQUIRE(driver->click(kBar));
  CHECK(is_open());
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiKey_DownArrow);
    context->KeyPress(ImGuiKey_Enter);
  }));
  CHECK(is_open());
  for (const SideModel& side : driver->workspace().sides()) {
    CHECK(side.config.word("machine") == "h200-1");
    CHECK_FALSE(side.run);
  }
}

TEST_CASE("the knobs show each side's machine and open the machines for that side") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  run_lesson(*driver, first_lesson());
  REQUIRE(driver->click("//Knobs##pair/**/machine@B"));
  REQUIRE(is_open());
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyCharsAppend("rtx4090");
    context->Yield(2);
    context->KeyPress(ImGuiKey_Enter);
  }));
  const auto& sides = driver->workspace().sides();
  CHECK(sides[0].config.word("machine") == "h200-1");
  CHECK(sides[1].config.word("machine") == "rtx4090-1");
}

TEST_CASE("no word of the machines and their data sheets is cut, in any theme") {
  REQUIRE_DRIVER(driver, 1366, 768);
  run_lesson(*driver, first_lesson());
  driver->app().choose_machine("B", "laptop-1");
  driver->settle();
  for (const ThemeMode mode : kThemeModes) {
    driver->app().set_theme(mode);
    driver->settle();
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
    driver->app().open_machines(1);
    driver->settle();
    INFO(name_of(mode));
    CHECK(letters(*ImGui::GetDrawData()) > 500);
    for (const CutLetter& letter : cut_text(*ImGui::GetDrawData())) {
      CAPTURE(letter.window, letter.min.x, letter.min.y, letter.max.x, letter.clip_right);
      CHECK(letter.max.x <= letter.clip_right);
    }
    REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Escape); }));
  }
}
