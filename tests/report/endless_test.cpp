// A wait that never ends, in what is drawn and written of it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "report/html.h"
#include "report/markup.h"
#include "report/runs.h"
#include "report/svg.h"
#include "trace/labels.h"

using namespace trainscope;
using nlohmann::json;
using test::has;

namespace {

// From 10 to 12 us: a wait whose end is none, and one of the same kind that has an end.
analysis::Run stuck() {
  auto trace = test::empty_trace();
  const auto one = test::add_stream(*trace, "one"), two = test::add_stream(*trace, "two");
  test::add_kernel(*trace, one, "work", 0, 10'000);
  const auto add_wait = [&](trace::LaneId lane, std::string_view name) {
    trace::Span span;
    span.start = 10'000;
    span.duration = 2'000;
    span.name = trace->intern(name);
    span.lane = lane;
    span.category = trace::Category::kSync;
    trace->add_span(span);
  };
  add_wait(one, trace::kEndlessWait);
  add_wait(two, "waits for rank 1");
  analysis::Run run = test::run_of("B", trace);
  sim::Deadlock why;
  why.waiting = {0};
  why.missing = {1};
  run.ending = why;
  return run;
}

// Where the open bars of a drawing begin and how wide they are.
std::vector<std::pair<double, double>> torn(const std::string& svg) {
  std::vector<std::pair<double, double>> bars;
  const std::regex bar("M([0-9.]+) [0-9.]+h([0-9.]+)l-");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at)
    bars.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  return bars;
}

}  // namespace

TEST_CASE("a wait that never ends is drawn open, to the end of what is shown") {
  const analysis::Run a = test::run_of("A", test::kernels(200)), b = stuck();
  report::ReportInput input;
  input.runs = {&a, &b};
  const std::string whole = report::timelines_svg(input);
  const auto bars = torn(whole);
  REQUIRE(bars.size() == 1);
  CHECK(bars[0].first + bars[0].second == Approx(1180).margin(1));
  CHECK(has(whole, "waits for a rank that does not come, never ends"));
  CHECK(has(whole, ">never ends</text>"));  // in place of B's whole time
  CHECK(test::count(whole, " in all<") == 1);
  // Also where only what comes after the trace's end is shown.
  report::PictureView later;
  later.start = 20'000;
  later.end = 30'000;
  const auto cut = torn(report::timelines_svg(input, later));
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].second > 1000);
  input.runs = {&a};
  CHECK(torn(report::timelines_svg(input)).empty());
}

TEST_CASE("a page's data say which wait never ends") {
  const analysis::Run run = stuck();
  report::ReportInput input;
  input.runs = {&run};
  const std::string html = report::html_report(input);
  CHECK(test::unbalanced(html) == "");
  const json data = json::parse(test::between(html, "id=\"data\">", "</script>"));
  const json& lanes = data["runs"][0]["lanes"];
  CHECK(lanes[0]["rows"][0]["e"] == json({0, 1}));
  CHECK_FALSE(lanes[1]["rows"][0].contains("e"));
  CHECK(torn(html).size() == 1);
}

TEST_CASE("why a run ended begins with a capital, and its code is code") {
  const analysis::Run run = stuck();
  report::ReportInput input;
  input.runs = {&run};
  const std::string html = report::html_report(input);
  CHECK(has(html, "<strong>Deadlock.</strong> Rank 0 waits"));
  CHECK(has(html, "<code>with model.join():</code>"));
}
