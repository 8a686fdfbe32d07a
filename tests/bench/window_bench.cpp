// The window as a person feels it: from the start to the first picture, and from a knob that is
// let go to both timelines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "bench/bench.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "ui/app/window/application.h"

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

constexpr double kTarget = 100;  // ms

// ms from a knob that is let go until both sides have
struct Followed {
  double drawn = 0;     // a newer timeline, of a part or of all of the run
  double complete = 0;  // the whole timeline
  double whole = 0;     // the finished run, with what it trained
};

bool is_complete(const ui::SideModel& side) {
  return !side.busy || side.progress.complete;
}

// Another seed runs all of both sides anew.
Followed follow(ui::Workspace& workspace, std::int64_t seed) {
  const auto& sides = workspace.sides();
  const ui::TraceView a = sides[0].view, b = sides[1].view;
  const auto start = Clock::now();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    workspace.set_knob(side, "seed", seed);
  Followed followed;
  while (!settled(workspace)) {
    const bool drawn = sides[0].view != a && sides[1].view != b;
    if (followed.drawn == 0 && drawn) followed.drawn = milliseconds_since(start);
    if (followed.complete == 0 && drawn && is_complete(sides[0]) && is_complete(sides[1]))
      followed.complete = milliseconds_since(start);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  followed.whole = milliseconds_since(start);
  if (followed.drawn == 0) followed.drawn = followed.whole;
  if (followed.complete == 0) followed.complete = followed.whole;
  return followed;
}

double median_of(const std::vector<Followed>& times, double Followed::* of) {
  std::vector<double> values;
  for (const Followed& one : times) values.push_back(one.*of);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Followed bench_lesson(const scenario::Lesson& lesson) {
  constexpr int kTimes = 5;
  ui::Workspace workspace([] {});
  scenario::Link link;
  link.knobs = {lesson.side("A"), lesson.side("B")};
  workspace.open_link(link);
  settle(workspace);
  std::vector<Followed> times;
  for (int i = 1; i <= kTimes; ++i) times.push_back(follow(workspace, i));
  const Followed median{median_of(times, &Followed::drawn), median_of(times, &Followed::complete),
                        median_of(times, &Followed::whole)};
  fmt::print("  {:<36} {:8.1f} ms {:8.1f} ms {:8.1f} ms\n", lesson.id, median.drawn,
             median.complete, median.whole);
  return median;
}

void print_over(const char* what, const std::vector<std::string>& lessons) {
  fmt::print("{} over {:.0f} ms: {}{}\n", what, kTarget, lessons.size(),
             lessons.empty() ? "" : fmt::format(" ({})", fmt::join(lessons, ", ")));
}

void bench_knobs() {
  fmt::print("\nboth sides follow a knob (medians)\n  {:<36} {:>11} {:>11} {:>11}\n", "lesson",
             "first newer", "complete", "trained");
  std::vector<std::string> drawn, complete;
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    const Followed followed = bench_lesson(lesson);
    if (followed.drawn > kTarget) drawn.push_back(lesson.id);
    if (followed.complete > kTarget) complete.push_back(lesson.id);
  }
  print_over("lessons whose first newer timelines take", drawn);
  print_over("lessons whose complete timelines take", complete);
}

}  // namespace

void bench_window() try {
  const auto start = Clock::now();
  ui::Window window({.off_screen = true});
  ui::Application app(window, ui::ThemeMode::kDark);
  window.begin_frame();
  app.draw();
  window.end_frame();
  window.capture();
  fmt::print("\nthe window: {:.0f} ms to the first picture, off screen\n",
             milliseconds_since(start));
  bench_knobs();
} catch (const MissingError& error) {
  fmt::print("  left out: {}\n", error.what());
}

}  // namespace trainscope::bench
