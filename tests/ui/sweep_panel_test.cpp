// Sweeps in the window: what they are asked, points that come one by one, and a hand on them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

#include "ui/app/views/sweep_form.h"
#include "ui/app/window/layout.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/is_there.h"
#include "ui/panels/comparison/sweep.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Two copies that differ in their bytes alone.
void open_pair(Driver& driver) {
  driver.workspace().open_runs({run_of("A", {"workload=copy", "copy.bytes=4 MiB"}),
                                run_of("B", {"workload=copy", "copy.bytes=16 MiB"})});
  driver.settle();
}

SweepForm form_over(const char* knob, const char* values) {
  SweepForm form;
  form.knob = knob;
  form.values = values;
  return form;
}

void show(Driver& driver, const SweepForm& form) {
  start_sweep(driver.workspace(), form);
  driver.app().run("layout.sweep");
  driver.settle();
}

const SweepModel& swept(Driver& driver) {
  return driver.workspace().sweep;
}

}  // namespace

TEST_CASE("suggested values lie around those that the sides have, within the knob's range") {
  const auto suggested = [](const char* knob, std::initializer_list<const char*> now) {
    const program::Knob& found = program::find_knob(knob);
    std::vector<program::Value> values;
    for (const char* one : now) values.push_back(program::parse_value(found, one));
    return suggested_values(found, values);
  };
  CHECK(suggested("batch_size", {"64"}) == "8..512");
  CHECK(suggested("batch_size", {"1"}) == "1..8");
  CHECK(suggested("batch_size", {"32", "1024"}) == "4..8192");
  CHECK(suggested("copy.bytes", {"64 MiB"}) == "8 MiB..512 MiB");
  CHECK(suggested("batch_size", {"8", "12"}) == "1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96");
  CHECK(suggested("loader.num_workers", {"0"}) == "0, 1, 2, 4, 8");
  CHECK(suggested("loader.pin_memory", {"true"}) == "false, true");
  CHECK(suggested("copy.memory", {"pinned"}).find("pageable") != std::string::npos);
  // Whatever is suggested can be swept, and holds the present value.
  for (const program::Knob& knob : program::knobs()) {
    if (knob.type == program::KnobType::kText || knob.type == program::KnobType::kList) continue;
    CAPTURE(knob.name);
    const std::string values = suggested_values(knob, {knob.initial});
    const scenario::SweepAxis axis = scenario::parse_axis(knob.name + "=" + values);
    CHECK(std::find(axis.values.begin(), axis.values.end(), knob.initial) != axis.values.end());
  }
}

TEST_CASE("a sweep of what A and B differ in is one curve, and both stand on it") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver);
  show(*driver, form_over("copy.bytes", "1 MiB..64 MiB"));
  REQUIRE(swept(*driver).sweep());
  const scenario::Sweep& sweep = *swept(*driver).sweep();
  CHECK(sweep.points.size() == 7);
  REQUIRE(swept(*driver).sides().size() == 1);
  CHECK(swept(*driver).sides()[0].first == "A and B");
  for (const scenario::SweepPoint& point : sweep.points) CHECK(point.sides[0].over);
  const auto present = present_sides(
      sweep, {driver->workspace().sides()[0].config, driver->workspace().sides()[1].config});
  REQUIRE(present.size() == 2);
  CHECK(present[0].places[0] == 2);
  CHECK(present[1].places[0] == 4);
  CHECK(is_there(kSweepPanel));
}

TEST_CASE("a click on a point is its value for B, with Shift for A") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  show(*driver, form_over("copy.bytes", "1 MiB..64 MiB"));
  REQUIRE(driver->click("//Sweep##pair/**/point 6"));
  const auto& sides = driver->workspace().sides();
  CHECK(sides[1].config.whole("copy.bytes") == 64 << 20);
  CHECK(sides[0].config.whole("copy.bytes") == 4 << 20);
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyDown(ImGuiMod_Shift);
    context->ItemClick("//Sweep##pair/**/point 0");
    context->KeyUp(ImGuiMod_Shift);
  }));
  CHECK(sides[0].config.whole("copy.bytes") == 1 << 20);
  // What a point says is what the run then has.
  const auto point =
      analysis::value_of(swept(*driver).sweep()->points[6].sides[0].metrics, "time.total");
  CHECK(point == analysis::value_of(sides[1].run->metrics, "time.total"));
}

TEST_CASE("a knob is swept from its name, by the key, and by what is typed") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  CHECK_FALSE(is_there(kSweepPanel));
  REQUIRE(driver->click("//Knobs##pair/**/copy.bytes/sweep"));
  REQUIRE(swept(*driver).sweep());
  CHECK(swept(*driver).sweep()->axes[0].knob->name == "copy.bytes");
  CHECK(swept(*driver).over() == swept(*driver).runs());
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemInputValue("//Sweep##pair/**/##values", "1 MiB, 3 MiB, 5 MiB");
    context->ItemClick("//Sweep##pair/**/Sweep");
  }));
  CHECK(swept(*driver).sweep()->points.size() == 3);
  // Nonsense is answered with a sentence, and what there is stays.
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemInputValue("//Sweep##pair/**/##values", "many");
    context->ItemClick("//Sweep##pair/**/Sweep");
  }));
  CHECK(swept(*driver).sweep()->points.size() == 3);
  start_sweep(driver->workspace(), form_over("copy.count", "1, 2"));
  driver->settle();
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->MouseMove("//Knobs##pair/**/copy.bytes/sweep");
    context->KeyPress(ImGuiKey_V);
  }));
  CHECK(swept(*driver).sweep()->axes[0].knob->name == "copy.bytes");
}

TEST_CASE("a combination that cannot run is told, and the others are there") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({run_of("A", {"workload=kernel", "kernel.block=1024"})});
  driver->settle();
  show(*driver, form_over("kernel.registers", "32, 64, 128"));
  const scenario::Sweep& sweep = *swept(*driver).sweep();
  const auto failures = failures_of(sweep);
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].point == 2);
  CHECK_FALSE(failures[0].sentence.empty());
  CHECK(is_there(kSingleSweepPanel));
  const std::int64_t before = driver->workspace().sides()[0].config.whole("kernel.registers");
  CHECK(before != 64);
  REQUIRE(driver->click("//Sweep##single/**/point 1"));
  CHECK(driver->workspace().sides()[0].config.whole("kernel.registers") == 64);
}

TEST_CASE("a sweep that is cancelled keeps the points that have come") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({run_of("A", {"workload=train", "steps=2"})});
  driver->settle();
  start_sweep(driver->workspace(), form_over("steps", "2000..3900:+1"));
  driver->app().run("layout.sweep");
  for (int i = 0; i < 3000 && swept(*driver).over() == 0; ++i) {
    driver->frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  REQUIRE(driver->app().can("sweep.cancel"));
  driver->app().run("sweep.cancel");
  driver->settle();
  CHECK(swept(*driver).cancelled());
  CHECK_FALSE(swept(*driver).busy());
  CHECK(swept(*driver).over() > 0);
  CHECK(swept(*driver).over() < swept(*driver).runs());
  std::size_t there = 0;
  for (const scenario::SweepPoint& point : swept(*driver).sweep()->points)
    there += point.sides[0].over ? 1 : 0;
  CHECK(there == swept(*driver).over());
  // The window is free for the next one.
  start_sweep(driver->workspace(), form_over("steps", "2, 3"));
  driver->settle();
  CHECK(swept(*driver).over() == 2);
}

TEST_CASE("two knobs are a map, a cell of it both knobs' values") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  SweepForm form = form_over("copy.bytes", "1 MiB, 4 MiB, 16 MiB");
  form.second_knob = "copy.count";
  form.second_values = "1, 2, 4";
  show(*driver, form);
  REQUIRE(driver->click("//Sweep##pair/**/point 8"));
  CHECK(driver->workspace().sides()[1].config.whole("copy.bytes") == 16 << 20);
  CHECK(driver->workspace().sides()[1].config.whole("copy.count") == 4);
}

TEST_CASE("a lesson's sweep comes with its step, and not before the result") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_lesson(scenario::find_lesson("l2-fits"));
  driver->settle();
  CHECK_FALSE(driver->app().can("layout.sweep"));
  CHECK_FALSE(driver->app().can("sweep.knob"));
  driver->app().run("sweep.knob");
  driver->settle();
  CHECK_FALSE(swept(*driver).sweep());
  driver->open_revealed("l2-fits");
  CHECK_FALSE(swept(*driver).sweep());
  const auto points_at_sweep = [&] {
    const auto& focus = driver->workspace().lesson()->step().focus;
    return focus && focus->panel == "sweep";
  };
  while (!points_at_sweep()) {
    REQUIRE(driver->workspace().lesson()->progress.can_go_on());
    driver->workspace().next_step();
    driver->settle();
  }
  REQUIRE(swept(*driver).sweep());
  CHECK(swept(*driver).over() == swept(*driver).runs());
  CHECK(is_there(kSweepPanel));
  // Turning a knob from the curve is the step's task.
  REQUIRE(driver->click("//Sweep##pair/**/point 9"));
  CHECK(driver->workspace().knobs_changed());
}

TEST_CASE("nothing of the sweep's words is cut, in any theme and size") {
  for (const auto& [width, height] :
       {std::pair{1280, 720}, std::pair{1920, 1080}, std::pair{3840, 2160}})
    for (const ThemeMode mode : kThemeModes) {
      REQUIRE_DRIVER(driver, width, height);
      driver->app().set_theme(mode);
      open_pair(*driver);
      SweepForm form = form_over("copy.bytes", "1 MiB..64 MiB");
      show(*driver, form);
      CAPTURE(width, name_of(mode));
      const auto none_cut = [&] {
        const ImDrawData& data = *ImGui::GetDrawData();
        CHECK(letters(data) > 300);
        for (const CutLetter& cut : cut_text(data))
          FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
      };
      none_cut();
      driver->app().run("sweep-knob copy.bytes");
      driver->settle();
      none_cut();
      form.second_knob = "copy.count";
      form.second_values = "1..64";
      show(*driver, form);
      none_cut();
    }
}
