// Runs beside A and B: kept, looked at under one axis, taken again; and where B stands to A.
#include <algorithm>
#include <catch2/catch.hpp>

#include "ui/app/views/line_up.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/is_there.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void open_pair(Driver& driver) {
  driver.workspace().open_runs(
      {run_of("A", {"workload=train", "steps=3", "batch_size=64"}),
       run_of("B", {"workload=train", "steps=3", "batch_size=512", "loader.sample_ms=0.02"})});
  driver.settle();
}

Nanos first_kernel(const trace::Trace& trace) {
  Nanos first = trace.end();
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i)
    if (trace::is_kernel(trace.spans()[i].category))
      first = std::min(first, trace.spans()[i].start);
  return first;
}

}  // namespace

TEST_CASE("B is moved along the axis until a moment of it meets A's") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  Workspace& workspace = driver->workspace();
  const trace::Trace& a = *workspace.sides()[0].view->trace;
  const trace::Trace& b = *workspace.sides()[1].view->trace;
  CHECK_FALSE(driver->app().can("align.start"));
  driver->app().run("align.first_kernel");
  CHECK(first_kernel(a) == first_kernel(b) + workspace.playhead.offset);
  CHECK(workspace.playhead.offset != 0);
  // What stands below the playhead is B's own moment.
  workspace.playhead.time = first_kernel(a);
  CHECK(playhead_of(workspace, 1) == first_kernel(b));
  CHECK(playhead_of(workspace, 0) == first_kernel(a));
  driver->app().run("align.step");
  const Nanos by_step = workspace.playhead.offset;
  CHECK(by_step <= a.end());
  driver->app().run("align.start");
  CHECK(workspace.playhead.offset == 0);
}

TEST_CASE("the selected span and its namesake begin together, whichever side it is of") {
  const RunPointer a = run_of("A", {"workload=train", "steps=3"});
  const RunPointer b = run_of("B", {"workload=train", "steps=3", "loader.sample_ms=0.05"});
  const TraceView in_a = index_trace(a->trace), in_b = index_trace(b->trace);
  const auto is_named = [](const trace::Trace& trace, trace::SpanId span) {
    return trace::is_kernel(trace.spans()[span].category);
  };
  trace::SpanId span = 0;
  while (!is_named(*a->trace, span)) ++span;
  const auto offset = offset_to_meet(*in_a, *in_b, false, span);
  REQUIRE(offset);
  const std::string& name = a->trace->name(a->trace->spans()[span]);
  trace::SpanId other = 0;
  while (b->trace->name(b->trace->spans()[other]) != name) ++other;
  CHECK(b->trace->spans()[other].start + *offset == a->trace->spans()[span].start);
  CHECK(offset_to_meet(*in_a, *in_b, true, other) == offset);
  CHECK(offset_to_meet(LineUp::kStart, *in_a, *in_b, 0) == Nanos{0});
  // A run against itself stands as it is.
  for (const LineUp how : {LineUp::kFirstKernel, LineUp::kStep})
    CHECK(offset_to_meet(how, *in_a, *in_a, a->trace->end() / 2) == Nanos{0});
}

namespace {

// Backward's first kernels of all passes over the batch.
std::vector<trace::SpanId> backward_begins(const trace::Trace& trace) {
  std::vector<trace::SpanId> kernels;
  for (trace::SpanId i = 0, n = trace.spans().size(); i < n; ++i)
    if (trace::is_kernel(trace.spans()[i].category)) kernels.push_back(i);
  std::ranges::sort(kernels, {}, [&](trace::SpanId i) { return trace.spans()[i].start; });
  std::vector<trace::SpanId> begins;
  bool within = false;
  for (const trace::SpanId i : kernels) {
    const bool backward = trace.spans()[i].category == trace::Category::kBackward;
    if (backward && !within) begins.push_back(i);
    within = backward;
  }
  return begins;
}

}  // namespace

TEST_CASE("a span stands below its like: the same pass of its line or phase in the same step") {
  const RunPointer a = run_of("A", {"workload=train", "steps=3", "batch_size=64"});
  const RunPointer in_four =
      run_of("B", {"workload=train", "steps=3", "batch_size=16", "accumulate_steps=4"});
  const auto mine = backward_begins(*a->trace), theirs = backward_begins(*in_four->trace);
  REQUIRE(mine.size() == 3);
  REQUIRE(theirs.size() == 12);
  const auto start = [](const RunPointer& run, trace::SpanId id) {
    return run->trace->spans()[id].start;
  };
  // A has one pass, B four: its second stands below A's only one, and A's above B's first.
  CHECK(offset_to_compare(*a, *in_four, true, theirs[5]) ==
        start(a, mine[1]) - start(in_four, theirs[5]));
  CHECK(offset_to_compare(*a, *in_four, false, mine[1]) ==
        start(a, mine[1]) - start(in_four, theirs[4]));
  // The line reads otherwise there, but the phase is the same.
  const RunPointer scaled = run_of(
      "B", {"workload=train", "steps=3", "batch_size=64", "precision=fp16", "scaler.enabled=true"});
  const auto of_scaled = backward_begins(*scaled->trace);
  REQUIRE(of_scaled.size() == 3);
  CHECK(offset_to_compare(*a, *scaled, false, mine[2]) ==
        start(a, mine[2]) - start(scaled, of_scaled[2]));
  // A mark of a step stands below that step's, and where there is no such step nothing does.
  const RunPointer one = run_of("B", {"workload=train", "steps=1", "batch_size=64"});
  CHECK_FALSE(offset_to_compare(*a, *one, false, mine[2]));
  CHECK(offset_to_compare(*a, *a, true, mine[2]) == Nanos{0});
}

TEST_CASE("B's strip is dragged along the axis, and A's is not") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  const auto drag = [&](float y) {
    const ImGuiWindow* window = ImGui::FindWindowByName(kTimelinesPanel);
    REQUIRE(window);
    const ImVec2 from{window->Pos.x + window->Size.x * 0.6F, y};
    return driver->act([from](ImGuiTestContext* context) {
      context->MouseMoveToPos(from);
      context->MouseDown();
      context->MouseMoveToPos({from.x + 40, from.y});
      context->MouseMoveToPos({from.x + 90, from.y});
      context->MouseUp();
    });
  };
  // Somewhere below the middle B's strip is: one finds it by going down.
  const ImGuiWindow* window = ImGui::FindWindowByName(kTimelinesPanel);
  REQUIRE(window);
  bool moved = false;
  const TimeRange before = driver->app().attention().timeline.view;
  const double nanos_per_pixel = static_cast<double>(before.end - before.start) / window->Size.x;
  for (float share = 0.40F; share < 0.75F && !moved; share += 0.03F) {
    REQUIRE(drag(window->Pos.y + window->Size.y * share));
    moved = driver->workspace().playhead.offset != 0;
  }
  REQUIRE(moved);
  // No further than that the runs still touch.
  const Nanos most = driver->workspace().sides()[0].view->trace->end();
  CHECK(driver->workspace().playhead.offset >=
        std::min(most, static_cast<Nanos>(80 * nanos_per_pixel)));
  CHECK(driver->workspace().playhead.offset < static_cast<Nanos>(140 * nanos_per_pixel));
}

TEST_CASE("a run that is kept stays as knobs are turned, and B takes its knobs again") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  Workspace& workspace = driver->workspace();
  const RunPointer first = workspace.sides()[1].run;
  driver->app().run("runs.keep_b");
  driver->settle();
  CHECK(is_there(kRunsPanel));
  REQUIRE(workspace.kept.all().size() == 1);
  CHECK_FALSE(driver->app().can("runs.keep_b"));  // it is kept already
  workspace.set_knob(1, "batch_size", std::int64_t{128});
  driver->settle();
  CHECK(workspace.kept.all()[0].run == first);
  CHECK(workspace.sides()[1].run != first);
  REQUIRE(driver->click("//Runs##pair/**/take"));
  CHECK(workspace.sides()[1].config.whole("batch_size") == 512);
  CHECK(workspace.sides()[1].run->metrics.size() == first->metrics.size());
  for (const std::int64_t batch : {32, 96, 160, 224}) {
    workspace.set_knob(1, "batch_size", batch);
    driver->settle();
    driver->app().run("runs.keep_b");
  }
  CHECK(workspace.kept.all().size() == KeptRuns::kMost);
  CHECK_FALSE(driver->app().can("runs.keep_a"));
  REQUIRE(
      driver->act([](ImGuiTestContext* context) { context->ItemClick("//Runs##pair/**/1/drop"); }));
  CHECK(workspace.kept.all().size() == KeptRuns::kMost - 1);
  CHECK(workspace.kept.all()[0].name == "2");
}

TEST_CASE("a metric is chosen by the name that the comparison calls it by") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  driver->app().run("runs.keep_b");
  driver->settle();
  const Picture before = driver->window().capture();
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    const ImGuiWindow* panel = ImGui::FindWindowByName("Runs##pair");
    const ImVec2 list{panel->Pos.x + panel->Size.x - 80, panel->Pos.y + 50};
    context->MouseMoveToPos(list);
    context->MouseClick();
    context->Yield(2);
    context->ItemClick("//$FOCUSED/whole run##time.total");
  }));
  CHECK(driver->window().capture().rgba != before.rgba);
}

TEST_CASE("nothing is kept before a lesson's result") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  for (const char* action :
       {"runs.keep_a", "runs.keep_b", "layout.runs", "align.first_kernel", "layout.operations"})
    CHECK_FALSE(driver->app().can(action));
}

TEST_CASE("nothing of the runs' words is cut, in any theme and size") {
  for (const auto& [width, height] :
       {std::pair{1280, 720}, std::pair{1920, 1080}, std::pair{3840, 2160}})
    for (const ThemeMode mode : kThemeModes) {
      REQUIRE_DRIVER(driver, width, height);
      driver->app().set_theme(mode);
      open_pair(*driver);
      for (const std::int64_t batch : {32, 96, 160, 224}) {
        driver->workspace().set_knob(1, "batch_size", batch);
        driver->settle();
        driver->app().run("runs.keep_b");
      }
      driver->app().run("align.first_kernel");
      driver->settle();
      CAPTURE(width, name_of(mode));
      CHECK(is_there(kRunsPanel));
      CHECK(letters(*ImGui::GetDrawData()) > 300);
      for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
        FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
    }
}
