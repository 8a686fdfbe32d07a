// The layout of lanes, bars, labels and the axis; of counters: layout_counters_test.cpp.
#include "ui/timeline/layout.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "trace/step_mark.h"
#include "ui/layout_cases.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;
using namespace trainscope::ui::layout_cases;

namespace {

// Short and long spans, bursts, gaps, overlaps and instants, on a few lanes.
void fill_at_random(Trace& trace, unsigned seed, int spans) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<Nanos>(random() % static_cast<unsigned>(n)); };
  for (int lane = 0; lane < 3; ++lane) add_lane(trace, "lane " + std::to_string(lane));
  Nanos time[3] = {};
  for (int i = 0; i < spans; ++i) {
    const auto lane = static_cast<LaneId>(below(3));
    const Nanos duration = below(10) == 0 ? below(200'000) : below(4) == 0 ? 0 : below(900);
    add_span(trace, lane, time[lane], duration, static_cast<Category>(below(kCategoryCount)));
    if (below(3) == 0) time[lane] += below(50) == 0 ? below(300'000) : below(1200);
    if (below(2) == 0) time[lane] += duration;
  }
}

// What a plain walk over all spans says is in view: every span that touches [start, end).
std::set<SpanId> in_view(const Trace& trace, Nanos start, Nanos end) {
  std::set<SpanId> ids;
  for (SpanId id = 0; id < trace.spans().size(); ++id)
    if (trace.spans()[id].start < end && trace.spans()[id].end() >= start) ids.insert(id);
  return ids;
}

// The spans of a bar, looked up in its row.
std::vector<SpanId> members(const TraceIndex& index, const Bar& bar) {
  const auto& row = index.lanes[bar.lane].rows[bar.row].spans;
  const auto first = std::find(row.begin(), row.end(), bar.span);
  REQUIRE(row.end() - first >= static_cast<std::ptrdiff_t>(bar.count));
  return {first, first + bar.count};
}

void check_folds(const Trace& trace, const TraceIndex& index, const DrawIndex& draw,
                 const LayoutRequest& request) {
  const TimelineLayout layout = lay_out(trace, index, draw, request);
  const double nanos_per_pixel =
      static_cast<double>(request.view_end - request.view_start) / request.width;
  std::set<SpanId> drawn;
  for (const Bar& bar : layout.bars) {
    Nanos last_end = bar.start;
    for (const SpanId id : members(index, bar)) {
      const Span& span = trace.spans()[id];
      REQUIRE(drawn.insert(id).second);  // in one bar only
      if (bar.count > 1) {
        REQUIRE(static_cast<double>(span.duration) <= 2 * request.min_bar * nanos_per_pixel + 1);
        REQUIRE(static_cast<double>(span.start - last_end) <=
                2 * request.min_bar * nanos_per_pixel + 1);
      }
      REQUIRE(span.start >= bar.start);
      REQUIRE(span.end() <= bar.end);
      last_end = span.end();
    }
  }
  for (const SpanId id : in_view(trace, request.view_start, request.view_end))
    REQUIRE(drawn.count(id) == 1);
}

}  // namespace

TEST_CASE("every span in view is a bar of its own or counted in exactly one fold") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Trace trace = empty_trace();
    fill_at_random(trace, seed, 3000);
    const TraceIndex index = build_index(trace);
    const DrawIndex draw = build_draw_index(trace, index);
    const Nanos end = trace.end();
    for (const Nanos zoom : {1, 3, 10, 100, 2000, 100'000})
      for (const Nanos part : {0, 3, 7}) {
        const Nanos range = std::max<Nanos>(end / zoom, 10);
        check_folds(trace, index, draw, request_of(end * part / 10, end * part / 10 + range));
      }
  }
}

namespace {

// Bars as they are compared: what they hold and where they stand.
using Held = std::tuple<SpanId, std::uint32_t, Nanos, Nanos, Category, float>;

std::set<Held> bars_within(const Trace& trace, const TraceIndex& index, const DrawIndex& draw,
                           const LayoutRequest& request) {
  std::set<Held> bars;
  for (const Bar& bar : lay_out(trace, index, draw, request).bars)
    if (bar.start > request.view_start && bar.end < request.view_end)
      bars.insert({bar.span, bar.count, bar.start, bar.end, bar.category, bar.presence});
  return bars;
}

}  // namespace

TEST_CASE("folds made before drawing are those that a plain cut makes") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Trace trace = empty_trace();
    fill_at_random(trace, seed, 200'000);
    const TraceIndex index = build_index(trace);
    const DrawIndex draw = build_draw_index(trace, index);
    DrawIndex plain = draw;
    std::size_t levels = 0;
    for (auto& rows : plain.rows)
      for (DrawRow& row : rows) levels += std::exchange(row.levels, {}).size();
    REQUIRE(levels > 5);
    const Nanos end = trace.end();
    for (Nanos range = 2 * end; range > 100; range /= 3) {
      const LayoutRequest request = request_of(end / 5, end / 5 + range);
      INFO("seed " << seed << ", " << range << " ns");
      CHECK(bars_within(trace, index, draw, request) == bars_within(trace, index, plain, request));
      check_folds(trace, index, draw, request);
    }
  }
}

TEST_CASE("spans of 6 pixels or more keep a bar of their own") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  for (Nanos i = 0; i < 100; ++i) add_span(trace, lane, i * 10, 10);
  const TimelineLayout layout = laid_out(trace, request_of(0, 1000, 610));
  CHECK(layout.bars.size() == 100);
  for (const Bar& bar : layout.bars) CHECK(bar.count == 1);
}

TEST_CASE("a fold has the colour of what fills most of it") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  for (Nanos i = 0; i < 2000; ++i)
    add_span(trace, lane, i * 10, i % 4 == 0 ? 2 : 9,
             i % 4 == 0 ? Category::kCollective : Category::kBackward);
  const TimelineLayout layout = laid_out(trace, request_of(0, 20'000, 500));
  REQUIRE(!layout.bars.empty());
  for (const Bar& bar : layout.bars) {
    CHECK(bar.count > 1);
    CHECK(bar.category == Category::kBackward);
  }
}

TEST_CASE("a fold is the paler the longer the gaps in it") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  for (Nanos i = 0; i < 1000; ++i) add_span(trace, lane, i * 10'000, i < 500 ? 10'000 : 5'000);
  const TimelineLayout layout = laid_out(trace, request_of(0, 10'000'000, 500));
  REQUIRE(layout.bars.size() > 100);
  int full = 0, pale = 0;
  for (const Bar& bar : layout.bars) {
    if (bar.end < 4'900'000) {
      ++full;
      CHECK(bar.presence == 1);
    }
    if (bar.start > 5'100'000) {
      ++pale;
      CHECK(bar.presence == Approx(std::sqrt(0.5)).margin(0.1));
    }
  }
  CHECK(full > 40);
  CHECK(pale > 40);
}

TEST_CASE("a fold stays the same one while the view is panned") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  for (Nanos i = 0; i < 5000; ++i) add_span(trace, lane, i * 10, 10);
  const auto folds = [&](Nanos shift) {
    std::set<std::pair<SpanId, std::uint32_t>> inner;
    for (const Bar& bar : laid_out(trace, request_of(shift, 30'000 + shift, 600)).bars)
      if (bar.start > 1000 && bar.end < 29'000) inner.insert({bar.span, bar.count});
    return inner;
  };
  CHECK(folds(0) == folds(137));
}

TEST_CASE("spans that overlap stand in rows of their own and never hide one another") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  add_span(trace, lane, 0, 600);
  add_span(trace, lane, 100, 200);
  add_span(trace, lane, 300, 600);
  const TimelineLayout layout = laid_out(trace, request_of(0, 1000));
  REQUIRE(layout.bars.size() == 3);
  for (const Bar& a : layout.bars)
    for (const Bar& b : layout.bars) {
      if (&a == &b) continue;
      const bool apart_x = a.x + a.width <= b.x + 0.01F || b.x + b.width <= a.x + 0.01F;
      const bool apart_y = a.y + a.height <= b.y || b.y + b.height <= a.y;
      CHECK((apart_x || apart_y));
    }
}

TEST_CASE("a label is written only where it fits, a long name in a shorter form") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  add_span(trace, lane, 0, 200, Category::kForward, "forward");
  add_span(trace, lane, 200, 40, Category::kForward, "forward");
  add_span(trace, lane, 300, 300, Category::kKernel,
           "void at::native::vectorized_kernel<4, at::native::Add<float>>(int, float)");
  LayoutRequest request = request_of(0, 1000);
  request.text_width = [](std::string_view text) { return 7.0F * static_cast<float>(text.size()); };
  const TimelineLayout layout = laid_out(trace, request);
  REQUIRE(layout.bars.size() == 3);
  CHECK(layout.bars[0].label == "forward");
  CHECK(layout.bars[1].label.empty());
  CHECK(layout.bars[2].label == "vectorized_kernel");
}

TEST_CASE("the mark of a step that metrics leave out says that it warms up, where that fits") {
  Trace trace = empty_trace();
  Lane lane;
  lane.kind = LaneKind::kSteps;
  const LaneId steps = trace.add_lane(lane), other = add_lane(trace, "stream 7");
  for (int i = 0; i < 3; ++i) {
    add_span(trace, steps, 300 * i, 300, Category::kAnnotation, step_mark(i));
    add_span(trace, other, 300 * i, 300, Category::kForward, "forward");
  }
  LayoutRequest request = request_of(0, 1000);
  request.text_width = [](std::string_view text) { return 7.0F * static_cast<float>(text.size()); };
  const auto labels = [&] {
    std::vector<std::string> all;
    for (const Bar& bar : laid_out(trace, request).bars) all.push_back(bar.label);
    return all;
  };
  CHECK(labels()[0] == "ProfilerStep#0");
  request.measured_from = {{0, 300}};
  CHECK(labels() == std::vector<std::string>{"ProfilerStep#0, warm-up", "ProfilerStep#1",
                                             "ProfilerStep#2", "forward", "forward", "forward"});
  request.measured_from = {{1, 300}};  // of another rank
  CHECK(labels()[0] == "ProfilerStep#0");
  request.measured_from = {{0, 300}, {1, 0}};
  request.width = 500;  // 150 for each
  CHECK(labels()[0] == "ProfilerStep#0");
}

TEST_CASE("hidden lanes take no room, collapsed ones a single row") {
  Trace trace = empty_trace();
  const LaneId host = add_lane(trace, "host main"), stream = add_lane(trace, "stream 7");
  add_span(trace, host, 0, 100);
  add_span(trace, host, 10, 50);
  add_span(trace, host, 20, 10);
  add_span(trace, stream, 0, 100);
  LayoutRequest request = request_of(0, 1000);
  const float open = laid_out(trace, request).height;
  request.collapsed = {host};
  const TimelineLayout collapsed = laid_out(trace, request);
  CHECK(collapsed.height < open);
  CHECK(collapsed.lanes[0].rows == 1);
  CHECK(collapsed.lanes[0].all_rows == 3);
  CHECK(collapsed.bars.size() == 2);
  request.hidden = {host};
  CHECK(laid_out(trace, request).height == request.lane_height);
}

TEST_CASE("several ranks stand under headings that can be collapsed") {
  Trace trace = empty_trace();
  for (const char* group : {"rank 0", "GPU 0", "rank 1", "GPU 1"}) {
    add_span(trace, add_lane(trace, "a", group), 0, 100);
    add_span(trace, add_lane(trace, "b", group), 0, 100);
  }
  LayoutRequest request = request_of(0, 1000);
  request.collapsed_groups = {"rank 1"};
  const TimelineLayout layout = laid_out(trace, request);
  CHECK(layout.groups.size() == 4);
  CHECK(layout.groups[2].collapsed);
  CHECK(layout.lanes.size() == 6);
}

TEST_CASE("lanes scrolled out of sight are placed but get no bars") {
  Trace trace = empty_trace();
  for (int i = 0; i < 40; ++i) add_span(trace, add_lane(trace, "lane"), 0, 100);
  LayoutRequest request = request_of(0, 1000);
  request.visible_top = 10 * request.lane_height;
  request.visible_bottom = 12 * request.lane_height;
  const TimelineLayout layout = laid_out(trace, request);
  CHECK(layout.lanes.size() == 40);
  CHECK(layout.bars.size() == 2);
}

TEST_CASE("the arrow to a wait stands where the wait ends, and none runs back in time") {
  Trace trace = empty_trace();
  const LaneId host = add_lane(trace, "host"), stream = add_lane(trace, "stream 7");
  const SpanId kernel = add_span(trace, stream, 20, 60);
  const SpanId held = add_span(trace, host, 10, 80, Category::kHeld);
  Span wait = trace.spans()[held];
  wait.cause = Cause::kDevice;
  wait.cause_span = kernel;
  const SpanId waits = trace.add_span(wait);
  LayoutRequest request = request_of(0, 1000);
  request.links = links_of(trace, waits);
  const TimelineLayout layout = laid_out(trace, request);
  REQUIRE(layout.arrows.size() == 1);
  CHECK(layout.arrows[0].is_cause);
  CHECK(!layout.arrows[0].of_path);
  CHECK(layout.arrows[0].x0 == Approx(80));  // where the kernel ends
  CHECK(layout.arrows[0].x1 == Approx(90));
}

TEST_CASE("the arrows of a span go to its launch, its cause and what waited for it") {
  Trace trace = empty_trace();
  const LaneId host = add_lane(trace, "host"), stream = add_lane(trace, "stream 7");
  const SpanId launch = add_span(trace, host, 0, 10, Category::kHostApi);
  const SpanId before = add_span(trace, stream, 0, 100);
  Span span = trace.spans()[before];
  span.start = 100;
  span.cause_span = before;
  const SpanId kernel = trace.add_span(span);
  trace.add_flow({launch, kernel, FlowKind::kLaunch});
  LayoutRequest request = request_of(0, 1000);
  request.links = links_of(trace, kernel);
  const TimelineLayout layout = laid_out(trace, request);
  REQUIRE(layout.arrows.size() == 2);
  CHECK(layout.arrows[0].is_cause);
  CHECK(layout.arrows[0].from == before);
  CHECK(layout.arrows[1].from == launch);
  CHECK(layout.arrows[1].x0 == Approx(10));
  CHECK(layout.arrows[1].x1 == Approx(100));
}

TEST_CASE("an idle gap says its cause where there is room, else only how long it is") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "stream 7");
  add_span(trace, lane, 0, 10);
  LayoutRequest request = request_of(0, 1000);
  request.text_width = [](std::string_view text) { return 7.0F * static_cast<float>(text.size()); };
  const std::vector<IdleGap> gaps = {{lane, 100, 400, "idle 4.9 ms: the copy"},
                                     {lane, 500, 600, "idle 4.9 ms: the copy"},
                                     {lane, 700, 705, "idle 4.9 ms: the copy"}};
  const TimelineLayout layout = laid_out(trace, request, gaps);
  REQUIRE(layout.gaps.size() == 3);
  CHECK(layout.gaps[0].label == "idle 4.9 ms: the copy");
  CHECK(layout.gaps[1].label == "idle 4.9 ms");
  CHECK(layout.gaps[2].label.empty());
}

TEST_CASE("the axis has round steps and labels with room between them") {
  const auto ticks = axis_ticks(0, 30 * kMillisecond, 970, 110);
  std::vector<std::string> labels;
  for (const Tick& tick : ticks)
    if (tick.major) labels.push_back(tick.label);
  REQUIRE(labels.size() == 8);
  CHECK(labels[0] == "0 ms");
  CHECK(labels[1] == "4 ms");
  CHECK(labels[7] == "28 ms");
  CHECK(ticks[1].x - ticks[0].x == Approx(970.0 / 15));
}

TEST_CASE("deep inside a run the axis keeps short labels that differ") {
  const Nanos start = 14'200'000;
  std::set<std::string> labels;
  std::size_t majors = 0;
  for (const Tick& tick : axis_ticks(start, start + 1000, 900, 110))
    if (tick.major) {
      labels.insert(tick.label);
      ++majors;
    }
  CHECK(majors >= 4);
  CHECK(labels.size() == majors);
  CHECK(labels.count("14.2002 ms") == 1);
}

TEST_CASE(
    "a length can be read from the axis wherever one looks: two labels, in most places three") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> digits(3, 10.5), where(-1, 1), pixels(450, 2000);
  constexpr float kRoom = 112, kLetter = kRoom / 14;
  for (int i = 0; i < 4000; ++i) {
    const auto range = static_cast<Nanos>(std::pow(10, digits(random)));
    const double begin = where(random) * std::pow(10, digits(random));
    if (std::abs(begin) > 1e6 * static_cast<double>(range)) continue;
    const auto start = static_cast<Nanos>(begin);
    const auto width = static_cast<float>(pixels(random));
    CAPTURE(start, range, width);
    std::size_t whole = 0;
    float free_from = -kRoom;
    for (const Tick& tick : axis_ticks(start, start + range, width, kRoom)) {
      if (!tick.major) continue;
      const float half = kLetter * static_cast<float>(tick.label.size()) / 2;
      CHECK(tick.x - half >= free_from);
      free_from = tick.x + half;
      whole += free_from <= width;
    }
    CHECK(whole >= (width < 720 ? 2 : 3));
  }
}

TEST_CASE("the axis serves times before zero and whole hours") {
  for (const auto& tick : axis_ticks(-5000, 5000, 500, 100)) CHECK(tick.x >= 0);
  CHECK(axis_ticks(-5000, 5000, 500, 100).size() > 3);
  CHECK(!axis_ticks(0, 3600 * kSecond, 800, 100).empty());
  CHECK(axis_ticks(10, 10, 800, 100).empty());
}

TEST_CASE("in little room a wait is called that, and a call goes without its prefix") {
  trace::Trace trace{trace::Origin{}};
  const auto brief = [&](const char* name, trace::Category category) {
    trace::Span span;
    span.name = trace.intern(name);
    span.category = category;
    return brief_label(trace, span);
  };
  CHECK(brief("waits for the stream", trace::Category::kHeld) == "waits");
  CHECK(brief("held: staging", trace::Category::kHeld) == "held");
  CHECK(brief("cudaMemcpyAsync", trace::Category::kHostApi) == "MemcpyAsync");
  CHECK(brief("gemm", trace::Category::kForward) == "");
}
