// The playhead: its words, its steps over events, A and B by time or by step; runs that take long.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include <imgui_internal.h>

#include "base/temporary_folder.h"
#include "ui/app/views/moment.h"
#include "ui/app/window/trainscope_window.h"
#include "ui/kept_pictures.h"
#include "ui/panels/comparison/code.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// A trace with steps that begin at these times; the last ends at the last one.
TraceView steps_at(const std::vector<Nanos>& times, Nanos end) {
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  trace::Lane lane;
  lane.name = "steps";
  lane.kind = trace::LaneKind::kSteps;
  trace->add_lane(lane);
  lane.name = "host main";
  lane.kind = trace::LaneKind::kHostThread;
  trace->add_lane(lane);
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    trace::Span span;
    span.start = times[i];
    span.duration = times[i + 1] - times[i];
    span.name = trace->intern("ProfilerStep#" + std::to_string(i));
    span.category = trace::Category::kAnnotation;
    trace->add_span(span);
  }
  trace::Span tail;
  tail.lane = 1;
  tail.start = times.front();
  tail.duration = end - times.front();
  tail.name = trace->intern("work");
  trace->add_span(tail);
  return index_trace(trace);
}

void open_pair(Driver& driver, const char* batch_of_b = "batch_size=64") {
  driver.workspace().open_runs(
      {run_of("A", {"workload=train", "steps=6", "loader.pin_memory=false"}),
       run_of("B", {"workload=train", "steps=6", "loader.pin_memory=true", batch_of_b})});
  driver.settle();
}

void press(Driver& driver, ImGuiKey key) {
  REQUIRE(driver.act([key](ImGuiTestContext* context) {
    context->MouseMoveToPos({700, 20});
    context->KeyPress(key);
  }));
}

}  // namespace

TEST_CASE("by step, B stands in the same step at the same share of it") {
  const TraceView a = steps_at({100, 200, 300}, 400), b = steps_at({10, 30, 40}, 80);
  CHECK(same_step(*a, *b, 0) == 0);
  CHECK(same_step(*a, *b, 50) == 5);
  CHECK(same_step(*a, *b, 100) == 10);
  CHECK(same_step(*a, *b, 150) == 20);
  CHECK(same_step(*a, *b, 250) == 35);
  CHECK(same_step(*a, *b, 350) == 60);
  CHECK(same_step(*a, *b, 400) == 80);
  CHECK(same_step(*a, *b, 9999) == 80);
  // A step that the other side does not have.
  const TraceView one = steps_at({10, 30}, 80);
  CHECK(same_step(*a, *one, 150) == 20);
  CHECK(same_step(*a, *one, 250) == 80);
  CHECK(same_step(*a, *one, 350) == 55);
  CHECK(has_steps(*a));
}

TEST_CASE("alignment by step maps forth and back, and never runs backwards") {
  const TraceView a = steps_at({100, 217, 390}, 811), b = steps_at({31, 77, 99}, 203);
  Nanos last = 0;
  for (Nanos time = 0; time <= 811; ++time) {
    const Nanos there = same_step(*a, *b, time);
    CHECK(there >= last);
    CHECK(std::abs(same_step(*b, *a, there) - time) <= 6);
    last = there;
  }
}

TEST_CASE("the playhead names the step that launched the GPU's work, not the one the host is in") {
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  const auto lane = [&](const char* name, trace::LaneKind kind) {
    trace::Lane added;
    added.name = name;
    added.kind = kind;
    return trace->add_lane(added);
  };
  const auto add = [&](trace::LaneId where, const char* name, trace::Category category, Nanos start,
                       Nanos end, std::uint32_t correlation) {
    trace::Span span;
    span.lane = where;
    span.name = trace->intern(name);
    span.category = category;
    span.start = start;
    span.duration = end - start;
    span.correlation = correlation;
    trace->add_span(span);
  };
  using trace::Category;
  const trace::LaneId steps = lane("steps", trace::LaneKind::kSteps);
  const trace::LaneId host = lane("host main", trace::LaneKind::kHostThread);
  const trace::LaneId stream = lane("stream 7", trace::LaneKind::kStream);
  add(steps, "time.perf_counter()", Category::kAnnotation, 0, 5, 0);
  add(steps, "ProfilerStep#0", Category::kAnnotation, 10, 40, 0);
  add(steps, "ProfilerStep#1", Category::kAnnotation, 40, 60, 0);
  add(steps, "time.perf_counter()", Category::kAnnotation, 45, 50, 0);
  add(host, "cudaLaunchKernel", Category::kHostApi, 30, 35, 3);
  add(host, "cudaLaunchKernel", Category::kHostApi, 44, 48, 4);
  add(stream, "kernel", Category::kBackward, 42, 70, 3);
  add(stream, "kernel", Category::kForward, 70, 90, 4);
  const TraceView view = index_trace(trace);
  CHECK(state_at(*view, 2) == "idle");
  CHECK(state_at(*view, 32) == "step 0, host: cudaLaunchKernel");
  CHECK(state_at(*view, 46) == "step 0, backward");
  CHECK(state_at(*view, 80) == "step 1, forward");
  CHECK(has_steps(*view));
}

TEST_CASE("the state of each side is named beside the playhead") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver);
  driver->workspace().playhead.time = end_of_sides(driver->workspace()) / 3;
  const std::string words =
      timeline_input(driver->workspace(), driver->app().attention()).playhead_text;
  CHECK(words.starts_with("A: step "));
  CHECK(words.find("B: ") != std::string::npos);
}

TEST_CASE("a click in the panel's head aligns A and B by step, with a line for each") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver, "batch_size=4096");
  Workspace& workspace = driver->workspace();
  workspace.playhead.time = workspace.sides()[0].view->trace->end() / 2;
  CHECK(playhead_of(workspace, 1) == playhead_of(workspace, 0));
  REQUIRE(driver->click("//Timelines##pair/play.align"));
  CHECK(workspace.playhead.by_step);
  const TimelineInput input = timeline_input(workspace, driver->app().attention());
  REQUIRE(input.sides[1].playhead);
  CHECK(*input.sides[0].playhead == workspace.playhead.time);
  CHECK(*input.sides[1].playhead == playhead_of(workspace, 1));
  CHECK(playhead_of(workspace, 1) != workspace.playhead.time);
  const auto step = [](const std::string& words) { return words.substr(0, words.find(',')); };
  CHECK(step(state_at(*workspace.sides()[0].view, playhead_of(workspace, 0))) ==
        step(state_at(*workspace.sides()[1].view, playhead_of(workspace, 1))));
  REQUIRE(driver->click("//Timelines##pair/play.align"));
  CHECK_FALSE(workspace.playhead.by_step);
}

TEST_CASE("keys and buttons step over the events of both sides") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver);
  Workspace& workspace = driver->workspace();
  for (const bool by_step : {false, true}) {
    INFO(by_step);
    workspace.playhead.by_step = by_step;
    workspace.playhead.time = workspace.sides()[0].view->trace->end() / 2;
    Nanos at = workspace.playhead.time;
    const Nanos expected = std::min(next_event(*workspace.sides()[0].view, at),
                                    next_event(*workspace.sides()[1].view, at));
    press(*driver, ImGuiKey_Period);
    CHECK(workspace.playhead.time > at);
    if (!by_step) CHECK(workspace.playhead.time == expected);
    for (int i = 0; i < 4; ++i) {
      at = workspace.playhead.time;
      REQUIRE(driver->click("//##top bar/next"));
      CHECK(workspace.playhead.time > at);
    }
    for (int i = 0; i < 4; ++i) {
      at = workspace.playhead.time;
      press(*driver, ImGuiKey_Comma);
      CHECK(workspace.playhead.time < at);
    }
    REQUIRE(driver->click("//##top bar/end"));
    CHECK(workspace.playhead.time == playhead_end(workspace));
    REQUIRE(driver->click("//##top bar/start"));
    CHECK(workspace.playhead.time == 0);
  }
}

TEST_CASE("playing moves the playhead at the chosen speed, and Space stops it") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver);
  Workspace& workspace = driver->workspace();
  workspace.playhead.time = 0;
  workspace.playhead.seconds = 60;
  driver->app().run("play.speed");
  CHECK(workspace.playhead.seconds == 5);
  driver->app().run("play.toggle");
  driver->frame();
  const Nanos before = workspace.playhead.time;
  ImGui::GetIO().DeltaTime = 0.05F;
  driver->frame();
  CHECK(workspace.playhead.time > before);
  driver->app().run("play.toggle");
  driver->settle();
  CHECK_FALSE(workspace.playhead.playing);
}

TEST_CASE("dragging on the axis scrubs, and the listing follows") {
  REQUIRE_DRIVER(driver);
  open_pair(*driver);
  Workspace& workspace = driver->workspace();
  const ImGuiWindow* panel = ImGui::FindWindowByName("Timelines##pair");
  REQUIRE(panel);
  const ImVec2 at{panel->Pos.x + panel->Size.x * 0.4F, panel->Pos.y + 50};
  const ImVec2 to{panel->Pos.x + panel->Size.x * 0.7F, panel->Pos.y + 50};
  workspace.playhead.time = 0;
  Nanos pressed = 0;
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->MouseMoveToPos(at);
    context->MouseDown(0);
    context->Yield(2);
    pressed = workspace.playhead.time;
    context->MouseMoveToPos(to);
    context->MouseUp(0);
  }));
  CHECK(pressed > 0);
  CHECK(workspace.playhead.time > pressed);
  std::vector<std::uint16_t> lines;
  for (Nanos i = 0; i < 40; ++i) {
    workspace.playhead.time = end_of_sides(workspace) * i / 40;
    driver->app().attention().timeline.hovered = {};
    lines.push_back(lit_line(workspace, driver->app().attention()));
  }
  std::sort(lines.begin(), lines.end());
  CHECK(std::unique(lines.begin(), lines.end()) - lines.begin() > 3);
}

TEST_CASE("a long run shows how far it is, leaves the window fluid, and can be cancelled") {
  REQUIRE_DRIVER(driver);
  using Clock = std::chrono::steady_clock;
  Workspace& workspace = driver->workspace();
  open_pair(*driver);
  workspace.set_knob(0, "steps", std::int64_t{100000});
  REQUIRE(workspace.busy());
  std::vector<double> frames;
  const auto begun = Clock::now();
  const auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  while (seconds(Clock::now() - begun) < 20 && workspace.busy() &&
         (seconds(Clock::now() - begun) < 1.5 || workspace.sides()[0].progress.spans == 0)) {
    const auto before = Clock::now();
    driver->frame();
    frames.push_back(seconds(Clock::now() - before));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(workspace.busy());
  const auto& progress = workspace.sides()[0].progress;
  CHECK(progress.spans > 0);
  CHECK(progress.share > 0);
  CHECK(progress.share < 1);
  std::sort(frames.begin(), frames.end());
  WARN("frames while it runs: median " << 1e3 * frames[frames.size() / 2] << " ms, worst "
                                       << 1e3 * frames.back() << " ms of " << frames.size());
  CHECK(driver->app().can("run.cancel"));
  // The engine's clicks draw frames; settling would wait for the run.
  driver->app().run("run.cancel");
  CHECK_FALSE(workspace.busy());
  CHECK(workspace.sides()[0].error.find("cancelled at") != std::string::npos);
  CHECK_FALSE(workspace.sides()[0].run);
  CHECK(workspace.sides()[1].run);
  driver->settle();
  workspace.reset_knobs();
  driver->settle();
  CHECK(workspace.sides()[0].run);
  CHECK(workspace.sides()[0].error.empty());
}

TEST_CASE("the Cancel button stops a run") {
  REQUIRE_DRIVER(driver);
  Workspace& workspace = driver->workspace();
  open_pair(*driver);
  workspace.set_knob(0, "steps", std::int64_t{100000});
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    for (int i = 0; i < 2000 && !context->ItemExists("//##running/Cancel"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      context->Yield();
    }
    context->ItemClick("//##running/Cancel");
  }));
  CHECK_FALSE(workspace.busy());
  CHECK_FALSE(workspace.sides()[0].run);
}

TEST_CASE("playing pauses where a lesson's step says, and goes on from there") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("pinned-vs-pageable");
  Workspace& workspace = driver->workspace();
  while (workspace.lesson()->step().id != "why") {
    if (driver->app().can("lesson.skip")) driver->app().run("lesson.skip");
    driver->app().run("lesson.next");
    driver->settle();
  }
  const auto pause = pause_time(workspace);
  REQUIRE(pause);
  CHECK(*pause > 0);
  workspace.playhead.time = 0;
  workspace.playhead.seconds = 0.01;
  const auto play_until_it_stops = [&] {
    driver->app().run("play.toggle");
    for (int i = 0; i < 400; ++i) {
      driver->frame();
      if (i > 2 && !workspace.playhead.playing) break;
    }
    CHECK_FALSE(workspace.playhead.playing);
  };
  play_until_it_stops();
  CHECK(workspace.playhead.time == *pause);
  play_until_it_stops();
  CHECK(workspace.playhead.time == playhead_end(workspace));
  driver->app().run("lesson.next");  // this step has its own, of B
  driver->settle();
  const auto next = pause_time(workspace);
  REQUIRE(next);
  set_offset(workspace, 1000);
  CHECK(pause_time(workspace) == *next + 1000);
}

TEST_CASE("a side is marked as done sooner only where that makes it the faster one") {
  REQUIRE_DRIVER(driver);
  const auto markers = [&](const char* lesson) {
    walk_to_result(*driver, lesson);
    const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
    return input.sides[0].markers.size() + input.sides[1].markers.size();
  };
  CHECK(markers("pinned-vs-pageable") == 1);
  CHECK(markers("batch-size") == 0);
  CHECK(markers("num-workers") == 0);
  CHECK(markers("ddp-deadlock") == 0);
}

TEST_CASE("of runs with other numbers of steps none is done sooner") {
  REQUIRE_DRIVER(driver);
  const scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const auto run = [&](const char* side, const char* steps) {
    program::Config config = lesson.side(side);
    config.set_text(steps);
    return std::make_shared<analysis::Run>(analysis::run_config(side, config));
  };
  const auto markers = [&](const char* steps_of_a) {
    driver->workspace().open_runs({run("A", steps_of_a), run("B", "steps=6")});
    driver->settle();
    const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
    return input.sides[0].markers.size() + input.sides[1].markers.size();
  };
  CHECK(markers("steps=6") == 1);
  CHECK(markers("steps=3") == 0);
}

TEST_CASE("a listing that is followed anew stands the same, wherever it was scrolled") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "dp-vs-ddp");
  driver->app().show_panel("code");
  driver->settle();
  ImGuiWindow* listing = nullptr;
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (std::string_view(window->Name).find("##listing") != std::string_view::npos)
      listing = window;
  REQUIRE(listing);
  REQUIRE(listing->ScrollMax.y > 0);
  std::vector<float> stands;
  for (const float from : {0.0F, listing->ScrollMax.y / 2, listing->ScrollMax.y}) {
    ImGui::SetScrollY(listing, from);
    driver->settle();
    driver->app().attention().followed_line = 0;
    driver->settle();
    stands.push_back(listing->Scroll.y);
  }
  CHECK(stands[1] == stands[0]);
  CHECK(stands[2] == stands[0]);
}

TEST_CASE("a picture's timelines are drawn where its playhead is") {
  std::string why_not;
  if (!open_driven<Driver>(why_not)) TRAINSCOPE_SKIP(why_not);
  const test::TemporaryFolder folder;
  PictureRequest request;
  request.lesson = scenario::find_lesson("num-workers");
  request.width = 1366;
  request.height = 768;
  for (const char* label : {"A", "B"})
    request.runs.push_back(
        std::make_shared<analysis::Run>(analysis::run_config(label, request.lesson->side(label))));
  const auto at = [&](Nanos time) {
    request.playhead = time;
    const auto file = folder.path() / (std::to_string(time) + ".png");
    draw_picture(request, file);
    return read_png(file);
  };
  // The lesson looks at its steps after 308 ms, and there only workers start before.
  const Picture late = at(310 * kMillisecond), early = at(30 * kMillisecond);
  CHECK(difference(late, early).share > 0.02);
  CHECK(difference(early, at(31 * kMillisecond)).share < 0.005);  // which is in sight
}
