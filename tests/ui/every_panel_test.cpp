// Every panel, in front, on the screens and at the scales that people have.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "ui/app/workspace/sweeping.h"
#include "ui/monitors.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kPanels[] = {"lesson",    "timeline",   "knobs",         "code",   "compare",
                                   "copy-path", "loss",       "loss-scaling",  "memory", "sm-array",
                                   "roofline",  "operations", "gradient-flow", "runs",   "sweep"};

void check_panels(Driver& driver, const std::string& where) {
  for (const char* panel : kPanels) {
    driver.app().show_panel(panel);
    check_words(driver, where + " " + panel);
  }
}

void sweep(Driver& driver, const char* knob, const char* values) {
  SweepForm form;
  form.knob = knob;
  form.values = values;
  start_sweep(driver.workspace(), form);
  driver.settle();
}

// The largest screen at scale 2 has as much room as the one before it at 1.
void at_every_size(const std::function<void(Driver&, const std::string&)>& check) {
  for (const Monitor screen : {kMonitors[0], kMonitors[1]}) {
    REQUIRE_DRIVER(driver, screen.width, screen.height);
    for (const float scale : kScales) {
      driver->app().set_zoom(scale);
      check(*driver, fmt::format("{}x{} at {}", screen.width, screen.height, scale));
    }
  }
}

}  // namespace

TEST_CASE("no panel of a lesson on loss scaling cuts or covers a word") {
  at_every_size([](Driver& driver, const std::string& where) {
    walk_to_result(driver, "amp-loss-scale");
    sweep(driver, "scaler.init_scale", "1, 1024, 65536");
    check_panels(driver, where + " amp");
  });
}

TEST_CASE("no panel of a lesson on several GPUs cuts or covers a word") {
  at_every_size([](Driver& driver, const std::string& where) {
    walk_to_result(driver, "dp-vs-ddp");
    sweep(driver, "parallel.strategy", "dp, ddp");
    check_panels(driver, where + " ddp");
  });
}

TEST_CASE("no panel of one run cuts or covers a word") {
  at_every_size([](Driver& driver, const std::string& where) {
    driver.workspace().open_runs({run_of("A", {"workload=train", "steps=6", "model.name=cnn"})});
    driver.settle();
    sweep(driver, "batch_size", "16..256");
    check_panels(driver, where + " one");
  });
}
