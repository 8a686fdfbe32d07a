// What is put away where not all lanes fit: the GPU's are in sight on both sides.
#include "ui/timeline/tuck.h"

#include <imgui_internal.h>

#include <catch2/catch.hpp>

#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

using trace::LaneKind;

struct Made {
  trace::Trace trace{trace::Origin{}};
  trace::TraceIndex index;
  DrawIndex draw;

  // With spans in each other, as many as it has rows.
  trace::LaneId add(LaneKind kind, const std::string& name, int rows, std::int32_t device = -1,
                    std::int32_t rank = 0) {
    trace::Lane lane;
    lane.rank = rank;
    lane.name = name;
    lane.kind = kind;
    lane.device = device;
    const trace::LaneId id = trace.add_lane(lane);
    for (int row = 0; row < rows; ++row) {
      trace::Span span;
      span.lane = id;
      span.start = row;
      span.duration = 100 - 2 * row;
      span.category =
          row + 1 == rows && rows > 1 ? trace::Category::kHeld : trace::Category::kHostApi;
      span.name = trace.intern("work");
      trace.add_span(span);
    }
    return id;
  }
  void build() {
    index = trace::build_index(trace);
    draw = build_draw_index(trace, index);
  }
};

LayoutRequest request() {
  LayoutRequest request;
  request.view_end = 100;
  request.width = 200;
  request.lane_height = 20;
  request.row_height = 20;
  return request;
}

// The height in which a lane's label is in sight; 0: none of it.
float shown(Driver& driver, const std::string& side, const std::string& lane,
            const std::string& panel = "Timelines##pair") {
  float height = 0;
  driver.act([&](ImGuiTestContext* context) {
    const std::string item = "//" + panel + "/**/" + side + "/lane " + lane;
    if (!context->ItemExists(item.c_str())) return;
    height = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError).RectFull.GetHeight();
  });
  return height;
}

bool click_more(Driver& driver, const std::string& side) {
  return driver.act([&](ImGuiTestContext* context) {
    context->ItemClick(("//Timelines##pair/**/" + side + "/more lanes").c_str(), 0,
                       ImGuiTestOpFlags_NoCheckHoveredId);
  });
}

// Of several GPUs each has a stream of that name; an engine that hardly copies may be away.
void check_gpu_lanes(Driver& driver, const std::string& lesson) {
  const float whole = 20;  // of 24 pixels, more with the projector
  for (const std::size_t i : {0, 1}) {
    const std::string side = i == 0 ? "A" : "B";
    CAPTURE(side);
    CHECK(shown(driver, side, "host main") >= whole);
    if (lesson == "pinned-vs-pageable") CHECK(shown(driver, side, "H2D copy engine") >= whole);
    if (lesson != "dp-vs-ddp") CHECK(shown(driver, side, "stream 7") >= whole);
  }
}

}  // namespace

TEST_CASE("lanes that fit are left as they are") {
  Made made;
  made.add(LaneKind::kHostThread, "host main", 3);
  made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  CHECK_FALSE(tuck(made.trace, made.draw, request(), {}, 200).any());
}

TEST_CASE("workers and other threads go before the main thread's rows") {
  Made made;
  made.add(LaneKind::kSteps, "steps", 1);
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  const auto worker = made.add(LaneKind::kLoader, "loader worker 0", 1);
  const auto last = made.add(LaneKind::kLoader, "loader worker 1", 1);
  const auto other = made.add(LaneKind::kHostThread, "autograd thread", 2);
  made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  const float whole = lay_out_lanes(made.trace, made.draw, request()).height;
  const auto at = [&](float room) { return tuck(made.trace, made.draw, request(), {}, room); };
  CHECK(at(whole - 1).in_one_row == std::vector{other});
  CHECK(at(whole - 40).away == std::vector{last});
  CHECK(at(whole - 60).away == std::vector{last, worker});
  const Tuck least = at(40);
  CHECK(least.away.size() == 4);
  CHECK(least.in_one_row == std::vector{main});
  LayoutRequest tucked = request();
  tucked.hidden = least.away;
  tucked.collapsed = least.in_one_row;
  CHECK(lay_out_lanes(made.trace, made.draw, tucked).height == 40);
}

TEST_CASE("marks of further ranks go before all else, and where there is room they stay") {
  Made made;
  const auto first = made.add(LaneKind::kSteps, "steps", 1);
  made.add(LaneKind::kHostThread, "host main", 1);
  const auto second = made.add(LaneKind::kSteps, "steps, rank 1", 1, -1, 1);
  const auto worker = made.add(LaneKind::kLoader, "loader worker 0", 1, -1, 1);
  made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  const float whole = lay_out_lanes(made.trace, made.draw, request()).height;
  const auto away = [&](float room) {
    return tuck(made.trace, made.draw, request(), {}, room).away;
  };
  CHECK(away(whole).empty());
  CHECK(away(whole - 1) == std::vector{second});
  CHECK(away(whole - 21) == std::vector{second, worker});
  CHECK(away(whole - 41) == std::vector{second, worker, first});
  CHECK(tuck(made.trace, made.draw, request(), {.all_lanes = true}, whole - 1).away.empty());
}

TEST_CASE("of many ranks those stay in sight that tell who waits for whom") {
  Made made;
  std::vector<trace::LaneId> hosts, streams;
  for (int rank = 0; rank < 4; ++rank)
    hosts.push_back(made.add(LaneKind::kHostThread, "host main", 1, -1, rank));
  for (int rank = 0; rank < 4; ++rank)
    streams.push_back(made.add(LaneKind::kStream, "stream 7", 1, rank, rank));
  made.build();
  TuckWish wish;
  wish.ranks = {0, 2};
  const Tuck tucked = tuck(made.trace, made.draw, request(), wish, 80);
  CHECK(tucked.away == std::vector{streams[1], hosts[3], hosts[1]});
  LayoutRequest rest = request();
  rest.hidden = tucked.away;
  for (const LaneBox& box : lay_out_lanes(made.trace, made.draw, rest).lanes)
    if (box.lane == streams[0] || box.lane == streams[2]) CHECK(box.y + box.height <= 80);
  // Where there is room, and where all are asked for, none goes.
  CHECK_FALSE(tuck(made.trace, made.draw, request(), wish, 200).any());
  wish.all_lanes = true;
  CHECK(tuck(made.trace, made.draw, request(), wish, 80).away.empty());
}

TEST_CASE("marks and the profiler's own lanes go first, threads that launch work last") {
  Made made;
  const auto steps = made.add(LaneKind::kSteps, "steps", 1);
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  const auto queries = made.add(LaneKind::kHostThread, "thread 5", 1);
  const auto autograd = made.add(LaneKind::kHostThread, "autograd thread", 1);
  const auto marks = made.add(LaneKind::kOther, "stream 7 annotations", 0, 0);
  const auto stream = made.add(LaneKind::kStream, "stream 7", 1, 0);
  const auto overwritten = made.add(LaneKind::kOther, "overwritten too early", 0, 0);
  const auto profiler = made.add(LaneKind::kOther, "PyTorch Profiler", 0);
  trace::Span mark;
  mark.duration = 10;
  mark.category = trace::Category::kAnnotation;
  mark.name = made.trace.intern("forward");
  for (const trace::LaneId lane : {marks, profiler}) {
    mark.lane = lane;
    made.trace.add_span(mark);
  }
  const auto span = [&](trace::LaneId lane) {
    trace::Span one;
    one.lane = lane;
    one.start = 200;
    one.duration = 10;
    one.category = trace::Category::kHostApi;
    one.name = made.trace.intern("cudaLaunchKernel");
    return made.trace.add_span(one);
  };
  const trace::SpanId call = span(autograd);
  made.trace.add_flow({call, span(stream), trace::FlowKind::kLaunch});
  mark.lane = overwritten;
  mark.category = trace::Category::kOther;
  made.trace.add_span(mark);
  made.build();
  CHECK(made.draw.launches[autograd]);
  CHECK_FALSE(made.draw.launches[queries]);
  const auto at = [&](float room) { return tuck(made.trace, made.draw, request(), {}, room); };
  using Lanes = std::vector<trace::LaneId>;
  CHECK(at(147).away == Lanes{marks, profiler});
  CHECK(at(130).away == Lanes{marks, profiler, queries});
  const Tuck folded = at(70);
  CHECK(folded.away == Lanes{marks, profiler, queries, steps});
  CHECK(folded.in_one_row == Lanes{main});
  CHECK(at(40).away == Lanes{marks, profiler, queries, steps, autograd});
}

TEST_CASE("the GPU's lanes of one run are in sight as well", "[slow]") {
  const bool room = GENERATE(false, true);
  CAPTURE(room);
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->app().set_present(room);
  driver->workspace().open_runs(
      {run_of("A", {"workload=train", "steps=3", "model.name=resnet18", "batch_size=8",
                    "parallel.strategy=ddp", "parallel.world_size=8", "machine=dgx1-v100-8"})});
  driver->settle();
  for (const char* lane : {"host main", "autograd thread", "stream 7", "stream 24, NCCL"}) {
    CAPTURE(lane);
    CHECK(shown(*driver, "A", lane, "Timeline##single") >= 20);
  }
  check_words_are_whole(100);
}

TEST_CASE("a copy engine that hardly copies goes before the threads that launch work") {
  const int copy = GENERATE(1, 50);  // of 100
  Made made;
  const trace::LaneId main = made.add(LaneKind::kHostThread, "host main", 1);
  const trace::LaneId engine = made.add(LaneKind::kCopyEngine, "H2D copy engine", 0, 0);
  trace::Span span;
  span.lane = engine;
  span.duration = copy;
  span.category = trace::Category::kCopyH2D;
  span.name = made.trace.intern("copy");
  made.trace.add_span(span);
  made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  const Tuck tucked = tuck(made.trace, made.draw, request(), {}, 50);
  CHECK(tucked.is_away(engine) == (copy == 1));
  CHECK_FALSE(tucked.is_away(main));
  CHECK_FALSE(tuck(made.trace, made.draw, request(), {}, 200).any());
  TuckWish wish;
  wish.told = {engine};
  CHECK_FALSE(tuck(made.trace, made.draw, request(), wish, 50).is_away(engine));
}

TEST_CASE("what a person unfolds or asks for stays, and few chosen lanes stay") {
  Made made;
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  made.add(LaneKind::kLoader, "loader worker 0", 1);
  made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  const auto with = [&](const TuckWish& wish) {
    return tuck(made.trace, made.draw, request(), wish, 40);
  };
  CHECK(with({}).in_one_row == std::vector{main});
  CHECK(with({.unfolded = {main}}).in_one_row.empty());
  CHECK(with({.all_lanes = true}).away.empty());
  CHECK(with({.keeps_lanes = true}).away.empty());
}

TEST_CASE("what a path runs on stays in all its rows, and other lanes go before it") {
  Made made;
  const auto steps = made.add(LaneKind::kSteps, "steps", 1);
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  const auto autograd = made.add(LaneKind::kHostThread, "autograd thread", 2);
  const auto engine = made.add(LaneKind::kCopyEngine, "H2D copy engine", 1, 0);
  const auto stream = made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  TuckWish wish;
  const Tuck before = tuck(made.trace, made.draw, request(), wish, 62);
  CHECK(before.away == std::vector{autograd, steps});
  CHECK(before.in_one_row == std::vector{main});
  wish.path = {autograd, stream};
  const Tuck shown = tuck(made.trace, made.draw, request(), wish, 90);
  CHECK(shown.away == std::vector{steps, engine});
  CHECK(shown.in_one_row == std::vector{main});
  wish.path = {main, stream};
  const Tuck in_rows = tuck(made.trace, made.draw, request(), wish, 100);
  CHECK(in_rows.in_one_row.empty());
  CHECK_FALSE(in_rows.is_away(main));
  CHECK(in_rows.is_away(autograd));
}

TEST_CASE("of more lanes than fit, those that a path is on longest are in sight") {
  Made made;
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  const auto autograd = made.add(LaneKind::kHostThread, "autograd thread", 2);
  const auto staging = made.add(LaneKind::kStaging, "staging", 1);
  const auto stream = made.add(LaneKind::kStream, "stream 7", 1, 0);
  made.build();
  const auto in = [&](std::vector<trace::LaneId> path, float room) {
    TuckWish wish;
    wish.path = std::move(path);
    return tuck(made.trace, made.draw, request(), wish, room);
  };
  const float lane = request().lane_height;
  const Tuck folded = in({stream, main, autograd, staging}, 4 * lane);
  CHECK(folded.in_one_row.size() == 2);
  CHECK(folded.away.empty());
  CHECK(in({stream, main, autograd, staging}, 3 * lane).away == std::vector{staging});
  CHECK(in({stream, main, autograd, staging}, 2 * lane).away == std::vector{staging, autograd});
  CHECK(in({staging, autograd, main, stream}, 2 * lane).away == std::vector{stream, autograd});
}

TEST_CASE("a run without GPU lanes has nothing to make room for") {
  Made made;
  made.add(LaneKind::kHostThread, "host main", 4);
  made.build();
  CHECK_FALSE(tuck(made.trace, made.draw, request(), {}, 10).any());
}

TEST_CASE("what holds a thread is seen and hit where its rows are one") {
  Made made;
  const auto main = made.add(LaneKind::kHostThread, "host main", 3);
  made.build();
  LayoutRequest one_row = request();
  one_row.collapsed = {main};
  const TimelineLayout layout = lay_out(made.trace, made.index, made.draw, one_row);
  CHECK(layout.bars.size() == 2);
  const Bar* bar = bar_at(layout, 100, layout.lanes[0].y + layout.lanes[0].height / 2);
  REQUIRE(bar);
  CHECK(bar->category == trace::Category::kHeld);
}

TEST_CASE("the GPU's lanes of both sides are in sight when a result is opened", "[slow]") {
  const auto [width, height] = GENERATE(std::pair{1366, 768}, std::pair{1280, 720});
  const ThemeMode mode = GENERATE(ThemeMode::kDark, ThemeMode::kProjector);
  CAPTURE(width, mode);
  REQUIRE_DRIVER(driver, width, height);
  driver->app().set_theme(mode);
  for (const char* lesson :
       {"pinned-vs-pageable", "num-workers", "dp-vs-ddp", "buckets-and-overlap", "bucket-size"}) {
    CAPTURE(lesson);
    walk_to_result(*driver, lesson);
    // What a lesson names stands before them, where there is room for one of the two; and what its
    // step asks for is scrolled to.
    const auto& question = driver->workspace().lesson()->step().question;
    if (question && question->span)
      CHECK(shown(*driver, question->span->run, question->span->lane) > 0);
    const bool is_small = mode == ThemeMode::kProjector && width == 1280;
    const bool names_others = std::string(lesson) == "num-workers" && mode == ThemeMode::kProjector;
    if (!names_others && (!is_small || std::string(lesson) == "pinned-vs-pageable"))
      check_gpu_lanes(*driver, lesson);
    check_words_are_whole(100);
  }
}

TEST_CASE("beside the map of the whole run the GPU's lanes are in sight as well", "[slow]") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk_to_result(*driver, "small-model-cpu-wins");
  // All lanes fit, but for the map, which comes with the part of the run that a step shows.
  for (int i = 0; i < 5 && driver->workspace().lesson()->step().id != "why"; ++i) {
    if (driver->app().can("lesson.skip")) driver->app().run("lesson.skip");
    driver->settle();
    driver->app().run("lesson.next");
    driver->settle();
  }
  REQUIRE(driver->workspace().lesson()->step().id == "why");
  CHECK(shown(*driver, "B", "host main") >= 20);
  CHECK(shown(*driver, "B", "stream 7") >= 20);
}

TEST_CASE("the lanes that are away come with a click on their number, and go with another") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "num-workers");
  CHECK(shown(*driver, "B", "loader worker 7") > 0);  // the lesson asks for it
  CHECK(shown(*driver, "B", "loader worker 5") == 0);
  REQUIRE(click_more(*driver, "B"));
  CHECK(driver->app().attention().timeline.all_lanes[1]);
  CHECK_FALSE(driver->app().attention().timeline.all_lanes[0]);
  driver->act([](ImGuiTestContext* context) {
    context->MouseMoveToPos(
        context->ItemInfo("//Timelines##pair/**/B/lane host main").RectFull.GetCenter());
    context->MouseWheelY(-2);
  });
  CHECK(shown(*driver, "B", "loader worker 5") > 0);
  CHECK(driver->workspace().playhead.offset == 0);
  REQUIRE(click_more(*driver, "B"));
  CHECK_FALSE(driver->app().attention().timeline.all_lanes[1]);
  CHECK(shown(*driver, "B", "loader worker 5") == 0);
}

TEST_CASE("a span that is selected is brought back from where its lane was put away") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk_to_result(*driver, "num-workers");
  const trace::Trace& trace = *driver->workspace().sides()[1].view->trace;
  trace::SpanId found = trace::kNone;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId id) {
    if (trace.lanes()[span.lane].name == "loader worker 5") found = id;
  });
  REQUIRE(found != trace::kNone);
  REQUIRE(shown(*driver, "B", "loader worker 5") == 0);
  driver->app().select_span({Side::kB, found});
  driver->settle();
  CHECK(shown(*driver, "B", "loader worker 5") > 0);
}
