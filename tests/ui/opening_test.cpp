// Saved runs that are opened: the timeline first, the numbers once they are computed.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "analysis/runs/run_file.h"
#include "base/temporary_folder.h"
#include "ui/panels/window/running.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// What a worker tells of a run that is opened, in order.
std::vector<Report> reports_on(const std::filesystem::path& file) {
  std::vector<Report> all;
  Worker worker([] {});
  worker.open(0, "A", analysis::read_runs(file).runs.at(0), file.string());
  while (all.empty() || !all.back().over) {
    for (Report& report : worker.reports()) all.push_back(std::move(report));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return all;
}

std::filesystem::path saved_in(const test::TemporaryFolder& folder, const RunPointer& run) {
  analysis::SavedRuns saved;
  saved.runs = {run};
  const auto file = folder.path() / "a.tsrun";
  analysis::save_runs(saved, file);
  return file;
}

// A kernel with more registers than any GPU has: it can be drawn, and nothing can be said of it.
RunPointer impossible_run() {
  analysis::Run run = *run_of("A", {"workload=kernel"});
  program::Program program = *run.program;
  for (program::Operation& operation : program.operations)
    if (operation.block_work) operation.block_work->registers = 100'000;
  run.program = std::make_shared<program::Program>(program);
  return std::make_shared<const analysis::Run>(run);
}

}  // namespace

TEST_CASE("a run that is opened is drawn before its metrics are there") {
  const test::TemporaryFolder folder;
  const RunPointer run = run_of("A", {"workload=train", "steps=3"});
  const std::vector<Report> reports = reports_on(saved_in(folder, run));
  REQUIRE(reports.size() == 2);
  REQUIRE(reports[0].view);
  CHECK(reports[0].outline);
  CHECK_FALSE(reports[0].run);
  CHECK_FALSE(reports[0].over);
  CHECK(reports[0].view->index.span_count == run->trace->spans().size());
  REQUIRE(reports[1].run);
  CHECK(reports[1].run->trace == reports[0].view->trace);
  REQUIRE(reports[1].run->metrics.size() == run->metrics.size());
  for (std::size_t i = 0; i < run->metrics.size(); ++i)
    CHECK(reports[1].run->metrics[i].value == run->metrics[i].value);
}

TEST_CASE("the window shows a run without metrics, says that they come, and shows them then") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  const RunPointer run = run_of("A", {"workload=train", "steps=3"});
  const auto file = saved_in(folder, run);
  Workspace& workspace = driver->workspace();
  workspace.open_runs(analysis::read_runs(file).runs, file);
  CHECK(workspace.busy());
  CHECK(progress_words(workspace.sides()[0]) == "Drawing the timeline");
  driver->settle();
  CHECK_FALSE(workspace.busy());
  REQUIRE(workspace.sides()[0].run);
  CHECK(workspace.sides()[0].run->metrics.size() == run->metrics.size());
  SideModel shown = workspace.sides()[0];
  shown.run = nullptr;
  shown.busy = true;
  CHECK(progress_words(shown) == "Computing metrics");
}

TEST_CASE("a run of which nothing can be computed ends in one sentence, and nothing of it stays") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  const auto file = saved_in(folder, impossible_run());
  driver->app().files().open(file);
  driver->settle();
  REQUIRE(driver->workspace().sides().size() == 1);
  const SideModel& side = driver->workspace().sides()[0];
  CHECK(side.error.starts_with(file.string() + ": cannot be opened: "));
  CHECK_FALSE(side.view);
  CHECK_FALSE(side.run);
  CHECK_FALSE(side.busy);
}

TEST_CASE("metrics that are being computed can be cancelled") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  const auto file = saved_in(folder, run_of("A", {"workload=train", "steps=3"}));
  driver->workspace().open_runs(analysis::read_runs(file).runs, file);
  driver->workspace().cancel();
  driver->settle();
  const SideModel& side = driver->workspace().sides()[0];
  CHECK(side.error == "Opening it was cancelled; open it again to see it.");
  CHECK_FALSE(side.view);
  CHECK_FALSE(side.busy);
}
