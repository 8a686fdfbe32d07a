// A pipeline's rows of micro-batches: what is in them, and the panel that shows them.
#include "ui/panels/gpus/stage_strip.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "ui/cut_text.h"
#include "ui/panels/gpus/flow_facts.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer pipeline(const char* label, const char* schedule) {
  return run_of(label, {"workload=train", "parallel.strategy=pipeline", "parallel.world_size=3",
                        "machine=h100-sxm-8", "model.layers=8", "model.hidden=4096",
                        "batch_size=16384", "pipeline.microbatches=4", "steps=3", schedule});
}

}  // namespace

TEST_CASE("a row is a GPU, with each micro-batch's forward and backward in their order") {
  for (const char* schedule : {"pipeline.schedule=gpipe", "pipeline.schedule=1f1b"}) {
    const RunPointer run = pipeline("A", schedule);
    const analysis::StageTimes times = analysis::stage_times(*run->trace);
    REQUIRE(times.steps.size() == 3);
    for (const analysis::StageStep& step : times.steps) {
      const StepStrip strip = strip_of(times, step.time.start);
      CHECK(strip.shown.start == step.time.start);
      CHECK(strip.shown.end == step.time.end);
      CHECK(strip.has_ground);
      REQUIRE(strip.lanes.size() == 3);
      for (std::size_t gpu = 0; gpu < strip.lanes.size(); ++gpu) {
        const StripLane& lane = strip.lanes[gpu];
        CHECK(lane.name == "GPU " + std::to_string(gpu));
        REQUIRE(lane.bars.size() == 8);
        std::string forwards, backwards;
        for (std::size_t i = 0; i < lane.bars.size(); ++i) {
          const StripBar& bar = lane.bars[i];
          CHECK(bar.is_numbered);
          if (i > 0) CHECK(lane.bars[i - 1].time.end <= bar.time.start);
          (bar.category == trace::Category::kForward ? forwards : backwards) += bar.label;
        }
        CHECK(forwards == "0123");
        CHECK(backwards == "0123");
      }
    }
  }
}

TEST_CASE("a GPU's stages are named, and told apart by how pale they are") {
  const RunPointer run = pipeline("A", "pipeline.schedule=interleaved_1f1b");
  const analysis::StageTimes times = analysis::stage_times(*run->trace);
  const StepStrip strip = strip_of(times, times.steps[1].time.start);
  REQUIRE(strip.lanes.size() == 3);
  for (std::size_t gpu = 0; gpu < strip.lanes.size(); ++gpu) {
    std::map<std::string, std::set<float>> tones;  // by stage
    for (const StripBar& bar : strip.lanes[gpu].bars) {
      REQUIRE(bar.label.ends_with(":" + bar.shorter));
      REQUIRE(bar.shades.size() == 1);
      tones[bar.label.substr(0, bar.label.find(':'))].insert(bar.shades.front().busy);
    }
    REQUIRE(tones.size() == 2);
    const auto &first = tones.at(std::to_string(gpu)), &second = tones.at(std::to_string(gpu + 3));
    CHECK(first == std::set<float>{1});
    CHECK(second.size() == 1);
    CHECK(*second.begin() < 0.6F);
  }
}

TEST_CASE("the panel shows a pipeline, and the mouse moves the playhead along its rows") {
  for (const auto& [width, schedule] : {std::pair{1000, "1f1b"},
                                        {1600, "1f1b"},
                                        {1000, "interleaved_1f1b"},
                                        {1600, "interleaved_1f1b"}}) {
    INFO("width " << width << ", " << schedule);
    REQUIRE_DRIVER(driver, width, 800);
    const std::string knob = std::string("pipeline.schedule=") + schedule;
    driver->workspace().open_runs({pipeline("A", knob.c_str())});
    driver->settle();
    REQUIRE(driver->app().can("layout.gradient_flow"));
    driver->app().run("layout.gradient_flow");
    driver->settle();
    const Nanos before = driver->workspace().playhead.time;
    REQUIRE(driver->act([](ImGuiTestContext* context) {
      context->ItemClick("//Gradient flow##single/**/##step");
    }));
    CHECK(driver->workspace().playhead.time != before);
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
  }
}

TEST_CASE("of several pipelines a row has the sums of its gradients, too, behind what computes") {
  const RunPointer run =
      run_of("A", {"workload=train", "parallel.strategy=pipeline", "parallel.world_size=4",
                   "pipeline.degree=2", "machine=h100-sxm-8", "model.layers=8", "model.hidden=4096",
                   "batch_size=16384", "pipeline.microbatches=4", "steps=3"});
  const FlowFacts facts(run);
  CHECK(facts.stages.pipelines == 2);
  CHECK(facts.stages.stages == 2);
  const StepStrip strip = strip_of(facts.stages, facts.stages.steps[2].time.start);
  REQUIRE(strip.lanes.size() == 4);
  for (const StripLane& lane : strip.lanes) {
    std::size_t sums = 0;
    for (const StripBar& bar : lane.bars) sums += bar.category == trace::Category::kCollective;
    CHECK(sums > 0);
    REQUIRE(lane.bars.size() == sums + 8);
    for (std::size_t i = 0; i < sums; ++i)
      CHECK(lane.bars[i].category == trace::Category::kCollective);
    // The last backward does not go on while its sums are waited for.
    CHECK(lane.bars.back().time.end < lane.bars[sums - 1].time.end);
  }
  CHECK_THAT(title_of(facts, 0).front(),
             Catch::Matchers::Contains("2 pipelines, 2 stages each on"));
}

TEST_CASE("pipelines that stand beside each other are drawn to one scale") {
  REQUIRE_DRIVER(driver, 1600, 900);
  const RunPointer a = pipeline("A", "batch_size=12288"), b = pipeline("B", "batch_size=16384");
  driver->workspace().open_runs({a, b});
  driver->settle();
  driver->app().run("layout.gradient_flow");
  driver->settle();
  const auto step_of = [&](const RunPointer& run, std::size_t side) {
    const analysis::StageTimes times = analysis::stage_times(*run->trace);
    return times.steps[times.step_at(playhead_of(driver->workspace(), side))].time;
  };
  const analysis::Interval own = step_of(a, 0), longer = step_of(b, 1);
  const double length = static_cast<double>(longer.end - longer.start);
  REQUIRE(static_cast<double>(own.end - own.start) < 0.9 * length);
  // In the middle of A's rows half of B's longer step has gone by.
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Gradient flow##pair/**/##step"); }));
  const Nanos now = driver->workspace().playhead.time;
  CHECK(static_cast<double>(now - own.start) == Approx(length / 2).epsilon(0.01));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}
