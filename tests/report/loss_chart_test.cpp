#include "report/loss_chart.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

namespace {

// A step's loss is computed every 10 us, the first one 10 us after the run's first event. Every
// second loss is far above the line, so that the loss itself is nowhere where its mean is.
analysis::Run falling(std::size_t steps, program::LossTarget target, Nanos start = 0) {
  auto trace = test::empty_trace();
  test::add_kernel(*trace, test::add_stream(*trace, "stream 7"), "kernel", start, 100);
  for (std::size_t i = 0; i < steps; ++i) {
    trace::TrainingStep step;
    step.step = static_cast<std::int64_t>(i);
    step.time = start + 10'000 * static_cast<Nanos>(i + 1);
    step.has_loss = true;
    step.loss = 4.0 - 3.5 * static_cast<double>(i) / static_cast<double>(steps);
    if (i % 2 == 1) step.loss += 0.5;
    trace->add_step(step);
  }
  analysis::Run run = test::run_of("A", trace);
  auto program = std::make_shared<program::Program>();
  program->target = target;
  run.program = program;
  return run;
}

std::string loss_of(const analysis::Run& run, const Speech& speech = {}) {
  return report::loss_html(report::view_runs({&run}, {}), speech);
}

}  // namespace

TEST_CASE("a report's ring is on the line that is drawn, however many steps there are") {
  for (const std::size_t steps : {40, 60, 1999}) {
    CAPTURE(steps);
    const std::string html = loss_of(falling(steps, {.loss = 2, .steps = 8}));
    CHECK(test::unbalanced(html) == "");
    const std::string ring = test::between(html, "class=\"reached side-0\" cx=\"", "/>");
    const std::string x = ring.substr(0, ring.find('"'));
    const std::string y = test::between(ring, "cy=\"", "\"");
    const std::string point = "L" + x + " " + y + "L";
    CHECK(has(test::between(html, "class=\"loss side-0\" d=\"", "\""), point));
    // Which the loss itself is not.
    CHECK_FALSE(has(test::between(html, "class=\"loss faint side-0\" d=\"", "\""), point));
  }
}

TEST_CASE("a report draws a loss once where its mean is of one step, or nothing is to be reached") {
  for (const program::LossTarget target : {program::LossTarget{2, 1}, program::LossTarget{0, 8}}) {
    const std::string html = loss_of(falling(30, target));
    CHECK(has(html, "class=\"loss side-0\""));
    CHECK_FALSE(has(html, "faint"));
  }
}

TEST_CASE("a report's time to a loss is from the run's first event, and its axis has plain ticks") {
  const std::string html = loss_of(falling(60, {.loss = 2, .steps = 8}, 40'000));
  CHECK(has(html, "the mean of 8 steps gets to 2 after 440 us, in 44 steps"));
  CHECK(has(html, ">100 us</text>"));
  CHECK(has(html, ">0</text>"));
  const std::string longer = loss_of(falling(200, {.loss = 2, .steps = 8}));
  CHECK(has(longer, ">1 ms</text>"));
  CHECK(has(longer, ">1.2 ms</text>"));
  CHECK_FALSE(has(longer, "1.20 ms"));
}

TEST_CASE("a report writes one step, and one mark, in the singular") {
  CHECK(has(loss_of(falling(30, {.loss = 9, .steps = 1})),
            "the loss of a step gets to 9 after 10 us, in 1 step<"));
  CHECK(has(loss_of(falling(30, {.loss = 0.1, .steps = 1})),
            "the loss of a step does not get to 0.1"));
  auto trace = test::empty_trace();
  for (int i = 0; i < 3; ++i) {
    trace::TrainingStep step;
    step.step = i;
    step.time = i + 1;
    step.has_loss = true;
    step.loss = 1;
    step.skipped = i == 1;
    trace->add_step(step);
  }
  trace->add_evaluation({1, 5, 200, 150});
  const std::string html = loss_of(test::run_of("A", trace));
  CHECK(has(html, "1 update skipped (red mark);"));
  CHECK(has(html, "75.0 % of the test set right after 1 step<"));
}
