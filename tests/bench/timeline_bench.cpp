// The timeline at scale: ten million spans of a training run opened, indexed and drawn at every
// zoom; and a trace that grows by a million spans a second while it is drawn. Frames are timed by
// the processor time of their own thread, so that other work on the machine counts little.
#include <fmt/format.h>
#include <imgui.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "analysis/runs/run_file.h"
#include "base/error.h"
#include "bench/bench.h"
#include "ui/app/views/timeline_search.h"
#include "ui/app/window/window.h"
#include "ui/app/workspace/indexed_trace.h"
#include "ui/timeline/view.h"

namespace trainscope::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Processor time of this thread.
double busy_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The same of the whole process.
double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A window off screen with nothing but a timeline. Only the timeline's own work is timed: layout
// and draw lists, not the drawing of triangles, which off screen the processor does.
class Stage {
 public:
  Stage() : window_({.width = 1920, .height = 1080, .scale = 1, .off_screen = true}) {
    theme_ = ui::make_theme(ui::ThemeMode::kDark, window_.scale(), window_.fonts());
    ui::apply(theme_);
  }

  void show(const ui::TraceView& view) {
    view_ = view;
    ui::TimelineSide side;
    side.trace = view->trace.get();
    side.index = &view->index;
    side.draw = &view->draw;
    input.sides = {side};
  }

  // Seconds of the processor for one frame of the timeline.
  double frame() {
    window_.begin_frame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1920, 1080});
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration);
    const double start = busy_seconds();
    ui::draw_timeline("timeline", theme_, input, state);
    const double took = busy_seconds() - start;
    ImGui::End();
    window_.end_frame();
    return took;
  }

  ui::TimelineInput input;
  ui::TimelineState state;

 private:
  ui::Window window_;
  ui::Theme theme_;
  ui::TraceView view_;
};

// The median of a few frames of one view.
double frame_of(Stage& stage, ui::TimeRange view) {
  constexpr int kFrames = 5;
  stage.state.view = stage.state.target = view;
  stage.state.progress = 1;
  stage.state.fitted = false;
  std::vector<double> times;
  for (int i = 0; i < kFrames; ++i) times.push_back(stage.frame());
  std::sort(times.begin(), times.end());
  return times[kFrames / 2];
}

// At every zoom from the whole run down to a microsecond, at a few places each: the mean of all,
// and the worst of each zoom.
void draw_at_every_zoom(Stage& stage, const char* what) {
  constexpr int kPlaces = 5;
  const Nanos end = stage.input.sides[0].trace->end();
  double sum = 0, worst = 0;
  int views = 0;
  std::string zooms;
  for (Nanos span = end; span > kMicrosecond; span /= 2) {
    double here = 0;
    for (int place = 0; place < kPlaces; ++place, ++views) {
      const Nanos start = (end - span) / kPlaces * place;
      const double frame = frame_of(stage, {start, start + span});
      sum += frame;
      here = std::max(here, frame);
    }
    worst = std::max(worst, here);
    zooms += fmt::format(" {:.2f}", here * 1e3);
  }
  fmt::print("  {}: {:.2f} ms a frame on average of {} views, {:.2f} ms at most\n", what,
             sum / views * 1e3, views, worst * 1e3);
  fmt::print("    the worst at each zoom, of the whole run, half of it, ...:{}\n", zooms);
}

std::size_t bytes_of(const ui::IndexedTrace& view) {
  std::size_t bytes = view.trace->spans().size() * sizeof(trace::Span);
  for (const trace::LaneIndex& lane : view.index.lanes)
    for (const trace::Row& row : lane.rows) bytes += row.spans.capacity() * sizeof(trace::SpanId);
  for (const auto& rows : view.draw.rows)
    for (const ui::DrawRow& row : rows) {
      bytes += row.starts.capacity() * sizeof(Nanos) + row.ends.capacity() * sizeof(Nanos) +
               row.block_starts.capacity() * sizeof(Nanos) +
               row.categories.capacity() * sizeof(trace::Category) +
               row.times.capacity() * sizeof(ui::CategoryTimes);
      for (const ui::FoldLevel& level : row.levels)
        bytes += level.folds.capacity() * sizeof(ui::Fold);
    }
  return bytes;
}

std::filesystem::path save_run(int steps) {
  program::Config config;
  config.set_text("workload=train");
  config.set_text("model.name=resnet18");
  config.set_text("steps=" + std::to_string(steps));
  analysis::SavedRuns saved;
  saved.runs = {std::make_shared<const analysis::Run>(analysis::run_config("A", config))};
  const auto file = std::filesystem::temp_directory_path() /
                    ("trainscope-timeline-" + std::to_string(::getpid()) + ".tsrun");
  analysis::save_runs(saved, file);
  return file;
}

// What a step takes of the clock, and of the processor.
template <typename Step>
void say(const char* what, const Step& step) {
  const auto start = Clock::now();
  const double busy = process_seconds();
  step();
  fmt::print("  {} in {:.2f} s, {:.2f} s of the processor\n", what, seconds_since(start),
             process_seconds() - busy);
}

void bench_large_run(Stage& stage) {
  const std::filesystem::path file = save_run(11'600);
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  analysis::SavedRuns saved;
  ui::TraceView view;
  say("until it can be drawn", [&] {
    say("  read", [&] { saved = analysis::read_runs(file); });
    say("  indexed", [&] { view = ui::index_trace(saved.runs[0]->trace); });
    say("  drawn first", [&] {
      stage.show(view);
      stage.frame();
    });
  });
  std::filesystem::remove(file);
  say("then until its metrics are there",
      [&] { analysis::analysed(*saved.runs[0], file.string()); });
  const double spans = view->trace->spans().size();
  fmt::print("  {:.1f} M spans, {:.0f} MB; {:.1f} B a span in memory, indices included\n",
             spans / 1e6, megabytes, static_cast<double>(bytes_of(*view)) / spans);
  draw_at_every_zoom(stage, "drawn");
  ui::TimelineSearch search;
  search.open = true;
  search.words = "backward";
  say("searched", [&] { ui::refresh(search, stage.input); });
  stage.input.sides[0].matches = search.matches(0);
  draw_at_every_zoom(stage, "drawn with what was found");
}

// Many short lanes, all in sight at once.
void bench_many_lanes(Stage& stage) {
  constexpr trace::LaneId kLanes = 40;
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  for (trace::LaneId i = 0; i < kLanes; ++i) {
    trace::Lane lane;
    lane.name = "stream " + std::to_string(i);
    trace->add_lane(lane);
  }
  const trace::NameId name = trace->intern("kernel");
  std::mt19937 random(7);
  std::array<Nanos, kLanes> time{};
  for (int i = 0; i < 1'000'000; ++i) {
    trace::Span span;
    span.lane = static_cast<trace::LaneId>(random() % kLanes);
    span.start = time[span.lane];
    span.duration = random() % 20'000;
    span.name = name;
    span.category = static_cast<trace::Category>(random() % trace::kCategoryCount);
    time[span.lane] += span.duration + random() % 5'000;
    trace->add_span(span);
  }
  stage.show(ui::index_trace(trace));
  draw_at_every_zoom(stage, "1 M spans on 40 lanes");
}

// Spans on eight lanes, each lane busy from end to end.
void write_spans(trace::Trace& trace, double a_second, double seconds) {
  constexpr trace::LaneId kLanes = 8;
  constexpr Nanos kLength = 5'000;
  const trace::NameId name = trace.intern("kernel");
  const auto start = Clock::now();
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(a_second * seconds);) {
    const auto due = static_cast<std::uint32_t>(std::min(seconds_since(start), seconds) * a_second);
    for (; i < due; ++i) {
      trace::Span span;
      span.lane = i % kLanes;
      span.start = static_cast<Nanos>(i / kLanes) * kLength;
      span.duration = kLength - 500;
      span.name = name;
      span.category = static_cast<trace::Category>(i / kLanes % 7);
      trace.add_span(span);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// One thread writes, one makes what is drawn, as the window's worker does; frames are drawn here.
void bench_growing(Stage& stage) {
  constexpr double kASecond = 1e6, kSeconds = 5, kFrame = 0.016;
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  for (int i = 0; i < 8; ++i) {
    trace::Lane lane;
    lane.name = "stream " + std::to_string(i);
    trace->add_lane(lane);
  }
  std::atomic<std::shared_ptr<const ui::IndexedTrace>> newest;
  std::atomic<int> views = 0;
  newest = ui::index_trace(trace);
  stage.show(newest.load());  // lets go of what was drawn before
  const auto start = Clock::now();
  std::jthread writer([&] { write_spans(*trace, kASecond, kSeconds); });
  std::jthread indexer([&](const std::stop_token& stop) {
    std::array<ui::TraceView, 2> kept;  // as the worker keeps them: it frees, not the window
    while (!stop.stop_requested()) {
      kept = {ui::index_trace(trace), kept[0]};
      newest = kept[0];
      ++views;
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
  });
  double worst = 0, worst_switch = 0, sum = 0;
  int frames = 0, dropped = 0;
  std::uint32_t shown = 0;
  while (seconds_since(start) < kSeconds) {
    const double begun = busy_seconds();
    stage.show(newest.load());
    const double switched = busy_seconds() - begun, taken = switched + stage.frame();
    worst_switch = std::max(worst_switch, switched);
    shown = stage.input.sides[0].index->span_count;
    worst = std::max(worst, taken);
    if (taken > kFrame) ++dropped;
    sum += taken;
    ++frames;
  }
  indexer.request_stop();
  fmt::print(
      "  growing by {:.0f} M spans a second: {} frames, {:.2f} ms on average, {:.2f} ms at most "
      "({:.2f} ms for a newer view), {} over 16 ms; {} views, the last of {:.1f} M spans\n",
      kASecond / 1e6, frames, sum / frames * 1e3, worst * 1e3, worst_switch * 1e3, dropped,
      views.load(), shown / 1e6);
}

}  // namespace

void bench_timeline() try {
  fmt::print("\nthe timeline at scale, 1920 x 1080\n");
  Stage stage;
  bench_large_run(stage);
  stage.input = {};
  bench_many_lanes(stage);
  stage.state = {};
  stage.input = {};
  bench_growing(stage);
} catch (const MissingError& error) {
  fmt::print("  left out: {}\n", error.what());
}

}  // namespace trainscope::bench
