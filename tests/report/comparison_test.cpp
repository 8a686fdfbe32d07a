#include "report/comparison.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/runs/published_errors.h"
#include "report/beyond_steps.h"
#include "report/html.h"
#include "report/runs.h"

using namespace trainscope;

namespace {

// Two steps of 100 ns, or as long as asked, that train so many samples each.
analysis::Run stepped(std::string label, std::int64_t samples, double step) {
  analysis::Run run = test::run_of(std::move(label), test::kernels(2));
  auto program = std::make_shared<program::Program>();
  program->samples_per_step = static_cast<double>(samples);
  run.program = std::move(program);
  run.facts.measured.steps = 2;
  for (const analysis::Metric& metric : analysis::metrics()) {
    if (metric.name == "time.step") run.metrics.push_back({&metric, step});
    if (metric.name == "throughput.samples")
      run.metrics.push_back({&metric, static_cast<double>(samples) / step});
  }
  return run;
}

// The same of a model that reads sequences of so many tokens.
analysis::Run reading(std::string label, std::int64_t samples, std::int64_t tokens, double step) {
  analysis::Run run = stepped(std::move(label), samples, step);
  auto program = std::make_shared<program::Program>(*run.program);
  program->data.tokens = tokens;
  run.program = std::move(program);
  for (const analysis::Metric& metric : analysis::metrics())
    if (metric.name == "throughput.tokens")
      run.metrics.push_back({&metric, static_cast<double>(samples * tokens) / step});
  return run;
}

analysis::Run ended(std::string label, sim::Ending why) {
  analysis::Run run = stepped(std::move(label), 8, 100);
  run.ending = std::move(why);
  return run;
}

}  // namespace

TEST_CASE("steps of one size are told apart by their times") {
  CHECK(report::headline(stepped("A", 8, 200), stepped("B", 8, 100)) == "B is 2.00x faster");
  CHECK(report::less_is_faster(stepped("A", 8, 200), stepped("B", 8, 100)));
  CHECK(report::headline(stepped("A", 8, 100), stepped("B", 8, 100)) ==
        "A and B take equally long");
}

TEST_CASE("runs whose steps are alike differ by what lies between these") {
  const auto validates = [](const char* label, const char* every) {
    program::Config config;
    for (const char* setting : {"workload=train", "model.name=mlp", "data.name=digits",
                                "batch_size=100", "steps=16", "validation.batches=6", every})
      config.set_text(setting);
    return analysis::run_config(label, config);
  };
  const analysis::Run a = validates("A", "validation.every=2"),
                      b = validates("B", "validation.every=8");
  const auto beyond = report::beyond_steps(a, b);
  REQUIRE(beyond);
  CHECK(beyond->validating == Approx(beyond->nanos).epsilon(0.05));
  CHECK(beyond->nanos < 0);
  CHECK_THAT(report::headline(a, b),
             Catch::StartsWith("Equal steps; A's run takes ") && Catch::EndsWith(" longer"));
  CHECK_THAT(report::nothing_to_explain(a, b),
             Catch::StartsWith("Steps take equally long; the runs differ by ") &&
                 Catch::EndsWith(" validations between steps."));
  CHECK(report::alike_heading(a, b) == "The steps of A and B take equally long");
  const analysis::Run same = validates("B", "validation.every=2");
  CHECK_FALSE(report::beyond_steps(a, same));
  CHECK(report::nothing_to_explain(a, same) == report::kNothingToExplain);
  CHECK(report::headline(a, same) == "A and B take equally long");
}

TEST_CASE("steps of other sizes are told apart by what they train a second") {
  const analysis::Run a = stepped("A", 1, 100);
  CHECK(report::headline(a, stepped("B", 1024, 15400)) ==
        "B trains 6.65x as many samples a second; its step takes 154x as long");
  CHECK(report::headline(a, stepped("B", 2, 400)) ==
        "A trains 2.00x as many samples a second; B's step takes 4.00x as long");
  CHECK(report::headline(a, stepped("B", 2, 100)) ==
        "B trains 2.00x as many samples a second; their steps take equally long");
  CHECK(report::headline(a, stepped("B", 2, 200)) ==
        "A and B train equally many samples a second; B's step takes 2.00x as long");
  CHECK_FALSE(report::less_is_faster(a, stepped("B", 2, 400)));
}

TEST_CASE("sequences of other lengths are told apart by their tokens") {
  const analysis::Run a = reading("A", 16, 512, 100);
  CHECK(report::headline(a, reading("B", 1, 8192, 130)) == "A is 1.30x faster");
  CHECK(report::less_is_faster(a, reading("B", 1, 8192, 130)));
  CHECK(report::headline(a, reading("B", 16, 1024, 250)) ==
        "A trains 1.25x as many tokens a second; B's step takes 2.50x as long");
  CHECK(report::headline(a, reading("B", 32, 512, 200)) ==
        "A and B train equally many tokens a second; B's step takes 2.00x as long");
  // One that does not say how long its samples are.
  CHECK(report::headline(a, stepped("B", 32, 200)) ==
        "A and B train equally many samples a second; B's step takes 2.00x as long");
}

TEST_CASE("a speed far from 1 has as many digits as can be read") {
  CHECK(report::headline(stepped("A", 8, 18'182'000), stepped("B", 8, 1'000)) ==
        "B is 18,200x faster");
}

TEST_CASE("a verdict within the published errors of a strategy says so") {
  const std::vector<analysis::PublishedErrors> all = analysis::load_published_errors();
  const auto fsdp = std::ranges::find(all, "fsdp", &analysis::PublishedErrors::strategy);
  REQUIRE(fsdp != all.end());
  REQUIRE(fsdp->largest() > 0.05);
  const auto trained = [](const char* label, const char* strategy, double step) {
    analysis::Run run = stepped(label, 8, step);
    run.config.set("parallel.strategy", std::string(strategy));
    run.trace = test::empty_trace(trace::OriginKind::kSimulated);
    return run;
  };
  const analysis::Run ddp = trained("A", "ddp", 100), near = trained("B", "fsdp", 99),
                      far = trained("B", "fsdp", 50), same = trained("B", "ddp", 99);
  CHECK_THAT(report::closeness(ddp, near),
             Catch::StartsWith("closer than the simulator's error for FSDP, ") &&
                 Catch::EndsWith(" published rows"));
  CHECK(report::closeness(ddp, far).empty());
  CHECK(report::closeness(ddp, same).empty());
  CHECK(report::closeness(ddp, ended("B", sim::Deadlock{})).empty());
}

TEST_CASE("a run that ended early has no speed") {
  const analysis::Run a = stepped("A", 8, 100), b = ended("B", sim::Deadlock{});
  CHECK(report::headline(a, b) == "B never ends: deadlock");
  CHECK(report::headline(a, ended("B", sim::OutOfMemory{})) == "B ran out of memory");
  CHECK(report::headline(ended("A", sim::Diverged{}), a) == "A diverged");
  CHECK(report::headline(ended("A", sim::Deadlock{}), b) == "A and B never end: deadlock");
  CHECK(report::headline(ended("A", sim::OutOfMemory{}), b) ==
        "A ran out of memory; B never ends: deadlock");
  CHECK_FALSE(report::less_is_faster(a, b));
}

TEST_CASE("what a run that ended early took is not set against the other's time") {
  analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  CHECK_FALSE(report::compare_times(a, b).changes.empty());
  b.ending = sim::Deadlock{};
  CHECK(report::compare_times(a, b).changes.empty());
  report::ReportInput input;
  input.runs = {&a, &b};
  const std::string html = report::html_report(input);
  CHECK(html.find("B never ends: deadlock") != html.npos);
  CHECK(html.find("The parts sum to the difference") == html.npos);
  // Its figures stand in brackets, which the page explains, and beside no ratio.
  CHECK(html.find("<td class=\"number\">(") != html.npos);
  CHECK(html.find(report::kInBrackets) != html.npos);
  CHECK(html.find("<td class=\"number muted\">") == html.npos);
  b.ending.reset();
  const std::string whole = report::html_report(input);
  CHECK(whole.find("<td class=\"number\">(") == whole.npos);
  CHECK(whole.find(report::kInBrackets) == whole.npos);
  CHECK(whole.find("<td class=\"number muted\">") != whole.npos);
}
