#include "scenario/check_sweep.h"

#include <algorithm>
#include <thread>

#include "analysis/runs/run.h"

namespace trainscope::scenario {
namespace {

// One side of the lesson with the knob at a value.
analysis::Run run_at(const Lesson& lesson, const char* label,
                     const std::optional<program::Value>& value) {
  program::Config config = lesson.side(label);
  if (value) config.set(lesson.sweep->axis.knob->name, *value);
  return analysis::run_config(label, config);
}

class SweepChecker {
 public:
  explicit SweepChecker(const Lesson& lesson) : lesson_(lesson), sweep_(*lesson.sweep) {}

  std::vector<Finding> check() {
    check_shown();
    try {
      check_points();
      for (const SweepExpectation& one : sweep_.expectations) check_expectation(one);
    } catch (const Error& error) {
      add(sweep_.place, std::string("the sweep does not run: ") + error.what());
    }
    return std::move(findings_);
  }

 private:
  void add(const SourcePlace& place, std::string sentence) {
    findings_.push_back({place, std::move(sentence)});
  }

  void check_shown() {
    bool shown = false, run = false;
    for (const Step& step : lesson_.steps) {
      if (step.focus && step.focus->panel == "sweep") {
        shown = true;
        if (!run || step.kind == StepKind::kRun)
          add(step.place, "step " + step.id +
                              " shows the sweep before the lesson has run; a step "
                              "after the run may");
      }
      run = run || step.kind == StepKind::kRun;
    }
    if (!shown)
      add(sweep_.place,
          "no step shows the sweep; write focus = { panel = \"sweep\" } in a step of "
          "kind vary");
  }

  // Where a value cannot run the curve has a hole, with the reason: as long as there is a curve.
  void check_points() {
    const std::vector<LabelledConfig> sides =
        distinct_sides({{"A", lesson_.side("A")}, {"B", lesson_.side("B")}}, {sweep_.axis});
    const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const std::atomic<bool> stop{false};
    const Sweep done = run_sweep(sides, {sweep_.axis}, threads, [](std::size_t) {}, stop);
    for (std::size_t side = 0; side < sides.size(); ++side) {
      std::size_t there = 0;
      std::string refused;
      for (const SweepPoint& point : done.points) {
        there += analysis::value_of(point.sides[side].metrics, sweep_.metric->name) ? 1 : 0;
        if (refused.empty()) refused = point.sides[side].refused;
      }
      if (there >= 2) continue;
      add(sweep_.place,
          "the sweep has no curve of " + sweep_.metric->name + " for " + sides[side].first +
              (refused.empty() ? "; choose a metric that its runs have" : ": " + refused));
    }
  }

  void check_expectation(const SweepExpectation& one) {
    const analysis::Run a = run_at(lesson_, "A", one.a), b = run_at(lesson_, "B", one.b);
    const Quantity value = one.expression.evaluate({&a, &b});
    const bool low = one.sim_min && value.value < *one.sim_min;
    const bool high = one.sim_max && value.value > *one.sim_max;
    const bool untrue = value.unit == "truth" && !value.truth();
    if (low || high || untrue)
      add(one.place,
          "expected " + one.expression.text() + words_of(one) + ", but it is " + show(value));
  }

  // " with batch_size = 8 in A and 512 in B"
  std::string words_of(const SweepExpectation& one) const {
    std::string words;
    for (const auto& [label, value] : {std::pair("A", one.a), std::pair("B", one.b)})
      if (value)
        words += (words.empty() ? " with " + sweep_.axis.knob->name + " = " : " and ") +
                 program::show(*sweep_.axis.knob, *value) + " in " + label;
    return words;
  }

  const Lesson& lesson_;
  const LessonSweep& sweep_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_sweep(const Lesson& lesson) {
  if (!lesson.sweep) return {};
  return SweepChecker(lesson).check();
}

}  // namespace trainscope::scenario
