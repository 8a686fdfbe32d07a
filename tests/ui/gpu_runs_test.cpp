// Runs in the window that are measured, on a GPU that the emulator stands in for.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "cuda/emulated_device.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "support/config.h"
#include "support/skip.h"
#include "ui/driver.h"
#include "ui/idle.h"
#include "ui/panels/gpus/sm_array.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;
using test::config_of;
using trace::OriginKind;

namespace {

// Figures of a real one, so that time passes on its clock as there.
analysis::GpuRuns::OpenDevice emulated(std::int64_t lost_at = -1) {
  return [lost_at] {
    static const machine::Machine costs = machine::load_machine("h200-1");
    test::EmulatedOptions options;
    options.costs = &costs;
    options.lost_at = lost_at;
    return std::make_shared<test::EmulatedDevice>(options);
  };
}

analysis::GpuRuns::Device none_here() {
  throw MissingError("no NVIDIA driver is loaded here");
}

OriginKind origin_of(const SideModel& side) {
  return side.run->trace->origin().kind;
}

void open_copies(Workspace& workspace, const std::string& of_b = "copy.memory=pinned") {
  scenario::Link link;
  link.knobs = {config_of({"workload=copy", "copy.count=3"}),
                config_of({"workload=copy", "copy.count=3", of_b})};
  workspace.open_link(link);
  wait_until_idle(workspace);
  REQUIRE(workspace.current_sides().size() == 2);
}

}  // namespace

TEST_CASE("both sides are measured on this machine's GPU, and turning a knob simulates again") {
  Workspace workspace([] {}, emulated());
  open_copies(workspace);
  REQUIRE(workspace.can_measure());
  CHECK_FALSE(workspace.can_simulate_again());
  workspace.measure();
  CHECK(workspace.busy());
  wait_until_idle(workspace);
  for (const SideModel& side : workspace.sides()) {
    REQUIRE(side.run);
    CHECK(origin_of(side) == OriginKind::kMeasured);
    CHECK(side.view->trace == side.run->trace);
    CHECK(side.outline->origin.subject == "Emulated GPU");
  }
  workspace.set_knob(1, "copy.count", std::int64_t{5});
  wait_until_idle(workspace);
  CHECK(origin_of(workspace.sides()[0]) == OriginKind::kMeasured);
  CHECK(origin_of(workspace.sides()[1]) == OriginKind::kSimulated);
  workspace.simulate_again();
  wait_until_idle(workspace);
  CHECK(origin_of(workspace.sides()[0]) == OriginKind::kSimulated);
}

TEST_CASE("without a GPU what was simulated stays, and one sentence says why") {
  Workspace workspace([] {}, none_here);
  open_copies(workspace);
  const auto before = workspace.sides()[0].run;
  workspace.measure();
  wait_until_idle(workspace);
  CHECK_THAT(workspace.notice, Contains("what is shown stays: no NVIDIA driver is loaded here"));
  CHECK(workspace.sides()[0].run == before);
  CHECK(workspace.sides()[0].error.empty());
  CHECK(workspace.can_measure());
}

TEST_CASE("sides that differ in their machine alone are not measured, and a sentence says why") {
  Workspace workspace([] {}, emulated());
  open_copies(workspace, "machine=t4-1");
  workspace.measure();
  CHECK_FALSE(workspace.busy());
  CHECK_THAT(workspace.notice, Contains("differ in machine alone"));
  CHECK(origin_of(workspace.sides()[0]) == OriginKind::kSimulated);
}

TEST_CASE("the SM array shows the kernels of a measured run") {
  REQUIRE_DRIVER(driver, 1366, 768, emulated());
  scenario::Link link;
  link.knobs = {config_of({"workload=kernel", "kernel.grid=200", "kernel.count=3", "steps=2"}), {}};
  driver->workspace().open_link(link);
  driver->settle();
  driver->workspace().measure();
  driver->settle();
  REQUIRE(origin_of(driver->workspace().sides()[0]) == OriginKind::kMeasured);
  driver->app().run("layout.sm_array");
  driver->settle();
  const RunPointer run = driver->workspace().sides()[0].run;
  CHECK(placed_kernels(*run).size() == 6);
  CHECK(placed_kernels(*run).front().operation == 0);
  keep_picture(*driver, "measured-sms");
}

TEST_CASE("a device that is lost ends a measured run, which stays, and the next one says so") {
  Workspace workspace([] {}, emulated(25));
  open_copies(workspace);
  workspace.measure();
  wait_until_idle(workspace);
  const auto& sides = workspace.sides();
  const bool ended = std::any_of(sides.begin(), sides.end(), [](const SideModel& side) {
    return side.run && side.run->ending;
  });
  CHECK(ended);
  workspace.measure();
  wait_until_idle(workspace);
  CHECK_THAT(workspace.notice, Contains("the GPU was lost in an earlier run"));
}

TEST_CASE("measuring can be cancelled") {
  Workspace workspace([] {}, emulated());
  scenario::Link link;
  link.knobs = {config_of({"workload=train", "data.name=digits", "steps=2000"}),
                config_of({"workload=train", "data.name=digits", "steps=2000"})};
  workspace.open_link(link);
  REQUIRE(wait_for(workspace, [&] { return workspace.can_measure(); }));
  workspace.measure();
  REQUIRE(wait_for(workspace, [&] { return workspace.sides()[0].progress.share > 0; }));
  workspace.cancel();
  CHECK_FALSE(workspace.busy());
  workspace.set_knob(0, "steps", std::int64_t{3});
  REQUIRE(wait_for(workspace, [&] { return !workspace.busy(); }));
  CHECK(origin_of(workspace.sides()[0]) == OriginKind::kSimulated);
}

TEST_CASE("a lesson is measured by a key, says MEASURED, and its answers stay those of its run") {
  REQUIRE_DRIVER(driver, 1366, 768, emulated());
  driver->open_revealed("pinned-vs-pageable");
  const auto answered = driver->workspace().lesson_sides();
  driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiMod_Shift | ImGuiKey_R); });
  driver->settle();
  const auto& sides = driver->workspace().sides();
  REQUIRE(sides.size() == 2);
  for (const SideModel& side : sides) CHECK(origin_of(side) == OriginKind::kMeasured);
  CHECK(driver->workspace().lesson_sides() == answered);
  const double a = *analysis::value_of(sides[0].run->metrics, "bandwidth.h2d");
  const double b = *analysis::value_of(sides[1].run->metrics, "bandwidth.h2d");
  CHECK(std::max(a, b) > 2 * std::min(a, b));
  CHECK(driver->app().can("run.simulate"));
  keep_picture(*driver, "measured");
}
