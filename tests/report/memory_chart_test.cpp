#include "report/memory_chart.h"

#include <catch2/catch.hpp>
#include <map>
#include <regex>

#include "analysis/views/memory_history.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

namespace {

std::string memory_of(const std::vector<const analysis::Run*>& runs,
                      const report::PageLimits& limits = {}, const Speech& speech = {}) {
  return report::memory_html(report::view_runs(runs, limits), limits, speech);
}

analysis::Run training(std::string label, const std::string& optimizer = "optimizer.name=adamw") {
  return test::simulated(std::move(label),
                         {"workload=train", "model.name=mlp", "steps=8", "machine=h200-1",
                          "batch_size=256", "loop.evaluate=false", optimizer});
}

struct Bar {
  std::string role;
  double y = 0, height = 0;
};

// The bars of the stacked areas, by their left edges.
std::map<double, std::vector<Bar>> stacks(const std::string& html) {
  std::map<double, std::vector<Bar>> stacks;
  const std::regex area("class=\"stack r-([a-z-]+)\" d=\"([^\"]*)\"");
  const std::regex bar("M([0-9.]+) ([0-9.]+)h[0-9.]+v([0-9.]+)");
  for (std::sregex_iterator at(html.begin(), html.end(), area), end; at != end; ++at) {
    const std::string path = (*at)[2];
    for (std::sregex_iterator one(path.begin(), path.end(), bar); one != end; ++one)
      stacks[std::stod((*one)[1])].push_back(
          {(*at)[1], std::stod((*one)[2]), std::stod((*one)[3])});
  }
  return stacks;
}

double number_after(const std::string& text, const std::string& words) {
  return std::stod(test::between(text, words, "\""));
}

}  // namespace

TEST_CASE(
    "the roles in a report's memory chart stand on each other, without gaps, up to what is "
    "allocated") {
  const analysis::Run run = training("A");
  const std::string html = memory_of({&run});
  CHECK(test::unbalanced(html) == "");
  const auto all = stacks(html);
  REQUIRE(all.size() > 10);
  double bottom = 0;
  for (const auto& [x, bars] : all)
    for (const Bar& bar : bars) bottom = std::max(bottom, bar.y + bar.height);
  for (const auto& [x, bars] : all) {
    double sum = 0, top = bottom;
    for (const Bar& bar : bars) sum += bar.height, top = std::min(top, bar.y);
    CHECK(sum == Approx(bottom - top).margin(0.05));
  }
}

TEST_CASE("at the peak each role is as tall as its share of what is allocated") {
  const analysis::Run run = training("A");
  const std::string html = memory_of({&run});
  const double peak = number_after(html, "class=\"peak\" cx=\""), top = number_after(html, "cy=\"");
  const auto all = stacks(html);
  const std::vector<Bar>& bars = std::prev(all.upper_bound(peak))->second;
  double sum = 0, least = 1e9;
  for (const Bar& bar : bars) sum += bar.height, least = std::min(least, bar.y);
  CHECK(least == Approx(top).margin(0.06));
  const analysis::MemoryHistory history(*run.trace);
  for (std::size_t role = 0; role < history.roles().size(); ++role) {
    const double share = history.peak().by_role[role] / history.peak().allocated;
    if (share < 0.01) continue;
    const auto found = std::ranges::find_if(bars, [&](const Bar& bar) {
      return bar.role == history.roles()[role] ||
             (bar.role == "optimizer-state" && history.roles()[role] == "optimizer state");
    });
    CAPTURE(history.roles()[role]);
    REQUIRE(found != bars.end());
    CHECK(found->height / sum == Approx(share).margin(0.002));
  }
}

TEST_CASE("the peak in a report's words is the metric's value, beside what the GPU has") {
  const analysis::Run run = training("A");
  const std::string html = memory_of({&run});
  const auto& metric = analysis::find_metric("memory.peak_allocated");
  const std::string peak =
      analysis::show(metric, analysis::value_of(run.metrics, "memory.peak_allocated").value());
  CHECK(has(html, "peak " + peak + " of "));
  CHECK(has(html, ">peak " + peak + "</text>"));
  const std::string table = test::between(html, "At the peak", "</table>");
  CHECK(has(table, ">" + peak + "</td>"));
  CHECK(has(html, "drawn are steps"));  // of eight
  CHECK(has(html, "SIMULATED"));
}

TEST_CASE("two runs' memory is drawn to the same scales, with what each has at its peak") {
  const analysis::Run a = training("A", "optimizer.name=sgd"), b = training("B");
  const std::string html = memory_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  CHECK(test::count(html, "class=\"peak\"") == 2);
  const std::string table = test::between(html, "At the peak", "</table>");
  CHECK(has(table, "optimizer state"));
  CHECK(has(table, ">A</th>"));
  CHECK(has(table, ">B</th>"));
  // Every level of bytes is named once a chart.
  const std::regex level("text-anchor=\"end\">([0-9.]+ [KMG]iB)</text>");
  std::map<std::string, int> levels;
  for (std::sregex_iterator at(html.begin(), html.end(), level), end; at != end; ++at)
    ++levels[(*at)[1]];
  REQUIRE(!levels.empty());
  for (const auto& [words, count] : levels) {
    CAPTURE(words);
    CHECK(count == 2);
  }
}

TEST_CASE("a memory chart has no more columns than a page's limits allow") {
  const analysis::Run run = training("A");
  report::PageLimits limits;
  limits.columns = 20;
  const auto all = stacks(memory_of({&run}, limits));
  CHECK(all.size() <= 20);
  // The peak stays.
  const std::string html = memory_of({&run}, limits);
  const double top = number_after(html, "cy=\"");
  double least = 1e9;
  for (const auto& [x, bars] : all)
    for (const Bar& bar : bars) least = std::min(least, bar.y);
  CHECK(least == Approx(top).margin(0.06));
}

TEST_CASE("a run whose memory does not come and go has no memory in its report") {
  const analysis::Run copies = test::copies("A", "pinned");
  const analysis::Run imported = test::run_of("B", test::kernels(10));
  CHECK(memory_of({&copies}) == "");
  CHECK(memory_of({&imported}) == "");
  CHECK(memory_of({}) == "");
}

TEST_CASE("a report's memory is told in the page's language") {
  const analysis::Run run = training("A");
  const Speech german{{{"Memory", "Speicher"}, {"peak {} of {}", "Spitze {} von {}"}, {".", ","}}};
  const std::string html = memory_of({&run}, {}, german);
  CHECK(has(html, ">Speicher</h2>"));
  CHECK(has(html, "Spitze "));
}

TEST_CASE("what a report's memory chart shows stands at its time, and is as wide as it lasts") {
  const analysis::Run run =
      test::simulated("A", {"workload=train", "model.name=mlp", "steps=3", "machine=h200-1",
                            "batch_size=256", "loop.evaluate=false"});
  const std::string html = memory_of({&run});
  const analysis::MemoryHistory history(*run.trace);
  const auto& peak = history.peak();
  std::smatch first_tick;
  REQUIRE(std::regex_search(html, first_tick, std::regex("M([0-9.]+) [0-9.]+V")));
  const double left = std::stod(first_tick[1]);
  const double right = number_after(html, "class=\"peak\" cx=\"");
  const double top = number_after(html, "cy=\"");
  const auto all = stacks(html);
  double bottom = 0;
  for (const auto& [x, bars] : all)
    for (const Bar& bar : bars) bottom = std::max(bottom, bar.y + bar.height);
  const double a_unit = static_cast<double>(peak.time) / (right - left);
  int checked = 0;
  for (std::size_t i = 0; i + 1 < history.moments().size(); ++i) {
    const auto &moment = history.moments()[i], &next = history.moments()[i + 1];
    const auto lasts = static_cast<double>(next.time - moment.time);
    if (lasts < 8 * a_unit || moment.allocated <= 0) continue;
    const double middle = static_cast<double>(moment.time) + lasts / 2;
    const auto after = all.upper_bound(left + middle / a_unit);
    REQUIRE(after != all.begin());
    double height = 0;
    for (const Bar& bar : std::prev(after)->second) height += bar.height;
    CHECK(height / (bottom - top) == Approx(moment.allocated / peak.allocated).margin(0.002));
    ++checked;
  }
  CHECK(checked > 3);
}
