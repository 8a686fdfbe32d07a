#include "report/scaling_chart.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

#include "analysis/views/loss_scaling.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

namespace {

std::string scaling_of(const std::vector<const analysis::Run*>& runs,
                       const report::PageLimits& limits = {}) {
  return report::scaling_html(report::view_runs(runs, limits), limits);
}

// Scales of `steps` steps: half of the one before where an update was skipped.
analysis::Run scaled(std::string label, int steps, const std::vector<int>& skipped) {
  auto trace = test::kernels(3);
  double scale = 65536;
  for (int i = 0; i < steps; ++i) {
    trace::TrainingStep step;
    step.step = i;
    step.time = 10 * i;
    step.used_scale = scale;
    step.skipped = std::ranges::find(skipped, i) != skipped.end();
    if (step.skipped) scale /= 2;
    step.loss_scale = scale;
    step.has_gradients = true;
    // As backward gave them: a tenth is below what FP16 holds before it is scaled.
    for (int k = 0; k < 10; ++k)
      step.gradients.add(static_cast<float>(std::ldexp(scale, k == 0 ? -30 : -12)));
    trace->add_step(step);
  }
  return test::run_of(std::move(label), trace);
}

}  // namespace

TEST_CASE("a report draws the loss scale in powers of two, and marks skipped updates") {
  const analysis::Run run = scaled("A", 20, {3, 7});
  const std::string html = scaling_of({&run});
  CHECK(test::unbalanced(html) == "");
  const std::string path = test::between(html, "class=\"scale\" d=\"", "\"");
  CHECK(test::count(path, "M") == 1);
  CHECK(test::count(path, "V") == 2);  // halved twice
  CHECK(test::count(test::between(html, "class=\"skips\" d=\"", "\""), "M") == 2);
  CHECK(has(html, "scale 16384 to 65536; 2 of 20 updates skipped"));
  CHECK(has(html, ">2^16</text>"));
  CHECK(has(html, "IMPORTED"));
  // Equal ratios are equally tall.
  const std::regex level("V([0-9.]+)");
  std::vector<double> levels = {std::stod(path.substr(path.find(' ') + 1))};
  for (std::sregex_iterator at(path.begin(), path.end(), level), end; at != end; ++at)
    levels.push_back(std::stod((*at)[1]));
  REQUIRE(levels.size() == 3);
  CHECK(levels[1] - levels[0] == Approx(levels[2] - levels[1]).margin(0.11));
}

TEST_CASE("a report says what of the gradients would be lost without scaling") {
  const analysis::Run run = scaled("A", 5, {});
  const std::string html = scaling_of({&run});
  CHECK(has(
      html,
      "gradients of step 4: without scaling 10.0 % would be lost in FP16, times 65536 it is 0 %"));
  CHECK(has(html, "class=\"heap before\""));
  CHECK(has(html, "class=\"heap after\""));
  CHECK(has(html, ">becomes 0</text>"));
}

TEST_CASE("the gradients drawn are those of the step at which scaling matters most") {
  auto trace = test::kernels(3);
  for (int i = 0; i < 4; ++i) {
    trace::TrainingStep step;
    step.step = i;
    step.time = 10 * i;
    step.used_scale = step.loss_scale = 1024;
    step.has_gradients = true;
    // At first they are small; later FP16 would hold them as they are.
    for (int k = 0; k < 8; ++k)
      step.gradients.add(k < 6 ? 0.0F : static_cast<float>(std::ldexp(1024, i == 1 ? -30 : -4)));
    trace->add_step(step);
  }
  const analysis::Run run = test::run_of("A", trace), plain = scaled("A", 5, {});
  const std::string html = scaling_of({&run});
  CHECK(has(html, "gradients of step 1: without scaling 100.0 % would be lost in FP16"));
  CHECK(has(html, "would lose, most."));
  // Those that are zero are a bar of their own.
  CHECK(has(html, ">75 %</text>"));
  CHECK_FALSE(has(scaling_of({&plain}), ">0 %</text>"));
}

TEST_CASE("of steps that lose as much the last one that was not skipped is drawn") {
  const analysis::Run run = scaled("A", 6, {4, 5});
  CHECK(has(scaling_of({&run}), "gradients of step 3:"));
  const analysis::Run all = scaled("A", 3, {0, 1, 2});
  CHECK(has(scaling_of({&all}), "gradients of step 2:"));
}

TEST_CASE("of many steps a report's loss scale has a bounded number of points, and it says so") {
  std::vector<int> skipped;
  for (int i = 0; i < 5000; i += 400) skipped.push_back(i);
  const analysis::Run run = scaled("A", 5000, skipped);
  report::PageLimits limits;
  limits.columns = 50;
  const std::string html = scaling_of({&run}, limits);
  CHECK(has(html, "a point is the least of 100 steps"));
  CHECK(test::count(test::between(html, "class=\"scale\" d=\"", "\""), "V") <= 50);
  CHECK(html.size() < 20'000);
}

TEST_CASE("a run that neither scales its loss nor trains in a narrow type has no loss scaling") {
  const analysis::Run copies = test::copies("A", "pinned");
  const analysis::Run plain = test::simulated("B", {"model.name=mlp", "data.name=digits", "steps=5",
                                                    "batch_size=32", "loop.evaluate=false"});
  CHECK(scaling_of({&copies, &plain}) == "");
  // A scale that never changes, of gradients that nothing is known of.
  auto trace = test::kernels(3);
  for (int i = 0; i < 4; ++i) {
    trace::TrainingStep step;
    step.step = i;
    step.time = 10 * i;
    step.used_scale = step.loss_scale = 65536;
    trace->add_step(step);
  }
  const analysis::Run steady = test::run_of("C", trace);
  CHECK(scaling_of({&steady}) == "");
}
