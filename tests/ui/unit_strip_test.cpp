// FSDP's rows of units: what is in them, and the panel that shows them.
#include "ui/panels/gpus/unit_strip.h"

#include <catch2/catch.hpp>

#include "ui/cut_text.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer sharded(const char* label, const char* setting, const char* layers) {
  return run_of(label, {"workload=train", "parallel.strategy=fsdp", "parallel.world_size=4",
                        "machine=h100-sxm-8", "data.source=tensor", "steps=2", setting, layers});
}

}  // namespace

TEST_CASE("a row is a unit, with what is gathered, computed and scattered over what is whole") {
  const RunPointer run = sharded("A", "fsdp.reshard_after_forward=true", "model.layers=3");
  const analysis::UnitTimes times = analysis::unit_times(*run->trace);
  REQUIRE(times.steps.size() == 2);
  for (const analysis::UnitStep& step : times.steps) {
    const StepStrip strip = strip_of(times, step.time.start);
    CHECK(strip.shown.start == step.time.start);
    CHECK(strip.shown.end == step.time.end);
    REQUIRE(strip.lanes.size() == 4);
    CHECK(strip.lanes[0].name == "root");
    CHECK(strip.lanes[3].name == "block 3");
    // Whole, gather, forward; whole, gather, backward, scatter.
    CHECK(strip.lanes[1].bars.size() == 7);
    CHECK(strip.lanes[0].bars.size() == 5);
    CHECK(strip.lanes[1].bars.front().shades.size() == 1);
  }
  const analysis::UnitStep& step = times.steps[1];
  CHECK(unit_words(times, step.visits.front().gather->start) == "whole: 0 of 4 units now");
  CHECK(unit_words(times, step.visits[1].forward->start).starts_with("whole: 2 of 4"));
  CHECK(unit_words(times, step.time.end + 1) == "whole: 0 of 4 units now");
}

TEST_CASE("the panel shows FSDP's units beside DDP's buckets, whatever their number") {
  for (const char* layers : {"model.layers=2", "model.layers=16"})
    for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
      CAPTURE(layers, width);
      REQUIRE_DRIVER(driver, width, height);
      driver->workspace().open_runs(
          {run_of("A", {"workload=train", "parallel.strategy=ddp", "parallel.world_size=4",
                        "machine=h100-sxm-8", "model.name=gpt-mini", "data.source=tensor",
                        "steps=2", layers}),
           sharded("B", "fsdp.reshard_after_forward=true", layers)});
      driver->settle();
      driver->app().run("layout.gradient_flow");
      driver->settle();
      for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
        FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
    }
}

TEST_CASE("the mouse moves the playhead along FSDP's rows") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs(
      {sharded("A", "fsdp.reshard_after_forward=false", "model.layers=12")});
  driver->settle();
  REQUIRE(driver->app().can("layout.gradient_flow"));
  driver->app().run("layout.gradient_flow");
  driver->settle();
  const Nanos before = driver->workspace().playhead.time;
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Gradient flow##single/**/##step"); }));
  CHECK(driver->workspace().playhead.time != before);
}
