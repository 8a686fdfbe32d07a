// What nobody should do, done: knobs at their extremes, a clipboard of bytes, a file that cannot be
// written.
#include <catch2/catch.hpp>

#include "analysis/runs/run_file.h"
#include "base/temporary_folder.h"
#include "ui/app/files/export.h"
#include "ui/driver.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool is_number(const program::Knob& knob) {
  using program::KnobType;
  return knob.type == KnobType::kInteger || knob.type == KnobType::kBytes ||
         knob.type == KnobType::kNumber;
}

program::Value extreme(const program::Knob& knob, bool most) {
  const double value = most ? knob.most : knob.least;
  if (knob.type == program::KnobType::kNumber) return value;
  return static_cast<std::int64_t>(value);
}

// A second or so; what still runs then is cancelled, as a person would.
void wait_or_cancel(Driver& driver) {
  for (int i = 0; i < 60 && driver.workspace().busy(); ++i) driver.frame();
  if (driver.app().can("run.cancel")) driver.app().run("run.cancel");
  driver.settle();
}

}  // namespace

TEST_CASE(
    "a knob at either extreme runs, says why not, or is cancelled; undo brings back the run") {
  REQUIRE_DRIVER(driver, 1024, 640);
  open_trainings(*driver);
  Workspace& workspace = driver->workspace();
  const program::Config before = workspace.sides()[1].config;
  const Nanos end = workspace.sides()[1].view->trace->end();
  for (const program::Knob& knob : program::knobs()) {
    if (!is_number(knob)) continue;
    for (const bool most : {false, true}) {
      CAPTURE(knob.name, most);
      workspace.notice.clear();
      workspace.set_knob(1, knob.name, extreme(knob, most));
      wait_or_cancel(*driver);
      const SideModel& side = workspace.sides()[1];
      const bool ran = side.run && side.run->config == side.config;
      CHECK((ran || !side.error.empty() || !workspace.notice.empty()));
      CHECK(side.error.find("fault of Trainscope") == std::string::npos);
      if (driver->app().can("knobs.undo")) driver->app().run("knobs.undo");
      driver->settle();
      CHECK(workspace.sides()[1].config == before);
      REQUIRE(workspace.sides()[1].view);
      CHECK(workspace.sides()[1].view->trace->end() == end);
    }
  }
}

TEST_CASE("a clipboard of bytes that are no text is no link, and what was open stays") {
  REQUIRE_DRIVER(driver, 1024, 640);
  open_trainings(*driver);
  for (const std::string& bytes :
       {std::string("\x89PNG\r\n\x1a\n\xff\xfe\x01 and more"),
        std::string("trainscope:1?lesson=\xff\xfe&A.copy.count=\x01\x02"),
        "trainscope:1?" + std::string(100'000, '\xf0')}) {
    driver->workspace().notice.clear();
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      ImGui::SetClipboardText(bytes.c_str());
      context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
      context->Yield(2);
      context->KeyChars("Open a link");
      context->KeyPress(ImGuiKey_Enter);
      context->Yield(2);
      context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
      context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
      context->KeyPress(ImGuiKey_Enter);
    }));
    CHECK_FALSE(driver->workspace().notice.empty());
    CHECK(driver->workspace().notice.size() < 600);
    CHECK(driver->workspace().sides().size() == 2);
    CHECK(driver->workspace().sides()[0].run);
    driver->app().run("timeline.leave");
    driver->settle();
  }
}

TEST_CASE("a full disk is a sentence, and the runs can still be saved elsewhere") {
  REQUIRE_DRIVER(driver, 1024, 640);
  open_trainings(*driver);
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
    context->Yield(2);
    context->KeyCharsReplace("/dev/full");
    context->KeyPress(ImGuiKey_Enter);
    context->Yield(8);
  }));
  CHECK_THAT(driver->workspace().notice, Catch::Contains("/dev/full"));
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "a.tsrun").string();
  CHECK_THAT(write_export(driver->workspace(), file), Catch::Contains(file));
  CHECK(analysis::open_runs(file).runs.size() == 2);
}
