#include "report/flow_chart.h"

#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "analysis/views/gradient_flow.h"
#include "analysis/views/star_flow.h"
#include "base/units.h"
#include "report/markup.h"
#include "report/runs.h"
#include "report/time_table.h"

using namespace trainscope;
using test::has;

namespace {

std::string flow_of(const std::vector<const analysis::Run*>& runs,
                    const report::PageLimits& limits = {}) {
  return report::flow_html(report::view_runs(runs, limits), limits);
}

analysis::Run parallel(std::string label, const std::string& strategy) {
  std::vector<std::string> settings = {"workload=train",        "model.name=mlp",
                                       "machine=h200-8",        "steps=3",
                                       "model.hidden=2048",     "model.layers=6",
                                       "parallel.world_size=4", "parallel.strategy=" + strategy};
  if (strategy == "ddp") settings.emplace_back("ddp.bucket_cap_mb=8");
  return test::simulated(std::move(label), settings);
}

}  // namespace

TEST_CASE("a report's gradient flow has each bucket of the last backward with its times") {
  const analysis::Run run = parallel("A", "ddp");
  const std::string html = flow_of({&run});
  CHECK(test::unbalanced(html) == "");
  CHECK(has(html, "SIMULATED"));
  CHECK(has(html, ">backward</th>"));
  const analysis::GradientFlow flow = analysis::gradient_flow(*run.trace, run.program.get());
  REQUIRE(!flow.empty());
  const analysis::BackwardFlow& last = flow.backwards.back();
  REQUIRE(last.buckets.size() > 2);
  CHECK(test::count(html, "<tr><th scope=\"row\"") == last.buckets.size() + 1);
  int exposed = 0;
  for (const analysis::BucketTimes& bucket : last.buckets) {
    CHECK(has(html, ">" + format_bytes(static_cast<double>(bucket.bytes)) + "</td>"));
    if (bucket.exposed <= 0) continue;
    ++exposed;
    CHECK(has(html, ">" + format_nanos(static_cast<double>(bucket.exposed)) + "</td>"));
  }
  CHECK(exposed > 0);
  const analysis::StepExposure& step = flow.steps.back();
  CHECK(has(html, "exposed communication " +
                      format_nanos(static_cast<double>(step.buckets + step.others)) + " of "));
}

TEST_CASE("bars in a report's gradient flow lie within its axis") {
  const analysis::Run a = parallel("A", "ddp"), b = parallel("B", "dp");
  const std::string html = flow_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  const std::regex bar("style=\"left:([0-9.]+)%;width:([0-9.]+)%\"");
  std::size_t bars = 0;
  for (std::sregex_iterator at(html.begin(), html.end(), bar), end; at != end; ++at, ++bars)
    CHECK(std::stod((*at)[1]) + std::stod((*at)[2]) <= 100.02);
  CHECK(bars > 10);
}

TEST_CASE("what is red in a report's gradient flow is as long as what is exposed") {
  for (const analysis::Run& run : {parallel("A", "ddp"), test::straggling()}) {
    const analysis::GradientFlow flow = analysis::gradient_flow(*run.trace, run.program.get());
    REQUIRE(!flow.empty());
    const std::vector<analysis::BucketTimes>& buckets = flow.backwards.back().buckets;
    const std::string html = flow_of({&run});
    const std::string row = test::between(
        html, "<tr><th scope=\"row\" class=\"foreign\">" + std::to_string(buckets.size() - 1) + "<",
        "</tr>");
    const auto width = [&](const std::string& kind) {
      const std::regex bar("class=\"" + kind + "\" style=\"left:[0-9.]+%;width:([0-9.]+)%");
      double sum = 0;
      for (std::sregex_iterator at(row.begin(), row.end(), bar), end; at != end; ++at)
        sum += std::stod((*at)[1]);
      return sum;
    };
    const analysis::BucketTimes& last = buckets.back();
    const double share = width("exposed") / width("s-collective");
    CHECK(share ==
          Approx(static_cast<double>(last.exposed) / static_cast<double>(last.done - last.started))
              .margin(0.03));
  }
}

TEST_CASE("a report has DataParallel's transfers from GPU 0 and to it") {
  const analysis::Run run = parallel("A", "dp");
  const std::string html = flow_of({&run});
  CHECK(has(html, "DataParallel on 4 GPUs"));
  CHECK(has(html, ">GPU 0</th>"));
  const analysis::StarFlow star = analysis::star_flow(*run.trace);
  REQUIRE(!star.empty());
  for (const analysis::StarStageTimes& stage : star.steps.back().stages)
    CHECK(has(html, ">" + std::string(analysis::name_of(stage.stage)) + "</th>"));
}

TEST_CASE(
    "the legend of a report's gradient flow explains the colours that are in it, all of them") {
  const analysis::Run star = parallel("A", "dp"), buckets = parallel("B", "ddp");
  const auto legend = [](const std::string& html) {
    return test::between(html, "<ul class=\"legend\">", "</ul>");
  };
  const std::string of_star = flow_of({&star}), of_buckets = flow_of({&buckets});
  CHECK_FALSE(has(legend(of_star), "bucket"));
  CHECK_FALSE(has(legend(of_star), "summed"));
  CHECK(has(legend(of_star), "forward"));
  CHECK(has(legend(of_buckets), "the bucket fills"));
  CHECK_FALSE(has(legend(of_buckets), "forward"));
  CHECK(has(legend(flow_of({&star, &buckets})), "the bucket fills"));
  const std::regex bar("<i class=\"([a-z-]+)\" style=\"left:");
  const std::regex swatch("class=\"swatch ([a-z-]+)\"");
  for (const std::string& html : {of_star, of_buckets}) {
    std::set<std::string> drawn, told;
    for (std::sregex_iterator at(html.begin(), html.end(), bar), end; at != end; ++at)
      drawn.insert((*at)[1]);
    const std::string words = legend(html);
    for (std::sregex_iterator at(words.begin(), words.end(), swatch), end; at != end; ++at)
      told.insert((*at)[1]);
    CHECK(drawn == told);
    CHECK(drawn.size() > 2);
  }
}

TEST_CASE("of many buckets those that are exposed longest are in a report, and it says so") {
  const analysis::Run run = parallel("A", "ddp");
  report::PageLimits limits;
  limits.rows = 2;
  const std::string html = flow_of({&run}, limits);
  CHECK(test::count(html, "<tr><th scope=\"row\"") == 3);
  CHECK(has(html, "The 2 buckets of "));
}

TEST_CASE("a run on one GPU has no gradient flow in its report") {
  const analysis::Run copies = test::copies("A", "pinned");
  const analysis::Run imported = test::run_of("B", test::kernels(10));
  CHECK(flow_of({&copies, &imported}) == "");
}

TEST_CASE("intervals that are too close to be told apart are one bar, and all lie in the range") {
  std::vector<analysis::Interval> many;
  for (Nanos at = 0; at < 100'000; at += 10) many.push_back({at, at + 9});
  const analysis::IntervalSet set(many);
  CHECK(report::joined(set, {0, 100'000}, 100).size() == 1);
  const auto few = report::joined(set, {500, 600}, 1000);
  CHECK(few.size() == 10);
  CHECK(few.front().start >= 500);
  CHECK(few.back().end <= 600);
  CHECK(report::joined({}, {0, 10}, 5).empty());
}

TEST_CASE("names in a table of times stay names, and bars beyond its axis are not drawn") {
  report::TimeTable table;
  table.title = "<b>";
  table.heads = {"size"};
  table.start = 100;
  table.length = 100;
  table.rows = {{"<script>", {"&"}, {{{0, 50}, "gone"}, {{50, 150}, "cut"}, {{150, 400}, "end"}}}};
  const std::string html = report::time_table_html(table, {});
  CHECK(test::unbalanced(html) == "");
  CHECK_FALSE(has(html, "<script>"));
  CHECK(has(html, "&lt;script&gt;"));
  CHECK_FALSE(has(html, "gone"));
  CHECK(has(html, "class=\"cut\" style=\"left:0.00%;width:50.00%\""));
  CHECK(has(html, "class=\"end\" style=\"left:50.00%;width:50.00%\""));
}
