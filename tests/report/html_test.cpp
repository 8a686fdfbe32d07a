#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/causes/part_category.h"
#include "analysis/views/operations.h"
#include "base/units.h"
#include "report/comparison.h"
#include "report/escape.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/runs.h"
#include "report/words.h"

using namespace trainscope;
using nlohmann::json;
using test::has;

namespace {

std::string report_of(std::vector<const analysis::Run*> runs) {
  report::ReportInput input;
  input.title = "Pinned vs pageable";
  input.runs = std::move(runs);
  input.version = "1.2.3";
  return report::html_report(input);
}

json data_of(const std::string& html) {
  return json::parse(test::between(html, "id=\"data\">", "</script>"));
}

// Spans that the embedded data stands for.
std::int64_t spans_in(const json& run) {
  std::int64_t spans = 0;
  for (const json& lane : run["lanes"])
    for (const json& row : lane["rows"]) {
      const auto size = row["size"].get<std::int64_t>();
      if (!row.contains("m")) spans += size;
      if (row.contains("m"))
        for (const json& count : row["m"])
          spans += std::max(count.get<std::int64_t>(), std::int64_t{1});
    }
  return spans;
}

}  // namespace

TEST_CASE("two runs are told apart operation by operation") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string both = report_of({&a, &b});
  CHECK(both.find("Operations, a step") != std::string::npos);
  const std::string table = test::between(both, "Operations, a step", "</table>");
  CHECK(table.find("A total") != std::string::npos);
  CHECK(table.find("copy H2D") != std::string::npos);
}

TEST_CASE("two runs that are alike have nothing to explain, and no operations that differ") {
  const analysis::Run a = test::copies("A", "pinned"), b = test::copies("B", "pinned");
  const std::string html = report_of({&a, &b});
  CHECK(has(html, "<h3>A and B take equally long</h3>"));
  CHECK(has(html, report::kNothingToExplain));
  CHECK_FALSE(has(html, "<ol class=\"waterfall\">"));
  CHECK(has(html, "operations take as long in both."));
  CHECK_FALSE(has(html, "A total"));
  CHECK(test::unbalanced(html) == "");
}

TEST_CASE("two runs whose only operation is alike say so of one operation") {
  const analysis::Run a = test::run_of("A", test::kernels(1)),
                      b = test::run_of("B", test::kernels(1));
  CHECK(has(report_of({&a, &b}), "The only operation takes as long in both."));
}

TEST_CASE("one run has its operations too, and what they make up of a step") {
  const analysis::Run run = test::copies("A", "pinned");
  const std::string html = report_of({&run});
  CHECK(test::unbalanced(html) == "");
  const std::string table = test::between(html, "Operations, a step", "</table>");
  CHECK(has(table, ">of a step</th>"));
  CHECK(has(table, ">total</th>"));
  const auto rows = analysis::operation_rows(run.facts.measured);
  REQUIRE(!rows.empty());
  CHECK(rows.front().b.durations.empty());
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i - 1].a.total >= rows[i].a.total);
  for (const analysis::OperationRow& row : rows) CHECK(has(table, ">" + row.shown + " <span"));
  // What the GPU does stands first.
  CHECK(table.rfind(">GPU<") < table.find(">host<"));
}

TEST_CASE("who waits for whom among ranks stands in the page") {
  const analysis::Run run = test::straggling();
  REQUIRE(run.ranks.size() == 2);
  const std::string html = report_of({&run});
  CHECK(test::unbalanced(html) == "");
  const std::string table = test::between(html, "<h3>Ranks</h3>", "</table>");
  CHECK(has(table, "rank of A"));
  for (const analysis::RankTimes& one : run.ranks) {
    CHECK(has(table, ">" + std::to_string(one.rank) + "</th>"));
    CHECK(has(table, ">" + format_nanos(one.busy) + "<"));
    CHECK(has(table, ">" + format_nanos(one.idle) + "<"));
  }
  const analysis::Run alone = test::copies("A", "pinned");
  CHECK_FALSE(has(report_of({&alone}), "<h3>Ranks</h3>"));
}

TEST_CASE("that a rank waits for nobody is said where there is one") {
  constexpr const char* kNobody = "A rank that waits for nobody";
  const analysis::Run slow = test::straggling();
  CHECK(has(report_of({&slow}), kNobody));
  const analysis::Run pipeline = test::simulated(
      "A", {"workload=train", "model.name=gpt2", "data.name=tokens", "model.seq_len=512",
            "machine=dgx1-v100-8", "steps=3", "batch_size=16", "parallel.strategy=pipeline",
            "parallel.world_size=4", "pipeline.microbatches=4"});
  const std::string html = report_of({&pipeline});
  CHECK(has(html, "<h3>Ranks</h3>"));
  CHECK(has(html, "a wait counts where the GPU does nothing else meanwhile"));
  CHECK_FALSE(has(html, kNobody));
}

TEST_CASE("what each colour of the timelines means stands in the page") {
  const analysis::Run run = test::copies("A", "pageable");
  const std::string html = report_of({&run});
  const std::string meanings = test::between(html, "What the colours mean", "</details>");
  std::size_t used = 0;
  for (std::size_t i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<trace::Category>(i);
    CHECK_FALSE(report::meaning_of(category).empty());
    const std::string legend = "s-" + report::slug(trace::name_of(category)) + "\"></i>";
    used += has(html, legend);
    CHECK(has(html, legend) == has(meanings, report::html_text(report::meaning_of(category))));
  }
  CHECK(used > 3);
  CHECK(has(meanings, report::meaning_of(trace::Category::kHeld)));
}

TEST_CASE("each part that the time is made of has a colour in the page") {
  const std::string_view style = report::page_style();
  for (std::size_t i = 0; i < analysis::kPartCount; ++i) {
    const auto part = static_cast<analysis::Part>(i);
    CAPTURE(analysis::name_of(part));
    const std::string kind = report::slug(trace::name_of(analysis::category_of(part)));
    CHECK(has(std::string(style), ".p-" + kind + " {"));
  }
}

TEST_CASE("a report is well-formed and asks the network for nothing") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string html = report_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  for (const char* outside : {"http:", "https:", "src=", "<link", "<img", "@import", "fetch("}) {
    CAPTURE(outside);
    CHECK_FALSE(has(html, outside));
  }
  for (std::size_t at = html.find("url("); at != html.npos; at = html.find("url(", at + 1))
    CHECK(html[at + 4] == '#');
  CHECK(has(html, "default-src 'none'"));
}

TEST_CASE("a report says where its numbers come from") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string html = report_of({&a, &b});
  CHECK(has(html, "SIMULATED"));
  CHECK(has(html, a.trace->origin().subject));
  CHECK(has(html, "pytorch-eager"));
  CHECK(has(html, "1.2.3"));
  CHECK_FALSE(has(html, "IMPORTED"));
  const analysis::Run imported = test::run_of("B", test::kernels(3));
  const std::string mixed = report_of({&a, &imported});
  CHECK(has(mixed, "A SIMULATED"));
  CHECK(has(mixed, "B IMPORTED"));
}

TEST_CASE("every span of both runs is in the page") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const json data = data_of(report_of({&a, &b}));
  REQUIRE(data["runs"].size() == 2);
  CHECK(spans_in(data["runs"][0]) == a.trace->spans().size());
  CHECK(spans_in(data["runs"][1]) == b.trace->spans().size());
}

TEST_CASE("the embedded columns give back start, length and name of each span") {
  const analysis::Run run = test::run_of("A", test::kernels(20));
  const json data = data_of(report_of({&run}));
  const json& row = data["runs"][0]["lanes"][0]["rows"][0];
  Nanos end = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const trace::Span& span = run.trace->spans()[i];
    CHECK(end + row["s"][i].get<Nanos>() == span.start);
    end = span.start + row["d"][i].get<Nanos>();
    CHECK(end == span.end());
    CHECK(data["strings"][row["n"][i].get<std::size_t>()] == run.trace->name(span));
  }
}

TEST_CASE("a bar leads back to the bar that it waited for") {
  auto trace = test::empty_trace();
  const auto one = test::add_stream(*trace, "one"), two = test::add_stream(*trace, "two");
  const auto cause = test::add_kernel(*trace, one, "cause", 0, 10);
  trace::Span span;
  span.start = 10;
  span.duration = 5;
  span.lane = two;
  span.cause = trace::Cause::kEvent;
  span.cause_span = cause;
  trace->add_span(span);
  const analysis::Run run = test::run_of("A", trace);
  const json data = data_of(report_of({&run}));
  const json& row = data["runs"][0]["lanes"][1]["rows"][0];
  CHECK(row["w"][0] == 1);  // one bar before this one
  CHECK(data["causes"][row["k"][0].get<std::size_t>()] == "waited for an event of another stream");
}

TEST_CASE("a launch that is held waited for its queue, a kernel for room on the SMs") {
  auto trace = test::empty_trace();
  const auto stream = test::add_stream(*trace, "one");
  trace::Span span;
  span.name = trace->intern("one");
  span.duration = 5;
  span.lane = stream;
  span.cause = trace::Cause::kRoom;
  trace->add_span(span);
  span.start = 5;
  span.category = trace::Category::kHeld;
  trace->add_span(span);
  const analysis::Run run = test::run_of("A", trace);
  const json data = data_of(report_of({&run}));
  const json& row = data["runs"][0]["lanes"][0]["rows"][0];
  CHECK(data["causes"][row["k"][0].get<std::size_t>()] == "waited for room on the SMs");
  CHECK(data["causes"][row["k"][1].get<std::size_t>()] == "waited for room in the launch queue");
}

TEST_CASE("too many spans are folded with their counts, and the page says so") {
  const analysis::Run run = test::run_of("A", test::kernels(5000));
  report::ReportInput input;
  input.runs = {&run};
  input.page.bars = 300;
  const std::string html = report::html_report(input);
  const json data = data_of(html);
  CHECK(spans_in(data["runs"][0]) == 5000);
  CHECK(data["runs"][0]["lanes"][0]["rows"][0]["size"] <= 300);
  CHECK(has(html, "5000 spans, too many for a page"));
}

TEST_CASE("names with markup stay names") {
  auto trace = test::empty_trace();
  const std::string nasty =
      "</script><script>alert(1)</script> <img src=x onerror=y> \"q\" 'q' & \xE2\x80\xA8 {{title}}";
  trace->set_origin({trace::OriginKind::kImported, nasty, nasty, 0});
  const auto lane = test::add_stream(*trace, nasty);
  test::add_kernel(*trace, lane, nasty, 0, 1000);
  test::add_kernel(*trace, lane, "bad \xFF\xFE", 1000, 1000);
  trace->add_dropped({nasty, 2, true});
  const analysis::Run run = test::run_of(nasty, trace);
  report::ReportInput input;
  input.title = nasty;
  input.runs = {&run};
  input.paragraphs = {nasty};
  input.limits = {nasty};
  const std::string html = report::html_report(input);
  CHECK(test::unbalanced(html) == "");
  CHECK(test::count(html, "<script") == 2);
  CHECK(test::count(html, "</script") == 2);
  CHECK_FALSE(has(html, "<img"));
  CHECK_FALSE(has(html, "\xFF"));
  const json data = data_of(html);
  CHECK(data["runs"][0]["lanes"][0]["name"] == nasty);
  const auto names = data["strings"].get<std::vector<std::string>>();
  CHECK(std::count(names.begin(), names.end(), nasty) == 1);
  CHECK(std::count(names.begin(), names.end(), "bad \xEF\xBF\xBD\xEF\xBF\xBD") == 1);
}

TEST_CASE("equal runs give equal bytes") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("A", "pageable");
  CHECK(report_of({&a}) == report_of({&b}));
}

TEST_CASE("an empty trace and a report without runs are pages too") {
  const analysis::Run run = test::run_of("A", test::empty_trace());
  for (const std::string& html : {report_of({&run}), report_of({}), report_of({&run, &run})}) {
    CHECK(test::unbalanced(html) == "");
    CHECK_NOTHROW(data_of(html));
    CHECK_FALSE(has(html, "nan "));
    CHECK_FALSE(has(html, ">inf"));
  }
}

TEST_CASE("the metric table has each metric as the program shows it") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string table =
      test::between(report_of({&a, &b}), "<table class=\"metrics\">", "</table>");
  int shown = 0;
  for (const analysis::MetricValue& one : a.metrics) {
    const auto other = analysis::value_of(b.metrics, one.metric->name);
    if (one.value == 0 && other && *other == 0) continue;
    ++shown;
    CAPTURE(one.metric->name);
    CHECK(has(table, fmt::format(">{}<", analysis::show(*one.metric, one.value))));
  }
  CHECK(shown > 5);
}

TEST_CASE("metrics asked for come first") {
  const analysis::Run run = test::copies("A", "pageable");
  report::ReportInput input;
  input.runs = {&run};
  input.first_metrics = {"host.blocked"};
  const std::string html = report::html_report(input);
  CHECK(html.find(">host held<") < html.find(">whole run<"));
}

TEST_CASE("the waterfall names A, each part that changed, and B") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string list = test::between(report_of({&a, &b}), "class=\"waterfall\">", "</ol>");
  const auto changes = analysis::compare(a.facts.partition, a.facts.measured.per(),
                                         b.facts.partition, b.facts.measured.per());
  CHECK(test::count(list, "<li>") == changes.size() + 2);
  for (const analysis::Change& change : changes) CHECK(has(list, analysis::name_of(change.part)));
}

TEST_CASE("knobs and lines that differ are marked") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  const std::string html = report_of({&a, &b});
  CHECK(has(test::between(html, "<tr class=\"differs\">", "</tr>"), "copy.memory"));
  CHECK(test::count(html, "<tr class=\"differs\">") == 1);
  CHECK(test::count(html, "<li class=\"differs\"") == 2);  // the tensor that is pinned, a side each
  CHECK(test::count(report_of({&a, &a}), "class=\"differs\"") == 0);
}

TEST_CASE("what the model leaves out and what was dropped is said") {
  auto trace = test::kernels(3);
  trace->add_dropped({"complete event without a duration", 4, true});
  const analysis::Run run = test::run_of("A", trace);
  report::ReportInput input;
  input.runs = {&run};
  input.limits = {"What pinning itself costs."};
  const std::string html = report::html_report(input);
  CHECK(has(html, "What pinning itself costs."));
  CHECK(has(html, "4 events: complete event without a duration"));
}

TEST_CASE("the drawing stands in the page for readers without scripts") {
  const analysis::Run a = test::copies("A", "pageable");
  const std::string svg = test::between(report_of({&a}), "<svg", "</svg>");
  CHECK(has(svg, "host main"));
  CHECK(has(svg, "b-copy-h2d"));
  CHECK(has(svg, "64 MiB"));
}

TEST_CASE("counters keep their peaks when their samples are thinned out") {
  auto trace = test::kernels(10);
  const auto lane = trace->add_lane({"queue", trace::LaneKind::kCounter, 0, 0, 1, 1, "GPU 0"});
  for (int i = 0; i < 5000; ++i) trace->add_sample({i, i == 2501 ? 99.0 : 1.0, lane});
  const analysis::Run run = test::run_of("A", trace);
  report::ReportInput input;
  input.runs = {&run};
  input.page.samples_a_lane = 100;
  const std::string html = report::html_report(input);
  const json data = data_of(html);
  const auto values = data["runs"][0]["lanes"][1]["values"].get<std::vector<double>>();
  CHECK(values.size() == 100);
  CHECK(*std::max_element(values.begin(), values.end()) == 99);
  CHECK(has(html, "4900 samples of counters left out"));
}

TEST_CASE("a run that was out of memory says so at the top of its report, and has its metrics") {
  program::Config config;
  for (const char* setting : {"workload=train", "machine=t4-1", "batch_size=65536", "steps=2",
                              "model.hidden=8192", "model.layers=8", "data.source=tensor"})
    config.set_text(setting);
  const analysis::Run full = analysis::run_config("A", config);
  REQUIRE(full.ending);
  const std::string html = report_of({&full});
  CHECK(test::unbalanced(html) == "");
  CHECK(has(html, "<strong>Out of memory.</strong> NVIDIA T4 is out of memory at line"));
  CHECK(has(html, "peak allocated"));
  const analysis::Run fine = test::copies("A", "pinned");
  CHECK_FALSE(has(report_of({&fine}), "Out of memory"));
  // The roles' counters are no rows of the timeline.
  CHECK_FALSE(has(html, "\"allocated: activations\""));
  CHECK(has(html, "reserved memory"));
}

TEST_CASE("a training run's report draws its loss, and no other run's does") {
  const std::vector<std::string> training = {"model.name=mlp", "data.name=digits", "steps=30",
                                             "batch_size=32", "loop.evaluate=false"};
  const analysis::Run a = test::simulated("A", training), b = test::copies("B", "pinned");
  const std::string html = report_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  const std::string path = test::between(html, "class=\"loss side-0\" d=\"", "\"");
  CHECK(std::count(path.begin(), path.end(), 'L') == 29);  // 30 steps, one line
  CHECK(std::count(path.begin(), path.end(), 'M') == 1);
  CHECK_FALSE(has(html, "class=\"loss side-1\""));
  char first[32];
  std::snprintf(first, sizeof first, "loss %.4g at first", a.trace->steps()[0].loss);
  CHECK(has(html, first));
  CHECK_FALSE(has(report_of({&b}), "id=\"loss-title\""));
  // All drawings but the timelines' stand in a box of their own, which scrolls where it is narrow.
  CHECK(test::count(html, "<svg class=\"drawn\"") ==
        test::count(html, "<div class=\"chart\"><svg class=\"drawn\"") + 1);
}

TEST_CASE("what people wrote on a run stands among the notes, and markup in it stays text") {
  analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  CHECK_FALSE(has(report_of({&a, &b}), "Written on the timelines"));
  b.notes = {{0, 1000, 2000, "here <b>B</b> waits"}};
  const std::string html = report_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  const std::string list = test::between(html, "Written on the timelines", "</ul>");
  CHECK(has(list, "B: <strong>here &lt;b&gt;B&lt;/b&gt; waits</strong>"));
  CHECK(has(list, "1 us to 2 us"));
}

TEST_CASE("lanes of the same name say whose they are") {
  const auto trace = test::empty_trace();
  for (const int gpu : {0, 1})
    trace->add_lane(
        {"stream 7", trace::LaneKind::kStream, 0, gpu, 1, 7 + gpu, "GPU " + std::to_string(gpu)});
  trace->add_lane({"stream 9", trace::LaneKind::kStream, 0, 1, 1, 9, "GPU 1"});
  for (const trace::LaneId lane : {0U, 1U, 2U}) test::add_kernel(*trace, lane, "kernel", 0, 100);
  const analysis::Run run = test::run_of("A", trace);
  const std::string drawing = test::between(report_of({&run}), "<svg", "</svg>");
  CHECK(has(drawing, ">GPU 0, stream 7<"));
  CHECK(has(drawing, ">GPU 1, stream 7<"));
  CHECK(has(drawing, ">stream 9<"));
}

TEST_CASE("the drawing has no rows for lanes that hold samples alone") {
  const auto trace = test::empty_trace();
  test::add_kernel(*trace, test::add_stream(*trace, "stream 7"), "kernel", 0, 100);
  trace->add_lane({"queue", trace::LaneKind::kCounter, 0, 0, 1, 1, ""});
  const analysis::Run run = test::run_of("A", trace);
  const std::string drawing = test::between(report_of({&run}), "<svg", "</svg>");
  CHECK(has(drawing, "stream 7"));
  CHECK_FALSE(has(drawing, "queue"));
}

TEST_CASE("a report says which steps its times are of, and what the critical path is made of") {
  const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  for (const std::string& html : {report_of({&a}), report_of({&a, &b})}) {
    CHECK(html.find("Times are ") != std::string::npos);
    CHECK(html.find("Critical path: ") != std::string::npos);
    CHECK(html.find("Longest on it: staging, ") != std::string::npos);
  }
}
