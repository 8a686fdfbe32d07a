// The panels about training, through the window: they come with what they show, follow the playhead
// and move it.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <set>

#include "analysis/views/memory_counters.h"
#include "scenario/link.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/idle.h"
#include "ui/is_there.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/memory/memory_chart.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/panels/window/running.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer trained(const char* label, const char* more = "precision=fp16") {
  return run_of(label, {"workload=train", "data.name=digits", "steps=60", "scaler.enabled=true",
                        "scaler.inject_inf_at=20", more});
}

std::vector<std::uint8_t> picture_of(Driver& driver) {
  driver.settle();
  return driver.window().capture().rgba;
}

}  // namespace

TEST_CASE("the panels about training come with what they show, and not without it") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({trained("A")});
  driver->settle();
  for (const char* panel : {kSingleLossPanel, kSingleLossScalingPanel, kSingleMemoryPanel}) {
    INFO(panel);
    CHECK(is_there(panel));
  }
  CHECK(is_in_front(kSingleLossPanel));
  CHECK(is_in_front(kSingleMemoryPanel));
  driver->workspace().open_runs({run_of("A", {"workload=copy"})});
  driver->settle();
  driver->settle();
  for (const char* panel : {kSingleLossPanel, kSingleLossScalingPanel, kSingleMemoryPanel}) {
    INFO(panel);
    CHECK_FALSE(is_there(panel));
  }
  for (const char* action : {"layout.loss", "layout.loss_scaling", "layout.memory"})
    CHECK_FALSE(driver->app().can(action));
}

TEST_CASE("losses are something to see as soon as the timeline of their training is") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  Workspace& workspace = driver->workspace();
  program::Config config;
  for (const char* setting : {"workload=train", "data.name=digits", "model.name=mlp", "steps=3000"})
    config.set_text(setting);
  scenario::Link link;
  link.knobs = {config, config};
  workspace.open_link(link);
  REQUIRE(wait_for(workspace, [&] { return is_training(workspace.sides()[0]); }));
  CHECK(has_loss(workspace));
  for (int i = 0; i < 20; ++i) driver->frame();
  CHECK(is_training(workspace.sides()[0]));
  CHECK(progress_words(workspace.sides()[0]).find("Training, ") == 0);
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  workspace.cancel();
}

TEST_CASE("an action opens a panel about training, a click on its mark closes it") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs({trained("A"), trained("B", "scaler.growth_interval=10")});
  driver->settle();
  const struct {
    const char* action;
    const char* window;
    bool PanelsOpen::* open;
  } panels[] = {{"layout.loss", kLossPanel, &PanelsOpen::loss},
                {"layout.loss_scaling", kLossScalingPanel, &PanelsOpen::loss_scaling},
                {"layout.memory", kMemoryPanel, &PanelsOpen::memory}};
  for (const auto& panel : panels) {
    INFO(panel.window);
    driver->app().run(panel.action);
    driver->settle();
    CHECK(is_in_front(panel.window));
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
    REQUIRE(driver->click(std::string("//") + panel.window + "/##close"));
    CHECK_FALSE(driver->app().deck().shown.*panel.open);
    driver->app().run(panel.action);
    driver->settle();
    CHECK(is_in_front(panel.window));
  }
}

TEST_CASE("a lesson can point at a panel about training") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_runs({trained("A"), trained("B")});
  driver->settle();
  for (const auto& [name, window] :
       {std::pair{"memory", kMemoryPanel}, std::pair{"loss-scaling", kLossScalingPanel},
        std::pair{"loss", kLossPanel}}) {
    scenario::Focus focus;
    focus.panel = name;
    REQUIRE(show_focus(focus, driver->workspace(), driver->app().attention(), false));
    driver->settle();
    CHECK(is_in_front(window));
  }
}

TEST_CASE("a lesson can point at a panel and at a span together") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_runs({trained("A"), trained("B")});
  driver->settle();
  Attention& attention = driver->app().attention();
  scenario::Focus focus;
  focus.panel = "memory";
  focus.run = "B";
  focus.lane = "stream 7";
  focus.span = "gemm";
  REQUIRE(show_focus(focus, driver->workspace(), attention, true));
  REQUIRE(attention.timeline.selected.span != trace::kNone);
  const trace::Trace& trace = *driver->workspace().sides()[1].run->trace;
  CHECK_THAT(trace.name(trace.spans()[attention.timeline.selected.span]),
             Catch::StartsWith("gemm"));
  CHECK(attention.timeline.selected.side == Side::kB);
  driver->settle();
  CHECK(is_in_front(kMemoryPanel));
  focus.span = "no such kernel";
  CHECK_FALSE(show_focus(focus, driver->workspace(), attention, true));
}

TEST_CASE("of several GPUs the fullest's memory is shown, and another's when it is chosen") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const RunPointer run =
      run_of("A", {"workload=train", "machine=h100-sxm-8", "parallel.strategy=pipeline",
                   "parallel.world_size=4", "model.name=mlp", "model.layers=7", "steps=3"});
  driver->workspace().open_runs({run});
  driver->settle();
  driver->app().run("layout.memory");
  driver->settle();
  const auto gpus = analysis::memory_gpus(*run->trace);
  REQUIRE(gpus.size() == 4);
  const std::string fullest = analysis::fullest(gpus)->name;
  REQUIRE(fullest != "GPU 3");
  const auto choose = [&](const std::string& gpu) {
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      const ImGuiWindow* panel = ImGui::FindWindowByName(kSingleMemoryPanel);
      context->MouseMoveToPos({panel->Pos.x + 60, panel->Pos.y + 54});  // in the list's field
      context->MouseClick();
      context->Yield(2);
      context->ItemClick(("//$FOCUSED/" + gpu).c_str());
      context->MouseMoveToPos({2, 2});
    }));
    return picture_of(*driver);
  };
  const auto of_another = choose("GPU 3");
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  const auto of_fullest = choose(fullest);
  CHECK(of_another != of_fullest);
  CHECK(choose("GPU 3") == of_another);
}

TEST_CASE("a step that points at a panel brings it to the front") {
  REQUIRE_DRIVER(driver);
  Workspace& workspace = driver->workspace();
  workspace.open_lesson(scenario::find_lesson("memory-anatomy"));
  driver->settle();
  LessonModel& model = *workspace.lesson();
  while (model.step().kind != scenario::StepKind::kObserve) {
    if (model.step().question) model.progress.skip();
    if (model.step().kind == scenario::StepKind::kRun) {
      CHECK_FALSE(is_in_front(kMemoryPanel));
      workspace.run_lesson();
      driver->settle();
      CHECK(is_in_front(kMemoryPanel));
      driver->app().show_panel("compare");
      driver->settle();
      CHECK_FALSE(is_in_front(kMemoryPanel));
    }
    workspace.next_step();
  }
  driver->settle();
  REQUIRE(model.step().focus);
  CHECK(model.step().focus->panel == "memory");
  CHECK(is_in_front(kMemoryPanel));
}

TEST_CASE("loss scaling and memory are at the playhead") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs({trained("A")});
  driver->settle();
  for (const char* action : {"layout.loss_scaling", "layout.memory", "layout.loss"}) {
    driver->app().run(action);
    driver->workspace().playhead.time = end_of_sides(driver->workspace()) / 4;
    const auto before = picture_of(*driver);
    driver->workspace().playhead.time = end_of_sides(driver->workspace()) * 3 / 4;
    INFO(action);
    CHECK(picture_of(*driver) != before);
  }
}

TEST_CASE("a click on the loss moves the playhead to that step") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const RunPointer run = trained("A");
  driver->workspace().open_runs({run});
  driver->settle();
  const ImGuiWindow* window = ImGui::FindWindowByName(kSingleLossPanel);
  REQUIRE(window);
  const ImVec2 at{window->Pos.x + window->Size.x * 0.3F, window->Pos.y + window->Size.y * 0.5F};
  driver->workspace().playhead.time = run->trace->end();
  REQUIRE(driver->act([at](ImGuiTestContext* context) {
    context->MouseMoveToPos(at);
    context->MouseClick();
  }));
  const Nanos time = driver->workspace().playhead.time;
  CHECK(time < run->trace->end() / 2);
  bool a_step = false;
  for (std::uint32_t i = 0; i < run->trace->steps().size(); ++i)
    a_step |= run->trace->steps()[i].time == time;
  CHECK(a_step);
}

TEST_CASE(
    "the switch makes the loss logarithmic, the choice shows memory over the timelines' range") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({trained("A")});
  const auto before = picture_of(*driver);
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Loss##single/**/##log"); }));
  const auto logarithmic = picture_of(*driver);
  CHECK(logarithmic != before);
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Memory##single/**/timeline"); }));
  CHECK(picture_of(*driver) != logarithmic);
}

TEST_CASE("losses are over steps, over time where one is to be reached, and over what is chosen") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const auto choose = [&](const char* word) {
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      context->ItemClick((std::string("//Loss##single/**/") + word).c_str());
    }));
    return picture_of(*driver);
  };
  driver->workspace().open_runs({trained("A")});
  const auto over_steps = picture_of(*driver);
  CHECK(choose("steps") == over_steps);
  CHECK(choose("time") != over_steps);
  CHECK(choose("steps") == over_steps);
}

TEST_CASE("a loss to be reached is asked for over time, where a drag goes to any moment") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const RunPointer run = run_of("A", {"workload=train", "data.name=digits", "steps=60",
                                      "optimizer.lr=0.1", "loop.target_loss=2"});
  driver->workspace().open_runs({run});
  driver->workspace().playhead.time = 0;
  const auto before = picture_of(*driver);
  const auto choose = [&](const char* word) {
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      context->ItemClick((std::string("//Loss##single/**/") + word).c_str());
    }));
    return picture_of(*driver);
  };
  CHECK(choose("time") == before);
  const ImGuiWindow* window = ImGui::FindWindowByName(kSingleLossPanel);
  REQUIRE(window);
  const ImVec2 at{window->Pos.x + window->Size.x * 0.3F, window->Pos.y + window->Size.y * 0.5F};
  REQUIRE(driver->act([at](ImGuiTestContext* context) {
    context->MouseMoveToPos(at);
    context->MouseClick();
  }));
  const Nanos time = driver->workspace().playhead.time;
  CHECK(time > 0);
  CHECK(time < run->trace->end());
  for (std::uint32_t i = 0; i < run->trace->steps().size(); ++i)
    CHECK(run->trace->steps()[i].time != time);
  driver->workspace().playhead.time = 0;
  CHECK(choose("steps") != before);
}

TEST_CASE("memory has no choice of three steps where a run has no more") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  for (const int steps : {2, 3, 4}) {
    driver->workspace().open_runs(
        {run_of("A", {"workload=train", ("steps=" + std::to_string(steps)).c_str()})});
    driver->settle();
    driver->settle();
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      CHECK(context->ItemExists("//Memory##single/**/timeline") == (steps > 3));
    }));
  }
}

TEST_CASE("the list beside memory has a role that is drawn and not there at the peak") {
  const RunPointer run = run_of("A", {"workload=train", "steps=4", "optimizer.name=adamw"});
  const analysis::MemoryHistory history(*run->trace);
  MemoryColumns columns;
  const std::size_t at_peak = roles_drawn(history, columns).size();
  for (const auto& moment : history.moments()) columns.moments.push_back(&moment);
  columns.moments.push_back(nullptr);
  const std::vector<std::size_t> drawn = roles_drawn(history, columns);
  std::set<std::size_t> ever;
  for (const auto& moment : history.moments())
    for (std::size_t role = 0; role < moment.by_role.size(); ++role)
      if (moment.by_role[role] > 0) ever.insert(role);
  CHECK(std::set<std::size_t>(drawn.begin(), drawn.end()) == ever);
  CHECK(drawn.size() > at_peak);
}

TEST_CASE("what is reserved is named where its line is highest, for as long as it is") {
  using Moment = analysis::MemoryHistory::Moment;
  const Moment low{0, 1, 2, {}}, top{1, 1, 5, {}}, not_counted{2, 1, 0, {}};
  const ReservedTop once = reserved_top({nullptr, &low, &low, &top, &top, &low});
  CHECK((once.bytes == 5 && once.from == 3 && once.to == 5));
  const ReservedTop twice = reserved_top({&top, &low, &top, &top});
  CHECK((twice.from == 2 && twice.to == 4));
  // Where only a part of the run is shown, its own level.
  CHECK(reserved_top({&low, &low}).bytes == 2);
  const ReservedTop none = reserved_top({nullptr, &not_counted});
  CHECK(none.from == none.to);
}

TEST_CASE("what fits is said of the data set where that ends before the memory") {
  analysis::BatchFit fit;
  fit.largest = 4096;
  fit.largest_other = fit.most = 60'000;
  CHECK(fit_words(fit).front() ==
        "largest batch that fits: 4,096; with checkpointing at least 60,000");
  fit.all_samples = true;
  CHECK(fit_words(fit).front() ==
        "largest batch that fits: 4,096; with checkpointing all 60,000 samples");
  fit.largest = fit.most;
  CHECK(fit_words(fit).front() == "largest batch that fits: all 60,000 samples");
}

TEST_CASE("the lanes that count memory are not on the timelines until they are asked for") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs({trained("A")});
  driver->settle();
  const auto hidden = [&] {
    const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
    std::size_t count = 0;
    for (const trace::LaneId lane : input.sides[0].hidden)
      count += input.sides[0].trace->lanes()[lane].kind == trace::LaneKind::kMemory ? 1 : 0;
    return count;
  };
  CHECK(hidden() == 2);
  driver->app().run("view.memory_lanes");
  CHECK(hidden() == 0);
  driver->app().run("view.memory_lanes");
  CHECK(hidden() == 2);
}

TEST_CASE("no word is cut in the panels about training, at any size and theme") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const RunPointer a = trained("A"),
                   b = run_of("B", {"workload=train", "data.name=digits", "steps=60",
                                    "precision=bf16", "optimizer.lr=1e6"});
  for (const char* theme : {"theme.dark", "theme.projector"})
    for (const float zoom : {0.75F, 1.0F, 1.5F, 3.0F})
      for (const bool pair : {false, true}) {
        driver->app().run(theme);
        driver->app().set_zoom(zoom);
        driver->workspace().open_runs(pair ? std::vector{a, b} : std::vector{a});
        driver->settle();
        for (const char* action : {"layout.loss", "layout.loss_scaling", "layout.memory"}) {
          driver->app().run(action);
          driver->settle();
          INFO(theme << " " << zoom << " " << action << (pair ? " pair" : " single"));
          const auto cut = cut_text(*ImGui::GetDrawData());
          if (!cut.empty()) UNSCOPED_INFO(cut.front().window);
          CHECK(cut.empty());
        }
      }
}

TEST_CASE("a picture can be asked for with a panel in front") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs({trained("A"), trained("B")});
  driver->settle();
  CHECK(is_in_front(kComparePanel));
  for (const std::string& name : scenario::panel_names()) {
    if (name == "lesson") continue;
    driver->app().show_panel(name);
    driver->settle();
  }
  CHECK(is_in_front(kSweepPanel));  // the last that has something to show
  driver->app().show_panel("memory");
  driver->settle();
  CHECK(is_in_front(kMemoryPanel));
}

TEST_CASE("ten thousand steps and their allocations cost little a frame", "[.speed]") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs(
      {run_of("A", {"workload=train", "data.name=digits", "steps=10000", "precision=fp16",
                    "scaler.enabled=true", "model.hidden=16", "loop.evaluate=false"})});
  driver->settle();
  const trace::Trace& trace = *driver->workspace().sides()[0].run->trace;
  WARN(trace.steps().size() << " steps, " << trace.allocator_events().size()
                            << " allocator events, " << trace.samples().size() << " samples");
  for (const char* name : {"loss", "loss-scaling", "memory", "none"}) {
    PanelsOpen& open = driver->app().deck().shown;
    open.loss = std::string(name) == "loss";
    open.loss_scaling = std::string(name) == "loss-scaling";
    open.memory = std::string(name) == "memory";
    driver->settle();
    double worst = 0, sum = 0;
    constexpr int kFrames = 100;
    for (int i = 0; i < kFrames; ++i) {
      driver->workspace().playhead.time = end_of_sides(driver->workspace()) * (i + 1) / kFrames;
      driver->window().begin_frame();
      const auto before = std::chrono::steady_clock::now();
      driver->app().draw();
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - before;
      driver->window().end_frame();
      worst = std::max(worst, took.count());
      sum += took.count();
    }
    WARN(name << ": " << sum / kFrames << " ms a frame, at most " << worst);
  }
}
