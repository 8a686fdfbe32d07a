#include "ui/app/views/comparison.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/ratio.h"
#include "report/comparison.h"
#include "ui/app/views/moment.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

struct Pair {
  scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  analysis::Run a = analysis::run_config("A", lesson.side("A"));
  analysis::Run b = analysis::run_config("B", lesson.side("B"));
};

}  // namespace

TEST_CASE("the waterfall leads from A's time to B's, and its parts sum to the difference") {
  const Pair pair;
  const Comparison comparison = compare_runs(pair.a, pair.b, &pair.lesson);
  const auto& bars = comparison.waterfall;
  REQUIRE(bars.size() >= 3);
  double at = bars.front().to;
  for (std::size_t i = 1; i + 1 < bars.size(); ++i) {
    CHECK(bars[i].from == Approx(at));
    at = bars[i].to;
  }
  CHECK(at == Approx(bars.back().to));
  CHECK(bars.front().to == Approx(*analysis::value_of(pair.a.metrics, "time.step")));
}

// "-0.17 ms" in the last of its digits.
std::int64_t ticks(std::string time) {
  time.resize(time.find(' '));
  std::erase(time, '.');
  return std::strtoll(time.c_str(), nullptr, 10);
}

TEST_CASE("what is written at the waterfall's bars sums to the last digit") {
  for (const char* id : {"pinned-vs-pageable", "channels-last", "default-stream"}) {
    INFO(id);
    const scenario::Lesson lesson = scenario::find_lesson(id);
    const Comparison comparison =
        compare_runs(analysis::run_config("A", lesson.side("A")),
                     analysis::run_config("B", lesson.side("B")), &lesson);
    REQUIRE(comparison.waterfall.size() >= 3);
    std::int64_t at = ticks(comparison.waterfall.front().value);
    for (std::size_t i = 1; i + 1 < comparison.waterfall.size(); ++i)
      at += ticks(comparison.waterfall[i].value);
    CHECK(at == ticks(comparison.waterfall.back().value));
  }
}

TEST_CASE("the waterfall says that its times are a step's, be there one of them or many") {
  Pair pair;
  REQUIRE(pair.a.facts.measured.steps > 0);
  for (const int steps : {1, 3}) {
    pair.a.facts.measured.steps = pair.b.facts.measured.steps = steps;
    CHECK(compare_runs(pair.a, pair.b, nullptr).waterfall_title.ends_with(" a step went"));
  }
  pair.a.facts.measured.steps = pair.b.facts.measured.steps = 0;
  CHECK(compare_runs(pair.a, pair.b, nullptr).waterfall_title.ends_with("ms went"));
}

TEST_CASE("metrics that the lesson names come first") {
  const Pair pair;
  const Comparison comparison = compare_runs(pair.a, pair.b, &pair.lesson);
  REQUIRE(comparison.rows.size() > 3);
  CHECK(comparison.rows[0].metric->name == "time.h2d");
  CHECK(comparison.rows[1].metric->name == "bandwidth.h2d");
  CHECK(comparison.headline.starts_with("B is "));
}

TEST_CASE("a metric that the lesson names and one side alone has stays, with a dash") {
  const scenario::Lesson lesson = scenario::find_lesson("small-model-cpu-wins");
  const analysis::Run a = analysis::run_config("A", lesson.side("A"));
  const analysis::Run b = analysis::run_config("B", lesson.side("B"));
  const auto rows = compare_runs(a, b, &lesson).rows;
  const auto found = [&](const std::vector<CompareRow>& among, const char* name) {
    return std::ranges::find_if(among,
                                [&](const CompareRow& row) { return row.metric->name == name; });
  };
  for (const char* name : {"launch.calls", "gpu.busy", "gpu.idle", "time.h2d"}) {
    INFO(name);
    const auto row = found(rows, name);
    REQUIRE(row != rows.end());
    CHECK((row->a == "-") == !analysis::value_of(a.metrics, name));
    CHECK((row->b == "-") == !analysis::value_of(b.metrics, name));
    CHECK((row->a == "-") != (row->b == "-"));
    CHECK(row->ratio.empty());
  }
  // Nobody asks for them: what one side alone has says nothing about both.
  const auto all = compare_runs(a, b, nullptr).rows;
  CHECK(found(all, "launch.calls") == all.end());
}

TEST_CASE("without a lesson the time comes first, then what explains the difference") {
  const Pair pair;
  const Comparison comparison = compare_runs(pair.a, pair.b, nullptr);
  const auto changes = analysis::compare(pair.a.facts.partition, pair.a.facts.measured.per(),
                                         pair.b.facts.partition, pair.b.facts.measured.per());
  REQUIRE_FALSE(changes.empty());
  CHECK(changes.front().part == analysis::Part::kIdleCopy);
  const auto place = [&](const char* name) {
    std::size_t at = 0;
    while (at < comparison.rows.size() && comparison.rows[at].metric->name != name) ++at;
    return at;
  };
  CHECK(place("time.step") == 0);
  CHECK(place("idle.copy") <= 2);
  CHECK(place("idle.copy") < place("time.h2d"));
  CHECK(place("time.h2d") < place("gpu.busy"));
  // What is alike stands last, behind the two times, and nothing is lost.
  bool alike = false;
  for (std::size_t i = 2; i < comparison.rows.size(); ++i) {
    const CompareRow& row = comparison.rows[i];
    const bool now = std::abs(row.share_a - row.share_b) < 0.01F;
    CHECK((now || !alike));
    alike = now;
  }
  CHECK(comparison.rows.size() == compare_runs(pair.a, pair.b, &pair.lesson).rows.size());
}

TEST_CASE("a run compared with itself is as fast as itself") {
  const Pair pair;
  const Comparison comparison = compare_runs(pair.a, pair.a, nullptr);
  CHECK(comparison.headline == "A and A take equally long");
  CHECK(comparison.waterfall.size() == 2);
}

analysis::Run with_more(const analysis::Run& run, analysis::Part part, double nanos_a_step) {
  analysis::Run slower = run;
  slower.facts.partition.time[static_cast<std::size_t>(part)] +=
      static_cast<Nanos>(nanos_a_step) * slower.facts.measured.per();
  return slower;
}

TEST_CASE("where the same kernels run at once, the waterfall names their order, not the kernels") {
  const scenario::Lesson lesson = scenario::find_lesson("default-stream");
  const analysis::Run a = analysis::run_config("A", lesson.side("A"));
  const analysis::Run b = analysis::run_config("B", lesson.side("B"));
  const Comparison comparison = compare_runs(a, b, &lesson);
  REQUIRE(comparison.waterfall.size() >= 3);
  CHECK(comparison.waterfall[1].name == "kernels one after another");
  for (const WaterfallBar& bar : comparison.waterfall) CHECK(bar.name != "kernels");
}

TEST_CASE("what differs by less than matters has nothing to explain") {
  const Pair pair;
  const double step = report::window_time(pair.a);
  using analysis::Part;
  const Comparison alike =
      compare_runs(pair.a, with_more(pair.a, Part::kIdleSync, 0.003 * step), nullptr);
  CHECK(alike.waterfall_title == "A and B take equally long");
  CHECK(alike.waterfall_note == report::kNothingToExplain);
  CHECK(alike.waterfall.size() == 2);
  // Where parts differ and their sum does not, they are shown.
  const Comparison other = compare_runs(with_more(pair.a, Part::kIdleLaunch, 0.1 * step),
                                        with_more(pair.a, Part::kIdleSync, 0.1 * step), nullptr);
  CHECK(other.waterfall_title == "A and B take equally long");
  CHECK(other.waterfall.size() == 4);
}

TEST_CASE("a ratio far from 1 is legible") {
  const Pair pair;
  const auto rows = compare_runs(pair.a, pair.b, nullptr).rows;
  REQUIRE(!rows.empty());
  for (const CompareRow& row : rows) {
    const auto a = analysis::value_of(pair.a.metrics, row.metric->name).value();
    const auto b = analysis::value_of(pair.b.metrics, row.metric->name).value();
    CHECK(row.ratio == format_ratio(b / a));
    CHECK((row.ratio != "0.00"));
  }
}

TEST_CASE("a cause too small for a bar is told in the note") {
  const Pair pair;
  const double much = 0.1 * report::window_time(pair.a);
  const analysis::Run slower =
      with_more(with_more(pair.a, analysis::Part::kIdleLaunch, much), analysis::Part::kIdleSync, 1);
  const Comparison comparison = compare_runs(pair.a, slower, nullptr);
  CHECK(comparison.waterfall.size() == 3);
  CHECK(comparison.waterfall_note ==
        "the parts sum to the difference, with +1 ns of smaller causes");
}

TEST_CASE("causes that are seen by themselves and cancel out are not called small") {
  const Pair pair;
  using analysis::Part;
  const double much = 0.1 * report::window_time(pair.a);
  analysis::Run other = with_more(pair.a, Part::kIdleLaunch, 3 * much);
  other = with_more(std::move(other), Part::kIdleSync, 2.5 * much);
  other = with_more(std::move(other), Part::kIdleGap, 2 * much);
  other = with_more(std::move(other), Part::kIdleData, much);
  other = with_more(std::move(other), Part::kMemset, -much);
  const Comparison comparison = compare_runs(pair.a, other, nullptr);
  CHECK(comparison.waterfall.size() == 5);
  CHECK(comparison.waterfall_note == "the parts sum to the difference; 2 more causes cancel out");
}

TEST_CASE("events follow one another through a trace, forth and back") {
  const Pair pair;
  const TraceView view = index_trace(pair.a.trace);
  std::vector<Nanos> forth{0};
  for (Nanos next = 0; (next = next_event(*view, forth.back())) != forth.back();)
    forth.push_back(next);
  CHECK(forth.back() == pair.a.trace->end());
  Nanos at = forth.back();
  for (auto before = forth.rbegin() + 1; before != forth.rend(); ++before) {
    at = previous_event(*view, at);
    CHECK(at == *before);
  }
  CHECK(state_at(*view, pair.a.trace->end()) == "done");
  CHECK(state_at(*view, pair.a.trace->end() / 2).find("staging") != std::string::npos);
}

TEST_CASE("a run that ended early is compared without a waterfall") {
  Pair pair;
  pair.b.ending = sim::Deadlock{};
  const Comparison comparison = compare_runs(pair.a, pair.b, &pair.lesson);
  CHECK(comparison.headline == "B never ends: deadlock");
  CHECK(comparison.waterfall.empty());
  REQUIRE_FALSE(comparison.rows.empty());
  // What it did up to there is no measure of the other.
  for (const CompareRow& row : comparison.rows) {
    CAPTURE(row.metric->name);
    CHECK(row.ratio.empty());
    CHECK(row.b.starts_with('('));
    CHECK_FALSE(row.a.starts_with('('));
  }
  CHECK_THAT(comparison.waterfall_note, Catch::EndsWith(report::kInBrackets));
  CHECK(summarise(pair.b).front().value.starts_with('('));
  CHECK(brackets_words({&pair.a}).empty());
}

TEST_CASE("of a run that ended in its first step the window names that step") {
  program::Config config;
  for (const char* setting : {"workload=train", "machine=t4-1", "batch_size=65536", "steps=3",
                              "model.hidden=8192", "model.layers=8", "data.source=tensor"})
    config.set_text(setting);
  analysis::Run run = analysis::run_config("B", config);
  REQUIRE(run.ending);
  if (run.facts.measured.steps > 0)
    CHECK_THAT(brackets_words({&run}), Catch::EndsWith("Of B they are of step 0, warm-up."));
  else
    CHECK(brackets_words({&run}) == report::kInBrackets);
}
