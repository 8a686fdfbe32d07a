// The loss scale over 10,000 steps beside PyTorch's: tests/golden/loss_scale.py.
#include "host/loss_scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/runs/run.h"
#include "base/files.h"
#include "training/training_run.h"

using namespace trainscope;
using nlohmann::json;

namespace {

json golden() {
  return json::parse(
      read_file(std::string(TRAINSCOPE_SOURCE_DIR) + "/tests/golden/loss_scale.json", 1 << 22));
}

// The scale after each step, from where it changed.
std::vector<float> scales_of(const json& one, std::size_t steps) {
  std::vector<float> scales(steps, one["options"].value("init_scale", 65536.0F));
  for (const json& change : one["changes"])
    std::fill(scales.begin() + change[0].get<std::ptrdiff_t>(), scales.end(),
              change[1].get<float>());
  return scales;
}

std::vector<std::string> settings_of(const json& one, std::size_t steps) {
  const auto infinite = one["infinite"].get<std::vector<int>>();
  std::vector<std::string> settings{
      "scaler.enabled=true", fmt::format("steps={}", steps),
      fmt::format("scaler.inject_inf_at={}", fmt::join(infinite, ","))};
  for (const auto& [name, value] : one["options"].items())
    settings.push_back(fmt::format("scaler.{}={}", name, value.dump()));
  return settings;
}

// A row for each step, with PyTorch's scale before and after it, and its skips.
void check_rows(const trace::Trace& trace, const json& one, std::size_t steps) {
  const std::vector<float> scales = scales_of(one, steps);
  const auto skipped = one["skipped"].get<std::set<std::int64_t>>();
  REQUIRE(trace.steps().size() == steps);
  double before = one["options"].value("init_scale", 65536.0F);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const trace::TrainingStep& row = trace.steps()[i];
    INFO("step " << i);
    REQUIRE(row.step == i);
    REQUIRE(row.loss_scale == scales[i]);
    REQUIRE(row.used_scale == before);
    REQUIRE(row.skipped == skipped.contains(i));
    before = row.loss_scale;
  }
}

const char* const kTinyMlp[] = {"model.name=mlp", "data.name=spirals", "model.inputs=2",
                                "model.hidden=2", "batch_size=2",      "loop.evaluate=false",
                                "optimizer.lr=0", "data.source=tensor"};

}  // namespace

TEST_CASE("the rule of the loss scale is GradScaler's, step by step") {
  const json file = golden();
  const std::size_t steps = file["about"]["steps"];
  for (const auto& [name, one] : file["cases"].items()) {
    INFO(name);
    host::LossScaleRule rule;
    rule.growth_factor = one["options"].value("growth_factor", rule.growth_factor);
    rule.backoff_factor = one["options"].value("backoff_factor", rule.backoff_factor);
    rule.growth_interval = one["options"].value("growth_interval", rule.growth_interval);
    host::LossScale state;
    state.scale = one["options"].value("init_scale", state.scale);
    const auto infinite = one["infinite"].get<std::set<std::size_t>>();
    const std::vector<float> scales = scales_of(one, steps);
    for (std::size_t step = 0; step < steps; ++step) {
      update(state, rule, infinite.contains(step));
      REQUIRE(state.scale == scales[step]);
    }
  }
}

TEST_CASE("timing only, a program skips and scales as GradScaler, read or by predicate") {
  const json file = golden();
  const std::size_t steps = file["about"]["steps"];
  for (const char* name : {"defaults", "grows in each step up to what FP32 holds",
                           "shrinks without end", "by what is no power of two"}) {
    const json& one = file["cases"][name];
    for (const char* impl : {"foreach", "fused"}) {
      INFO(name << ", " << impl);
      program::Config config;
      config.set_text("model.name=mlp");
      config.set_text("data.source=tensor");
      config.set_text(std::string("optimizer.impl=") + impl);
      for (const std::string& setting : settings_of(one, steps)) config.set_text(setting);
      const analysis::Run run = analysis::run_config("A", config);
      REQUIRE(run.program->timing_only);
      check_rows(*run.trace, one, steps);
    }
  }
}

// Not those whose scale becomes 0: dividing by it makes parameters NaN, here as in PyTorch.
TEST_CASE("computed, a program skips and scales as GradScaler, read or by predicate") {
  const json file = golden();
  const std::size_t steps = file["about"]["steps"];
  for (const char* name :
       {"defaults", "every 7 steps", "shrinks slowly", "infinite at once and at the end"}) {
    const json& one = file["cases"][name];
    for (const char* impl : {"foreach", "fused"}) {
      for (const char* clip : {"clip_grad_norm=0", "clip_grad_norm=1"}) {
        if (std::string(clip).ends_with("1") && std::string(name) != "every 7 steps") continue;
        INFO(name << ", " << impl << ", " << clip);
        test::TrainingRun run(test::with(
            test::with({std::begin(kTinyMlp), std::end(kTinyMlp)}, settings_of(one, steps)),
            {std::string("optimizer.impl=") + impl, clip}));
        REQUIRE_FALSE(run.program().timing_only);
        check_rows(run.finish().trace(), one, steps);
      }
    }
  }
}

TEST_CASE("a skipped step changes neither parameters nor the optimizer's state") {
  for (const char* impl : {"foreach", "fused"}) {
    const std::vector<std::string> settings{"model.name=mlp",
                                            "data.name=spirals",
                                            "model.inputs=2",
                                            "model.hidden=4",
                                            "batch_size=8",
                                            "loop.evaluate=false",
                                            "steps=6",
                                            "optimizer.name=adam",
                                            std::string("optimizer.impl=") + impl,
                                            "scaler.enabled=true"};
    test::TrainingRun none(test::with(settings, {"scaler.inject_inf_at=0,1,2,3,4,5"}));
    const std::vector<float> start = none.weights();
    CHECK(none.finish().weights() == start);
    for (program::Index i = 0; i < none.program().buffers.size(); ++i) {
      if (none.program().buffers[i].role != program::Role::kOptimizerState) continue;
      for (const float value : none.numbers().values(i)) REQUIRE(value == 0);
    }
    test::TrainingRun all(test::with(settings, {"scaler.inject_inf_at="}));
    CHECK(all.finish().weights() != start);
  }
}
