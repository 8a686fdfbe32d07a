// What is opened beside a run: traces, saved runs and configs as B, in the workspace and by hand.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "analysis/runs/run_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "trace/chrome_writer.h"
#include "trace/ranks.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/app/workspace/window_link.h"
#include "ui/cut_text.h"
#include "ui/idle.h"
#include "ui/is_there.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;
using test::config_of;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// As a profiler writes one: with steps where the run has some.
fs::path trace_of(const TemporaryFolder& folder, const char* name,
                  std::initializer_list<const char*> settings) {
  const fs::path file = folder.path() / name;
  trace::write_chrome_trace(*run_of("A", settings)->trace, file);
  return file;
}

fs::path stepped_trace(const TemporaryFolder& folder) {
  return trace_of(folder, "steps.json", {"workload=train", "steps=4"});
}

fs::path stepless_trace(const TemporaryFolder& folder) {
  return folder.write("kernels.json", R"({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1, "dur": 50,
     "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [8, 1, 1], "block": [256, 1, 1]}}
  ]})");
}

fs::path saved_run(const TemporaryFolder& folder, const char* name,
                   const std::vector<RunPointer>& runs) {
  analysis::SavedRuns saved;
  saved.runs = runs;
  analysis::save_runs(saved, folder.path() / name);
  return folder.path() / name;
}

fs::path config_file(const TemporaryFolder& folder) {
  return folder.write("mine.toml", "workload = \"train\"\nsteps = 4\nbatch_size = 64\n");
}

int steps_of(const SideModel& side) {
  return side.run->facts.measured.steps;
}

}  // namespace

TEST_CASE("a trace's replay stands beside it, and its knobs ask what they would bring") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.open_trace(stepped_trace(folder));
  CHECK_FALSE(workspace.can_replay_beside());
  wait_until_idle(workspace);
  REQUIRE(workspace.can_replay_beside());
  workspace.replay_beside();
  wait_until_idle(workspace);
  REQUIRE(workspace.current_sides().size() == 2);
  const auto time = [&](std::size_t side) {
    return *analysis::value_of(workspace.sides()[side].run->metrics, "time.step");
  };
  CHECK(time(1) == Approx(time(0)).epsilon(0.001));
  CHECK(workspace.sides()[1].run->trace->origin().kind == trace::OriginKind::kSimulated);
  CHECK_FALSE(workspace.knobs_free(0));
  CHECK(workspace.knobs_free(1));
  CHECK_FALSE(workspace.has_machines());
  workspace.set_knob(1, "replay.host_speed", 2.0);
  wait_until_idle(workspace);
  CHECK(time(1) < 0.8 * time(0));

  Workspace stepless([] {});
  stepless.open_trace(stepless_trace(folder));
  wait_until_idle(stepless);
  CHECK_FALSE(stepless.can_replay_beside());  // it has no host
}

TEST_CASE("a job's folder is replayed beside itself, its late rank without what makes it late") {
  const TemporaryFolder folder;
  const RunPointer run =
      run_of("A", {"workload=train", "model.name=resnet50", "batch_size=16", "steps=4",
                   "machine=l40s-4", "parallel.strategy=ddp", "parallel.world_size=2",
                   "straggler.rank=1", "straggler.factor=1.5"});
  for (const int rank : {0, 1})
    trace::write_chrome_trace(*trace::part_of_rank(*run->trace, rank),
                              folder.path() / ("rank_" + std::to_string(rank) + ".json"));
  Workspace workspace([] {});
  workspace.open_trace(folder.path());
  wait_until_idle(workspace);
  REQUIRE(workspace.can_replay_beside());
  workspace.replay_beside("replay.rank=1 replay.kernel_speed=1.5");
  wait_until_idle(workspace);
  REQUIRE(workspace.sides().size() == 2);
  const auto time = [&](std::size_t side) {
    return *analysis::value_of(workspace.sides()[side].run->metrics, "time.step");
  };
  CHECK(time(1) < 0.8 * time(0));
  CHECK(trace::ranks_of(*workspace.sides()[1].run->trace) == std::vector<int>{0, 1});
}

TEST_CASE("what a change would bring to a trace is said beside it, and shown as B by a click") {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair{1366, 1800}, std::pair{1920, 2160}}) {
    REQUIRE_DRIVER(driver, width, height);
    driver->workspace().open_trace(stepped_trace(folder));
    driver->settle();
    CHECK(driver->app().can("runs.what_if"));
    for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
      FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
    REQUIRE(driver->click(std::string("//") + kSummaryPanel + "/**/Show it as B##what-if-0"));
    driver->settle();
    REQUIRE(driver->workspace().current_sides().size() == 2);
    const auto time = [&](std::size_t side) {
      return *analysis::value_of(driver->workspace().sides()[side].run->metrics, "time.step");
    };
    CHECK(time(1) < 0.99 * time(0));
    CHECK_FALSE(driver->app().can("runs.what_if"));
    for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
      FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
  }
}

TEST_CASE("a trace stands beside another, and neither has knobs") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  CHECK_FALSE(workspace.can_open_beside());
  workspace.open_trace(stepped_trace(folder));
  wait_until_idle(workspace);
  const RunPointer a = workspace.sides()[0].run;
  REQUIRE(a);
  REQUIRE(workspace.can_open_beside());
  CHECK_FALSE(workspace.can_copy_beside());
  workspace.open_trace_beside(stepped_trace(folder));
  wait_until_idle(workspace);
  REQUIRE(workspace.current_sides().size() == 2);
  CHECK(workspace.sides()[0].run == a);
  CHECK(workspace.sides()[1].run->label == "B");
  CHECK(workspace.sides_with_knobs().empty());
  CHECK_FALSE(workspace.knobs_free());
  CHECK_FALSE(workspace.has_machines());
  REQUIRE(workspace.can_close_beside());
  workspace.close_beside();
  CHECK(workspace.sides().size() == 1);
  CHECK(workspace.sides()[0].run == a);
}

TEST_CASE("beside a trace a config is run, and only its knobs turn") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.open_trace(stepped_trace(folder));
  wait_until_idle(workspace);
  const RunPointer a = workspace.sides()[0].run;
  workspace.open_config_beside(config_of({"workload=train", "steps=4"}));
  wait_until_idle(workspace);
  REQUIRE(workspace.knobs_free());
  CHECK(workspace.sides_with_knobs() == std::vector<std::size_t>{1});
  CHECK(workspace.has_machines());
  CHECK_FALSE(can_link(workspace));
  workspace.set_knob(0, "steps", std::int64_t{9});
  CHECK_FALSE(workspace.busy());
  workspace.set_knob(1, "batch_size", std::int64_t{8});
  wait_until_idle(workspace);
  CHECK(workspace.sides()[1].run->config.whole("batch_size") == 8);
  CHECK(workspace.knobs_changed());
  workspace.undo();
  wait_until_idle(workspace);
  CHECK_FALSE(workspace.sides()[1].run->config.is_set("batch_size"));
  CHECK(workspace.sides()[0].run == a);
  REQUIRE(can_sweep(workspace));
  CHECK(labelled_configs(workspace).size() == 1);
}

TEST_CASE("a run is copied beside itself, and one of the two is turned") {
  Workspace workspace([] {});
  scenario::Link link;
  link.knobs.a = config_of({"workload=train", "steps=4"});
  workspace.open_link(link);
  wait_until_idle(workspace);
  workspace.set_knob(0, "batch_size", std::int64_t{64});
  wait_until_idle(workspace);
  REQUIRE(workspace.can_copy_beside());
  workspace.copy_beside();
  wait_until_idle(workspace);
  REQUIRE(workspace.current_sides().size() == 2);
  CHECK(workspace.sides()[1].config == workspace.sides()[0].config);
  CHECK_FALSE(workspace.can_copy_beside());
  CHECK_FALSE(workspace.can_undo());
  workspace.set_knob(1, "loader.pin_memory", true);
  wait_until_idle(workspace);
  CHECK(link_of(workspace).knobs.b.flag("loader.pin_memory"));
  CHECK_FALSE(workspace.sides()[0].config.flag("loader.pin_memory"));
  workspace.reset_knobs();  // B's are those that it began with
  wait_until_idle(workspace);
  CHECK(workspace.sides()[1].config.whole("batch_size") == 64);
}

TEST_CASE("beside a trace without steps a run is measured as a whole, and by its steps again") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.open_trace(stepless_trace(folder));
  wait_until_idle(workspace);
  workspace.open_config_beside(config_of({"workload=train", "steps=4"}));
  wait_until_idle(workspace);
  CHECK(steps_of(workspace.sides()[0]) == 0);
  CHECK(steps_of(workspace.sides()[1]) == 0);
  workspace.set_knob(1, "steps", std::int64_t{5});
  wait_until_idle(workspace);
  CHECK(steps_of(workspace.sides()[1]) == 0);
  CHECK(workspace.sides()[1].run->config.whole("steps") == 5);

  workspace.open_trace(stepped_trace(folder));
  wait_until_idle(workspace);
  const int steps = steps_of(workspace.sides()[0]);
  REQUIRE(steps > 0);
  workspace.open_trace_beside(stepless_trace(folder));
  wait_until_idle(workspace);
  CHECK(steps_of(workspace.sides()[0]) == 0);
  workspace.open_trace_beside(stepped_trace(folder));
  wait_until_idle(workspace);
  CHECK(steps_of(workspace.sides()[0]) == steps);
  workspace.open_trace_beside(stepless_trace(folder));
  wait_until_idle(workspace);
  workspace.close_beside();
  CHECK(steps_of(workspace.sides()[0]) == steps);
}

TEST_CASE("closing the other while a run is being measured whole leaves it by its steps") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.open_trace(stepped_trace(folder));
  wait_until_idle(workspace);
  const int steps = steps_of(workspace.sides()[0]);
  workspace.open_trace_beside(stepless_trace(folder));
  REQUIRE(
      wait_for(workspace, [&] { return workspace.sides()[1].run && workspace.sides()[0].busy; }));
  workspace.close_beside();
  wait_until_idle(workspace);
  CHECK(steps_of(workspace.sides()[0]) == steps);
}

TEST_CASE("a trace that cannot be read beside another leaves that as it is") {
  const TemporaryFolder folder;
  Workspace workspace([] {});
  workspace.open_trace(stepped_trace(folder));
  wait_until_idle(workspace);
  workspace.open_trace_beside("/nowhere/trace.json");
  wait_until_idle(workspace);
  CHECK(workspace.sides()[0].run);
  CHECK_THAT(workspace.sides()[1].error, Contains("/nowhere/trace.json"));
  CHECK_FALSE(workspace.knobs_free());
}

TEST_CASE("nothing is opened beside a lesson") {
  Workspace workspace([] {});
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  CHECK_FALSE(workspace.can_open_beside());
  workspace.open_trace_beside("/nowhere/trace.json");
  CHECK(workspace.sides()[1].file.empty());
  CHECK(workspace.lesson());
}

TEST_CASE(
    "a second trace is opened by hand, and two traces show details in place of knobs and code") {
  REQUIRE_DRIVER(driver);
  const TemporaryFolder folder;
  const fs::path file = stepped_trace(folder);
  driver->app().files().open(file);
  driver->settle();
  REQUIRE(driver->click("//Timeline##single/file.open_beside"));
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->KeyChars(file.c_str());
    context->KeyPress(ImGuiKey_Enter);
  }));
  REQUIRE(driver->workspace().current_sides().size() == 2);
  driver->settle();
  CHECK(is_there(kPairDetailsPanel));
  CHECK_FALSE(is_there(kKnobsPanel));
  CHECK_FALSE(is_there(kCodePanel));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  driver->app().run("runs.close_b");
  driver->settle();
  CHECK(driver->workspace().sides().size() == 1);
}

TEST_CASE("each of two sides says its host profile, timing only, and what its file has dropped") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const TemporaryFolder folder;
  const fs::path lacking = folder.write("lacking.json", R"({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1, "dur": 50,
     "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [8, 1, 1], "block": [256, 1, 1]}},
    {"ph": "X", "cat": "kernel", "name": "endless", "pid": 0, "tid": 7, "ts": 60}
  ]})");
  Workspace& workspace = driver->workspace();
  const auto side = [&](std::size_t number) {
    return timeline_input(workspace, driver->app().attention()).sides.at(number);
  };
  workspace.open_runs({run_of("A", {"workload=train", "model.name=resnet50", "steps=3"})});
  driver->settle();
  CHECK(side(0).detail.empty());  // its Summary says so
  driver->app().files().open_beside(lacking);
  driver->settle();
  REQUIRE(workspace.current_sides().size() == 2);
  CHECK(side(0).detail == "pytorch-eager, timing only");
  CHECK(side(0).dropped.empty());
  CHECK(side(1).detail.empty());
  CHECK(side(1).dropped == "1 dropped");
  CHECK_THAT(side(1).dropped_why, Contains("without a duration (\"dur\"): 1"));
  for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
    FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
  CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  bool told = false;
  CHECK(driver->act([&](ImGuiTestContext* context) {
    context->MouseMove("//Timelines##pair/**/dropped", ImGuiTestOpFlags_NoCheckHoveredId);
    context->Yield(3);
    const ImGuiWindow* tooltip = ImGui::FindWindowByName("##Tooltip_00");
    told = tooltip && tooltip->Active;
  }));
  CHECK(told);
}

TEST_CASE("one run that was built from knobs shows its listing, and a trace the details") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_runs({run_of("A", {"workload=train", "steps=4"})});
  driver->settle();
  CHECK(is_there(kSingleCodePanel));
  CHECK_FALSE(is_there(kDetailsPanel));
  CHECK(driver->app().deck().has("code"));
  CHECK_FALSE(driver->app().deck().has("knobs"));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  const TemporaryFolder folder;
  driver->app().files().open(stepped_trace(folder));
  driver->settle();
  CHECK(is_there(kDetailsPanel));
  CHECK_FALSE(is_there(kSingleCodePanel));
}

TEST_CASE("beside a trace a config shows its own knobs and its listing") {
  REQUIRE_DRIVER(driver);
  const TemporaryFolder folder;
  driver->app().files().open(stepped_trace(folder));
  driver->settle();
  driver->app().files().open_beside(config_file(folder));
  driver->settle();
  CHECK(is_there(kKnobsPanel));
  CHECK(is_there(kCodePanel));
  const auto has = [&](const char* item) {
    bool found = false;
    driver->act([&](ImGuiTestContext* context) {
      found = context->ItemInfo(item, ImGuiTestOpFlags_NoError).ID != 0;
    });
    return found;
  };
  CHECK(has("//Knobs##pair/**/steps@B"));
  CHECK_FALSE(has("//Knobs##pair/**/steps@A"));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}

TEST_CASE("files that are dropped together stand beside each other") {
  REQUIRE_DRIVER(driver);
  const TemporaryFolder folder;
  const fs::path trace = stepped_trace(folder), config = config_file(folder);
  const RunPointer a = run_of("A", {"workload=train", "steps=3"}),
                   b = run_of("B", {"workload=train", "steps=5"});
  const fs::path saved = saved_run(folder, "pair.tsrun", {a, b});
  Workspace& workspace = driver->workspace();
  driver->settle();
  driver->app().files().open_dropped({saved, trace});
  driver->settle();
  REQUIRE(workspace.current_sides().size() == 2);
  CHECK(workspace.sides()[0].config.whole("steps") == 3);
  CHECK(is_imported(workspace.sides()[1]));
  driver->app().files().open_dropped({trace, saved, config});
  driver->settle();
  REQUIRE(workspace.current_sides().size() == 2);
  CHECK(is_imported(workspace.sides()[0]));
  CHECK(workspace.sides()[1].config.whole("steps") == 5);  // what a lesson recommends
  CHECK_THAT(workspace.notice, Contains("1 of the 3 files were not opened, mine.toml first"));
  driver->app().files().open_dropped({config, trace});
  driver->settle();
  CHECK(workspace.sides()[0].config.whole("batch_size") == 64);
  CHECK(is_imported(workspace.sides()[1]));
}

TEST_CASE("of files that are dropped together a broken one is said, and the others are opened") {
  REQUIRE_DRIVER(driver);
  const TemporaryFolder folder;
  const fs::path broken = folder.write("broken.txt", "no trace");
  driver->settle();
  driver->app().files().open_dropped({broken, stepped_trace(folder)});
  driver->settle();
  REQUIRE(driver->workspace().sides()[0].run);
  CHECK(is_imported(driver->workspace().sides()[0]));
}

TEST_CASE("what cannot stand beside a run says so, and a run without another is opened alone") {
  REQUIRE_DRIVER(driver);
  const TemporaryFolder folder;
  const fs::path lesson = home_folder() / "scenarios" / "pinned-vs-pageable.toml";
  driver->settle();
  CHECK_THROWS_WITH(driver->app().files().open_beside(lesson),
                    Contains("only those stand beside one"));
  driver->app().files().open_beside(config_file(folder));
  driver->settle();
  CHECK(driver->workspace().sides().size() == 1);
}
