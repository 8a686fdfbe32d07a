// Runs beside the window, a thread for each side, and timelines that are there before the numbers
// which their runs train.
#include "ui/app/workspace/worker.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "support/config.h"
#include "ui/app/files/export.h"
#include "ui/idle.h"

using namespace trainscope;
using test::config_of;
using namespace trainscope::ui;

namespace {

// Trains for longer than a test looks at it.
const program::Config& long_training() {
  static const program::Config config = config_of(
      {"workload=train", "data.name=digits", "model.name=mlp", "steps=3000", "batch_size=256"});
  return config;
}

// Seconds of virtual copies, none of which are numbers.
const program::Config& long_copies() {
  static const program::Config config = config_of({"workload=copy", "copy.count=60000"});
  return config;
}

// What a worker says until `done(reports)`; empty after 20 s.
template <typename Done>
std::vector<Report> reports_until(Worker& worker, Done done) {
  std::vector<Report> all;
  for (int i = 0; i < 20000; ++i) {
    for (Report& one : worker.reports()) all.push_back(std::move(one));
    if (done(all)) return all;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

bool is_over(const std::vector<Report>& reports, std::size_t slot) {
  return std::any_of(reports.begin(), reports.end(),
                     [slot](const Report& one) { return one.slot == slot && one.over; });
}

// With a timeline that is complete before its numbers.
bool is_training(const Report& report) {
  return report.progress && report.progress->training;
}

// Both sides of a lesson that trains, with their runs.
void open_training(Workspace& workspace) {
  scenario::Link link;
  link.knobs = {config_of({"workload=train", "data.name=digits", "model.name=mlp", "steps=4"}),
                config_of({"workload=train", "data.name=digits", "model.name=mlp", "steps=4",
                           "batch_size=32"})};
  workspace.open_link(link);
  wait_until_idle(workspace);
  REQUIRE(workspace.current_sides().size() == 2);
}

}  // namespace

TEST_CASE("a long run of one side keeps the other waiting for nothing") {
  Worker worker([] {});
  worker.run(0, "A", long_copies());
  worker.run(1, "B", config_of({"workload=copy", "copy.count=2"}));
  const auto reports = reports_until(worker, [](const auto& all) { return is_over(all, 1); });
  REQUIRE_FALSE(reports.empty());
  CHECK_FALSE(is_over(reports, 0));
  for (const Report& one : reports)
    if (one.over) CHECK(one.run->label == "B");
}

TEST_CASE("to abandon one side leaves the other alone") {
  Worker worker([] {});
  worker.run(0, "A", long_training());
  worker.run(1, "B", config_of({"workload=copy", "copy.count=4000"}));
  worker.abandon(0);
  const auto reports = reports_until(worker, [](const auto& all) { return is_over(all, 1); });
  REQUIRE_FALSE(reports.empty());
  CHECK(std::all_of(reports.begin(), reports.end(), [](const auto& one) { return one.slot == 1; }));
  worker.run(0, "A", config_of({"workload=copy", "copy.count=3"}));
  const auto again = reports_until(worker, [](const auto& all) { return is_over(all, 0); });
  REQUIRE_FALSE(again.empty());
  CHECK(again.back().run->config.whole("copy.count") == 3);
}

TEST_CASE("reports of a side come in order: its outline, its timeline, training, its run") {
  Worker worker([] {});
  worker.run(1, "B",
             config_of({"workload=train", "data.name=digits", "model.name=mlp", "steps=200"}));
  const auto reports = reports_until(worker, [](const auto& all) { return is_over(all, 1); });
  REQUIRE(reports.size() >= 3);
  CHECK(reports.front().outline);
  CHECK(reports.back().over);
  double share = 0;
  bool training = false;
  for (const Report& one : reports) {
    if (!one.progress) continue;
    CHECK(one.progress->share >= share);
    share = one.progress->share;
    CHECK((is_training(one) || !training));
    training |= is_training(one);
    CHECK_FALSE(one.run);
  }
  CHECK(training);
}

TEST_CASE("the early timeline of every lesson is the one that its run has in the end") {
  int trained_later = 0;
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    CAPTURE(lesson.id);
    Worker worker([] {});
    worker.run(0, "A", lesson.side("A"));
    worker.run(1, "B", lesson.side("B"));
    const auto reports =
        reports_until(worker, [](const auto& all) { return is_over(all, 0) && is_over(all, 1); });
    REQUIRE_FALSE(reports.empty());
    std::array<TraceView, 2> complete;
    for (const Report& one : reports) {
      if (one.view && one.progress && one.progress->complete) complete[one.slot] = one.view;
      trained_later += one.view && is_training(one);
      if (!one.over) continue;
      CHECK(one.view == complete[one.slot]);
      CHECK(one.view->index.span_count == one.run->trace->spans().size());
      CHECK(one.view->trace == one.run->trace);
    }
  }
  CHECK(trained_later >= 10);
}

TEST_CASE(
    "a training that diverges ends its timeline there, and nothing of the longer one is kept") {
  Worker worker([] {});
  worker.run(0, "A",
             config_of({"workload=train", "data.name=digits", "model.name=mlp", "steps=12",
                        "optimizer.lr=1e6"}));
  const auto reports = reports_until(worker, [](const auto& all) { return is_over(all, 0); });
  REQUIRE_FALSE(reports.empty());
  const auto early = std::find_if(reports.begin(), reports.end(),
                                  [](const Report& one) { return one.view && is_training(one); });
  REQUIRE(early != reports.end());
  const Report& last = reports.back();
  REQUIRE(last.run->ending);
  CHECK(sim::name_of(*last.run->ending) == "diverged");
  CHECK(last.view->trace == last.run->trace);
  CHECK(last.view->trace != early->view->trace);
  CHECK(last.view->trace->end() < early->view->trace->end());
}

TEST_CASE("nothing counts as finished before the numbers of its training are there") {
  Workspace workspace([] {});
  open_training(workspace);
  const RunPointer before = workspace.sides()[0].run;
  workspace.set_knob(0, "steps", std::int64_t{3000});
  const SideModel& side = workspace.sides()[0];
  REQUIRE(wait_for(workspace, [&] { return is_training(side); }));
  CHECK(side.view->trace != before->trace);
  CHECK(side.view->index.span_count == side.view->trace->spans().size());
  CHECK(side.run == before);
  CHECK(workspace.busy());
  CHECK_FALSE(can_keep(workspace, 0));
  CHECK(can_keep(workspace, 1));
  CHECK(workspace.current_sides().empty());
  const test::TemporaryFolder folder;
  CHECK_THROWS_AS(write_export(workspace, (folder.path() / "runs.tsrun").string()), InputError);
  // Rows of training come in under the same view.
  const TraceView view = side.view;
  REQUIRE(wait_for(workspace, [&] { return view->trace->steps().size() >= 2; }));
  CHECK(side.view == view);
  workspace.cancel();
  CHECK_FALSE(workspace.busy());
  CHECK_FALSE(side.view);
}

TEST_CASE("a knob that is turned while training is under way drops the old run") {
  Workspace workspace([] {});
  open_training(workspace);
  workspace.set_knob(0, "steps", std::int64_t{3000});
  const SideModel& side = workspace.sides()[0];
  REQUIRE(wait_for(workspace, [&] { return is_training(side); }));
  const TraceView old = side.view;
  workspace.set_knob(0, "steps", std::int64_t{5});
  wait_until_idle(workspace);
  CHECK(side.run->config.whole("steps") == 5);
  CHECK(side.run->trace->steps().size() == 5);
  CHECK(side.view != old);
  CHECK(side.view->trace == side.run->trace);
}

TEST_CASE("a worker that goes away waits for no training") {
  const auto begun = std::chrono::steady_clock::now();
  {
    Worker worker([] {});
    worker.run(0, "A", long_training());
    worker.run(1, "B", long_training());
    REQUIRE_FALSE(reports_until(worker, [](const auto& all) {
                    return std::any_of(all.begin(), all.end(),
                                       [](const Report& one) { return is_training(one); });
                  }).empty());
  }
  // The training itself would take minutes.
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
}
