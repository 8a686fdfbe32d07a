#include "report/roofline_chart.h"

#include <catch2/catch.hpp>
#include <regex>

#include "report/html.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

namespace {

std::string roofline_of(const std::vector<const analysis::Run*>& runs,
                        const report::PageLimits& limits = {}) {
  return report::roofline_html(report::view_runs(runs, limits), limits);
}

analysis::Run training(std::string label) {
  return test::simulated(std::move(label), {"workload=train", "model.name=mlp", "steps=3",
                                            "machine=h200-1", "loop.evaluate=false"});
}

// A kernel whose FLOPs and bytes the file tells.
analysis::Run imported(std::string label, const std::string& name, int kernels) {
  auto trace = test::empty_trace();
  const trace::LaneId lane = test::add_stream(*trace, "stream 7");
  for (int i = 0; i < kernels; ++i) {
    trace::KernelDetail detail;
    detail.flops = 1e9 * (i + 1);
    detail.bytes = 1e7;
    trace::Span span;
    span.start = 100'000 * i;
    span.duration = 50'000 - i;
    span.name = trace->intern(name);
    span.lane = lane;
    span.category = trace::Category::kKernel;
    span.detail = trace->add_detail(detail);
    trace->add_span(span);
  }
  return test::run_of(std::move(label), trace);
}

}  // namespace

TEST_CASE("a report has its kernels on the roofline, all within the chart") {
  const analysis::Run run = training("A");
  const std::string html = roofline_of({&run});
  CHECK(test::unbalanced(html) == "");
  CHECK(has(html, "class=\"roof\""));
  CHECK(has(html, "SIMULATED"));
  const std::regex point(
      "class=\"point [a-z -]+\" cx=\"([0-9.]+)\" cy=\"([0-9.]+)\" r=\"([0-9.]+)\"");
  std::size_t points = 0;
  for (std::sregex_iterator at(html.begin(), html.end(), point), end; at != end; ++at, ++points) {
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]), radius = std::stod((*at)[3]);
    CHECK(x - radius >= 109.9);
    CHECK(x + radius <= 1180.1);
    CHECK(y - radius >= 13.9);
    CHECK(y + radius <= 330.1);
  }
  CHECK(points > 3);
  const auto& kernels = run.facts.roofline.kernels;
  CHECK(has(html, std::string(machine::name_of(kernels.front().regime.bound))));
}

TEST_CASE("the words of two GPUs' roofs stand clear of one another in a report") {
  const auto on = [](const char* label, const char* machine) {
    return test::simulated(label, {"workload=train", "model.name=mlp", "steps=3", "precision=fp16",
                                   machine, "loop.evaluate=false"});
  };
  const analysis::Run a = on("A", "machine=l40s-1"), b = on("B", "machine=a100-40-sxm-1");
  const std::string html = roofline_of({&a, &b});
  const std::regex words(
      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" class=\"halo\" text-anchor=\"(start|end)\">([^<]+)<");
  struct Words {
    double left, right, y;
  };
  std::vector<Words> found;
  for (std::sregex_iterator at(html.begin(), html.end(), words), end; at != end; ++at) {
    constexpr double kNarrowest = 6;  // a letter of 12 px type, on average
    const double x = std::stod((*at)[1]),
                 wide = kNarrowest * static_cast<double>((*at)[4].length());
    const double left = (*at)[3] == "end" ? x - wide : x;
    found.push_back({left, left + wide, std::stod((*at)[2])});
  }
  CHECK(found.size() >= 6);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool beside = found[i].right <= found[j].left || found[j].right <= found[i].left;
      CHECK((beside || std::abs(found[i].y - found[j].y) >= 12));
    }
}

TEST_CASE("kernels of a file have points without roofs, and their names stay names") {
  const analysis::Run run = imported("A", "<script>\"k\"", 3);
  const std::string html = roofline_of({&run});
  CHECK(test::unbalanced(html) == "");
  CHECK_FALSE(has(html, "<script"));
  CHECK(test::count(html, "class=\"point bound-not-known\"") == 3);
  CHECK_FALSE(has(html, "class=\"roof"));
  CHECK(has(html, "IMPORTED"));
}

TEST_CASE("of many kernels the longest are on the roofline, and the report counts the others") {
  const analysis::Run run = imported("A", "k", 30);
  report::PageLimits limits;
  limits.rows = 10;
  const std::string html = roofline_of({&run}, limits);
  CHECK(test::count(html, "<circle") == 10);
  CHECK(has(html, "the 10 longest kernels are drawn, 20 shorter ones are not"));
}

TEST_CASE("the views of a run stand in its report, those of which it has anything alone") {
  const analysis::Run train = training("A"), copies = test::copies("B", "pinned");
  report::ReportInput input;
  input.runs = {&train};
  const std::string html = report::html_report(input);
  CHECK(test::unbalanced(html) == "");
  for (const char* there : {"memory-title", "sms-title", "roofline-title"}) CHECK(has(html, there));
  for (const char* missing : {"flow-title", "scaling-title"}) CHECK_FALSE(has(html, missing));
  input.runs = {&copies};
  CHECK_FALSE(has(report::html_report(input), "class=\"panel view\""));
  input.runs = {};
  CHECK_FALSE(has(report::html_report(input), "class=\"panel view\""));
}

TEST_CASE("labels of runs stay labels in all views of a report") {
  const analysis::Run a = training("<u>A"), b = training("<u>B");
  report::ReportInput input;
  input.runs = {&a, &b};
  const std::string html = report::html_report(input);
  CHECK(test::unbalanced(html) == "");
  CHECK_FALSE(has(html, "<u>"));
}
