// The layout of counters.
#include "ui/timeline/layout.h"

#include <catch2/catch.hpp>
#include <random>

#include "ui/layout_cases.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;
using namespace trainscope::ui::layout_cases;

TEST_CASE("a counter is drawn over the whole view and keeps its peak") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "allocated");
  for (Nanos i = 0; i < 1000; ++i)
    trace.add_sample({i * 1000, i == 500 ? 100.0 : static_cast<double>(i % 7), lane});
  LayoutRequest request = request_of(0, 1'000'000, 400);
  const TimelineLayout layout = laid_out(trace, request);
  REQUIRE(layout.curves.size() == 1);
  const Curve& curve = layout.curves[0];
  CHECK(curve.most == 100);
  float top = 1e9F;
  for (const auto& [x, y] : curve.points) top = std::min(top, y);
  CHECK(top == Approx(curve.y));
  CHECK(curve.points.back().first == Approx(400));
}

namespace {

// What a curve shows at each pixel, as shares of its range.
std::vector<double> values_of(const Curve& curve, float width) {
  std::vector<double> values;
  std::size_t at = 0;
  for (float x = 0; x <= width; x += 1) {
    while (at + 1 < curve.points.size() && curve.points[at + 1].first <= x) ++at;
    values.push_back((curve.y + curve.height - curve.points[at].second) / curve.height);
  }
  return values;
}

// The largest value of each pixel's samples, else the one that still holds, one sample at a time.
std::vector<double> plain_values(const Trace& trace, const LayoutRequest& request) {
  std::vector<double> values;
  double value = 0;
  std::uint32_t at = 0;
  for (float x = 0; x <= request.width; x += 1) {
    const double nanos = static_cast<double>(request.view_end - request.view_start) /
                         request.width * static_cast<double>(x);
    double shown = value;
    for (bool any = false;
         at < trace.samples().size() &&
         trace.samples()[at].time <= request.view_start + static_cast<Nanos>(nanos);
         ++at, any = true) {
      value = trace.samples()[at].value;
      shown = any && x > 0 ? std::max(shown, value) : value;
    }
    values.push_back(shown / 100);
  }
  return values;
}

}  // namespace

namespace {

// Every pixel as a plain walk has it; of many samples a block stands where it begins, so a peak may
// stand one pixel from where it was, but none is lost and none made up.
void check_curve(const Trace& trace, const LayoutRequest& request, bool exact) {
  const auto shown = values_of(laid_out(trace, request).curves.at(0), request.width);
  const auto plain = plain_values(trace, request);
  REQUIRE(shown.size() == plain.size());
  const auto around = [](const std::vector<double>& values, std::size_t x) {
    return std::max({values[x - 1], values[x], values[x + 1]});
  };
  for (std::size_t x = 1; x + 1 < plain.size(); ++x) {
    INFO("pixel " << x);
    if (exact) REQUIRE(shown[x] == Approx(plain[x]).margin(1e-4));
    REQUIRE(around(shown, x) >= plain[x] - 1e-4);
    REQUIRE(shown[x] <= around(plain, x) + 1e-4);
  }
}

}  // namespace

TEST_CASE("a counter's curve is that of a plain walk, and of many samples it loses no peak") {
  std::mt19937 random(5);
  for (const int count : {1, 30, 700, 2'000, 15'000, 100'000}) {
    INFO(count << " samples");
    Trace trace = empty_trace();
    const LaneId lane = add_lane(trace, "busy, %");
    for (int i = 0; i < count; ++i)
      trace.add_sample({1'000'000'000LL / count * i + static_cast<Nanos>(random() % 1000),
                        static_cast<double>(random() % 100), lane});
    for (const Nanos start : {-50'000'000LL, 0LL, 400'000'000LL})
      check_curve(trace, request_of(start, 900'000'000, 400), count <= 2'000);
  }
}

TEST_CASE("a counter that moves in bursts holds its value between them") {
  std::mt19937 random(6);
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "busy, %");
  Nanos time = 0;
  for (int i = 0; i < 50'000; ++i) {
    time += random() % 700 == 0 ? 30'000'000 : 1'000;
    trace.add_sample({time, static_cast<double>(random() % 100), lane});
  }
  for (const Nanos range : {time, time / 7, time / 90})
    check_curve(trace, request_of(time / 3, time / 3 + range, 400), false);
}

TEST_CASE("a counter that is back at zero is drawn so, however short its peak was") {
  Trace trace = empty_trace();
  const LaneId lane = add_lane(trace, "NVLink in, %");
  trace.add_sample({500'000, 40, lane});
  trace.add_sample({500'010, 0, lane});  // far less than a pixel later
  const TimelineLayout layout = laid_out(trace, request_of(0, 1'000'000, 400));
  REQUIRE(layout.curves.size() == 1);
  const Curve& curve = layout.curves[0];
  CHECK(curve.most == 40);
  CHECK(curve.top.value == 100);  // a share is of 100
  const float base = curve.y + curve.height;
  REQUIRE(curve.points.size() >= 3);
  CHECK(curve.points[1].second == Approx(base - 0.4F * curve.height));
  CHECK(curve.points[2].first == curve.points[1].first + 1);
  for (std::size_t i = 2; i < curve.points.size(); ++i)
    CHECK(curve.points[i].second == Approx(base));
}

namespace {

struct Counted {
  explicit Counted(double most, const std::string& name = "SMs with a block") {
    trace.add_sample({500, most, add_lane(trace, name)});
    draw = build_draw_index(trace, trace::build_index(trace));
  }
  Trace trace = empty_trace();
  DrawIndex draw;
  std::vector<CounterLimit> limits;
  CounterSide side() const { return {trace, draw, limits}; }
};

}  // namespace

TEST_CASE("a counter of A and of B has one scale") {
  const Counted a(1), b(20), other(7, "resident warps");
  const auto tops = counter_tops({a.side(), b.side(), other.side()});
  REQUIRE(tops.size() == 3);
  CHECK(tops[0][0].value == 20);
  CHECK(tops[1][0].value == 20);
  CHECK(tops[2][0].value == 7);
  CHECK_FALSE(tops[0][0].is_limit);
}

TEST_CASE("a counter with a limit is drawn up to what its machine can hold") {
  Counted a(1), b(20);
  a.limits = b.limits = {{"SMs with a block", 132}};
  const auto tops = counter_tops({a.side(), b.side()});
  CHECK(tops[0][0].value == 132);
  CHECK(tops[1][0].value == 132);
  b.limits[0].value = 10;  // it was beyond: not its machine
  CHECK(counter_tops({a.side(), b.side()})[1][0].value == 20);

  LayoutRequest request = request_of(0, 1000, 400);
  const auto height = [&](const Counted& counted, const CounterTops& own) {
    request.counter_tops = &own;
    const auto index = trace::build_index(counted.trace);
    const Curve curve = lay_out(counted.trace, index, counted.draw, request).curves.at(0);
    return curve.y + curve.height - curve.points.back().second;
  };
  CHECK(height(b, tops[1]) < height(b, {{20, false}}) / 6);
  CHECK(height(a, tops[0]) > 0);
}

TEST_CASE("a counter's lane says its peak, and what its height stands for") {
  CHECK(counter_words(132, {132, true}) == "132");
  CHECK(counter_words(1, {132, true}) == "1 of 132");
  CHECK(counter_words(4224, {8448, true}) == "4224 of 8448");
  CHECK(counter_words(1 << 20, {4 << 20, false}) == "1 MiB, scale to 4 MiB");
}
