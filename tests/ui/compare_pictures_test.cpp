// Pictures to look at, on demand: TRAINSCOPE_PICTURES=FOLDER tests_ui '[.compare-pictures]'
#include <catch2/catch.hpp>
#include <filesystem>

#include "ui/app/workspace/sweeping.h"
#include "ui/panels/comparison/sweep.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

struct Gallery {
  Driver& driver;
  std::filesystem::path folder;
  std::string suffix;

  void save(const std::string& name) {
    driver.settle();
    write_png(folder / (name + suffix + ".png"), driver.window().capture());
  }
};

// The step of a lesson that shows its sweep.
void draw_lesson_sweep(Gallery& gallery, const char* lesson) {
  Driver& driver = gallery.driver;
  driver.open_revealed(lesson);
  const auto shows = [&] {
    const auto& focus = driver.workspace().lesson()->step().focus;
    return focus && focus->panel == "sweep";
  };
  while (!shows()) {
    if (!driver.workspace().lesson()->progress.can_go_on()) driver.workspace().skip_question();
    driver.workspace().next_step();
  }
  gallery.save(std::string("lesson-") + lesson);
}

void draw_sweeps(Gallery& gallery) {
  Driver& driver = gallery.driver;
  for (const char* lesson : {"l2-fits", "bucket-size", "batch-size", "num-workers"})
    draw_lesson_sweep(gallery, lesson);
  driver.workspace().open_runs(
      {run_of("A", {"workload=kernel", "kernel.block=1024", "kernel.registers=40"}),
       run_of("B", {"workload=kernel", "kernel.block=256", "kernel.registers=48"})});
  driver.settle();
  SweepForm form;
  form.knob = "kernel.registers";
  form.values = "24, 32, 40, 48, 64, 80, 128";
  form.metric = "occupancy.achieved";
  start_sweep(driver.workspace(), form);
  driver.app().run("layout.sweep");
  gallery.save("failures");
  form.second_knob = "kernel.ilp";
  form.second_values = "1, 2, 4, 8";
  start_sweep(driver.workspace(), form);
  gallery.save("map");
  form = {};
  form.knob = "machine";
  form.values = sweep_form_for(driver.workspace(), "machine").values;
  start_sweep(driver.workspace(), form);
  gallery.save("machines");
}

void draw_comparison(Gallery& gallery) {
  Driver& driver = gallery.driver;
  driver.workspace().open_runs(
      {run_of("A", {"workload=train", "steps=3"}),
       run_of("B", {"workload=train", "steps=3", "precision=fp16", "batch_size=256"})});
  driver.settle();
  driver.app().show_panel("compare");
  gallery.save("compare");
  driver.app().run("layout.operations");
  gallery.save("operations");
  for (const std::int64_t batch : {32, 96, 512, 1024}) {
    driver.workspace().set_knob(1, "batch_size", batch);
    driver.settle();
    driver.app().run("runs.keep_b");
  }
  driver.app().run("align.first_kernel");
  driver.settle();
  set_offset(driver.workspace(), driver.workspace().playhead.offset + 300'000);
  gallery.save("runs");
}

}  // namespace

TEST_CASE("pictures of sweeps, operations and runs kept", "[.compare-pictures]") {
  const auto folder = pictures_folder();
  REQUIRE(folder);
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}})
    for (const ThemeMode mode : kThemeModes) {
      REQUIRE_DRIVER(driver, width, height);
      driver->app().set_theme(mode);
      Gallery gallery{*driver, *folder,
                      "-" + std::to_string(width) + "-" + std::string(name_of(mode))};
      draw_sweeps(gallery);
      draw_comparison(gallery);
      driver->open_revealed("scaling-efficiency");
      driver->app().show_panel("gradient-flow");
      driver->settle();
      driver->click("//Gradient flow##pair/**/scaling");
      gallery.save("scaling");
    }
}
