#include "scenario/sweep.h"

#include <catch2/catch.hpp>
#include <map>
#include <mutex>

#include "analysis/runs/run.h"
#include "support/config.h"

using namespace trainscope;
using scenario::parse_axis;
using scenario::Sweep;
using scenario::SweepPoint;
using test::config_of;

namespace {

std::string spelled(const scenario::SweepAxis& axis) {
  std::string text;
  for (const program::Value& value : axis.values) text += program::spell(value) + " ";
  text.pop_back();
  return text;
}

Sweep sweep(const std::vector<scenario::LabelledConfig>& sides,
            std::initializer_list<const char*> axes, int threads = 1) {
  std::vector<scenario::SweepAxis> all;
  for (const char* axis : axes) all.push_back(parse_axis(axis));
  const std::atomic<bool> stop{false};
  return scenario::run_sweep(sides, all, threads, [](std::size_t) {}, stop);
}

double metric(const SweepPoint& point, std::size_t side, const char* name) {
  return analysis::value_of(point.sides[side].metrics, name).value();
}

}  // namespace

TEST_CASE("a range that hardly moves is refused, not walked through") {
  CHECK_THROWS_WITH(parse_axis("copy.count=1..10:+0.0000000001"),
                    Catch::Contains("write a larger one"));
  CHECK_THROWS_WITH(parse_axis("copy.count=1..10:x1.0000000001"),
                    Catch::Contains("write a larger one"));
}

TEST_CASE("values are listed, or doubled, multiplied or added along a range") {
  CHECK(spelled(parse_axis("batch_size=1..16")) == "1 2 4 8 16");
  CHECK(spelled(parse_axis("batch_size=1..20")) == "1 2 4 8 16");
  CHECK(spelled(parse_axis("batch_size=3..300:x10")) == "3 30 300");
  CHECK(spelled(parse_axis("batch_size=8..32:+8")) == "8 16 24 32");
  CHECK(spelled(parse_axis("batch_size=2..9:x1.5")) == "2 3 5 7");  // whole numbers stay whole
  CHECK(spelled(parse_axis("copy.bytes=64 KiB..1 MiB:x4")) == "65536 262144 1048576");
  CHECK(parse_axis("optimizer.lr=0.1..0.3:+0.1").values.size() == 3);
  CHECK(spelled(parse_axis("batch_size=7")) == "7");
  CHECK(spelled(parse_axis("loader.pin_memory=true,false")) == "true false");
  CHECK(spelled(parse_axis("machine=t4-1,h200-1")) == "t4-1 h200-1");
}

TEST_CASE("what is no axis is refused, with what to write") {
  CHECK_THROWS_WITH(parse_axis("batch_size"), Catch::Contains("write knob=a,b,c"));
  CHECK_THROWS_WITH(parse_axis("batch_sizes=1..4"), Catch::Contains("batch_size"));
  CHECK_THROWS_WITH(parse_axis("batch_size=16..1"), Catch::Contains("smaller value first"));
  CHECK_THROWS_WITH(parse_axis("batch_size=1..16:x1"), Catch::Contains("more than 1"));
  CHECK_THROWS_WITH(parse_axis("batch_size=1..16:+0"), Catch::Contains("more than 0"));
  CHECK_THROWS_WITH(parse_axis("loader.num_workers=0..8"), Catch::Contains("above 0"));
  CHECK_THROWS_WITH(parse_axis("batch_size=1..16:*2"), Catch::Contains(":x4 to multiply"));
  CHECK_THROWS_WITH(parse_axis("loader.pin_memory=false..true"), Catch::Contains("true,false"));
  CHECK_THROWS_WITH(parse_axis("batch_size=4,8,4"), Catch::Contains("twice"));
  CHECK_THROWS_WITH(parse_axis("batch_size=0"), Catch::Contains("batch_size"));
  CHECK_THROWS_WITH(parse_axis("steps=1..100000:+1"), Catch::Contains("at most 10000"));
  const std::vector<scenario::LabelledConfig> side{{"A", config_of({"workload=copy"})}};
  CHECK_THROWS_WITH(sweep(side, {"copy.count=1,2", "copy.count=3"}),
                    Catch::Contains("varied twice"));
}

TEST_CASE("sides that differ in nothing but the knob are one") {
  const auto base = config_of({"workload=copy", "copy.bytes=1 MiB"});
  const auto larger = config_of({"workload=copy", "copy.bytes=4 MiB"});
  const auto pinned = config_of({"workload=copy", "copy.bytes=4 MiB", "copy.memory=pinned"});
  const std::vector<scenario::SweepAxis> axes{parse_axis("copy.bytes=1 MiB..8 MiB")};
  const auto one = scenario::distinct_sides({{"A", base}, {"B", larger}}, axes);
  REQUIRE(one.size() == 1);
  CHECK(one[0].first == "A and B");
  const bool same =
      program::differing_knobs(base, pinned) == std::vector<std::string>{"copy.bytes"};
  CHECK(scenario::distinct_sides({{"A", base}, {"B", pinned}}, axes).size() == (same ? 1U : 2U));
  const auto other = config_of({"workload=copy", "copy.count=9"});
  CHECK(scenario::distinct_sides({{"A", base}, {"B", other}}, axes).size() == 2);
}

TEST_CASE("a value stands at its place among an axis's, or between two of them") {
  const auto numbers = parse_axis("batch_size=8, 16, 32");
  const auto place = [&](std::int64_t value) {
    return scenario::place_on(numbers, program::Value(value));
  };
  CHECK(place(8) == 0.0);
  CHECK(place(32) == 2.0);
  CHECK(place(24) == 1.5);
  CHECK_FALSE(place(7));
  CHECK_FALSE(place(33));
  const auto words = parse_axis("copy.memory=pinned,pageable");
  CHECK(scenario::place_on(words, program::Value(std::string("pageable"))) == 1.0);
  CHECK(scenario::is_ordered(numbers));
  CHECK_FALSE(scenario::is_ordered(words));
  // What is spelled is read again as the same.
  CHECK(parse_axis("batch_size=" + scenario::spell_values(numbers)).values == numbers.values);
}

TEST_CASE("each run is told as it ends, once, with what it is worth") {
  const std::vector<scenario::LabelledConfig> sides{{"A", config_of({"workload=copy"})},
                                                    {"B", config_of({"workload=launch"})}};
  const std::vector<scenario::SweepAxis> axes{parse_axis("steps=1..8")};
  const Sweep planned = scenario::planned_sweep(sides, axes);
  CHECK(planned.points.size() == 4);
  for (const SweepPoint& point : planned.points) CHECK_FALSE(point.sides[1].over);
  std::mutex mutex;
  std::map<std::pair<std::size_t, std::size_t>, SweepPoint::Side> told;
  const std::atomic<bool> stop{false};
  const Sweep done = scenario::run_sweep(
      sides, axes, 3, [](std::size_t) {}, stop,
      [&](std::size_t point, std::size_t side, const SweepPoint::Side& result) {
        const std::lock_guard lock(mutex);
        CHECK(told.emplace(std::pair{point, side}, result).second);
      });
  CHECK(told.size() == 8);
  for (const auto& [where, result] : told) {
    CHECK(result.over);
    CHECK(result.label == sides[where.second].first);
    CHECK(analysis::value_of(result.metrics, "time.total") ==
          metric(done.points[where.first], where.second, "time.total"));
  }
}

TEST_CASE("a sweep is the runs of its combinations, whatever the number of threads") {
  const std::vector<scenario::LabelledConfig> sides{
      {"A", config_of({"workload=copy", "copy.memory=pageable"})},
      {"B", config_of({"workload=copy", "copy.memory=pinned"})}};
  const Sweep one = sweep(sides, {"copy.bytes=1 MiB..16 MiB:x4", "copy.count=2,4"}, 1);
  const Sweep three = sweep(sides, {"copy.bytes=1 MiB..16 MiB:x4", "copy.count=2,4"}, 3);
  REQUIRE(one.points.size() == 6);
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    CHECK(one.points[i].values == three.points[i].values);
    for (std::size_t side = 0; side < 2; ++side) {
      program::Config config = sides[side].second;
      config.set("copy.bytes", one.points[i].values[0]);
      config.set("copy.count", one.points[i].values[1]);
      const analysis::Run run = analysis::run_config("A", config);
      const double alone = analysis::value_of(run.metrics, "time.total").value();
      CHECK(metric(one.points[i], side, "time.total") == alone);
      CHECK(metric(three.points[i], side, "time.total") == alone);
    }
  }
  CHECK(program::spell(one.points[1].values[0]) == "1048576");  // the last axis changes fastest
  CHECK(program::spell(one.points[1].values[1]) == "4");
}

TEST_CASE("a combination that cannot run says why, and the others run") {
  const std::vector<scenario::LabelledConfig> side{
      {"A", config_of({"workload=train", "steps=2", "model.name=gpt-mini", "data.name=text",
                       "model.width=24"})}};
  const Sweep heads = sweep(side, {"model.heads=4,5"});
  CHECK(heads.points[0].sides[0].refused.empty());
  CHECK_THAT(heads.points[1].sides[0].refused, Catch::Contains("model.heads"));
  CHECK(heads.points[1].sides[0].metrics.empty());
}

TEST_CASE("a combination that runs out of memory keeps what it measured until then") {
  const std::vector<scenario::LabelledConfig> side{
      {"A", config_of({"workload=train", "steps=2", "model.name=resnet50", "machine=t4-1"})}};
  const Sweep batches = sweep(side, {"batch_size=8,4096"});
  CHECK(batches.points[0].sides[0].ending.empty());
  CHECK_THAT(batches.points[1].sides[0].ending, Catch::Contains("memory"));
}

TEST_CASE("a sweep that is stopped begins no further run") {
  const std::vector<scenario::LabelledConfig> side{{"A", config_of({"workload=copy"})}};
  std::atomic<bool> stop{false};
  std::size_t over = 0;
  const auto progress = [&](std::size_t done) {
    over = done;
    if (done == 2) stop = true;
  };
  Sweep sweep = scenario::run_sweep(side, {parse_axis("copy.count=1..1000:+1")}, 1, progress, stop);
  CHECK(over == 2);
  REQUIRE(sweep.points.size() == 1000);
  CHECK(scenario::drop_unfinished(sweep) == 998);
  REQUIRE(sweep.points.size() == 2);
  for (const scenario::SweepPoint& point : sweep.points)
    CHECK_FALSE(point.sides[0].metrics.empty());
}
