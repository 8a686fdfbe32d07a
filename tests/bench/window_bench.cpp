// The window as a person feels it: from the start to the first picture, and from a knob that is
// let go to both timelines.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "bench/bench.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "ui/app/application.h"

namespace trainscope::bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool settled(ui::Workspace& workspace) {
  workspace.take_reports();
  return !workspace.busy();
}

void settle(ui::Workspace& workspace) {
  while (!settled(workspace)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Followed {
  double drawn = 0;  // ms until both sides have a newer timeline, of a part or of all of the run
  double whole = 0;  // ms until both are complete, with what they trained
};

// Another seed runs all of both sides anew.
Followed follow(ui::Workspace& workspace, std::int64_t seed) {
  const ui::TraceView a = workspace.sides()[0].view, b = workspace.sides()[1].view;
  const auto start = Clock::now();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    workspace.set_knob(side, "seed", seed);
  Followed followed;
  while (!settled(workspace)) {
    if (followed.drawn == 0 && workspace.sides()[0].view != a && workspace.sides()[1].view != b)
      followed.drawn = milliseconds_since(start);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  followed.whole = milliseconds_since(start);
  if (followed.drawn == 0) followed.drawn = followed.whole;
  return followed;
}

void bench_lesson(const scenario::Lesson& lesson) {
  constexpr int kTimes = 5;
  ui::Workspace workspace([] {});
  scenario::Link link;
  link.knobs = {lesson.side("A"), lesson.side("B")};
  workspace.open_link(link);
  settle(workspace);
  std::vector<double> drawn, whole;
  for (int i = 1; i <= kTimes; ++i) {
    const Followed followed = follow(workspace, i);
    drawn.push_back(followed.drawn);
    whole.push_back(followed.whole);
  }
  std::sort(drawn.begin(), drawn.end());
  std::sort(whole.begin(), whole.end());
  fmt::print("  {:<34} {:8.1f} ms {:8.1f} ms\n", lesson.id, drawn[kTimes / 2], whole[kTimes / 2]);
}

}  // namespace

void bench_window() try {
  const auto start = Clock::now();
  ui::Window window({.off_screen = true});
  ui::Application app(window, ui::ThemeMode::kDark);
  window.begin_frame();
  app.draw();
  window.end_frame();
  fmt::print("\nthe window: {:.0f} ms to the first picture, off screen\n",
             milliseconds_since(start));
  fmt::print("\nboth sides follow a knob: first newer timelines, and all of them (medians)\n");
  for (const scenario::Lesson& lesson : scenario::all_lessons()) bench_lesson(lesson);
} catch (const MissingError& error) {
  fmt::print("  left out: {}\n", error.what());
}

}  // namespace trainscope::bench
