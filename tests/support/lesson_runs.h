// Runs of a lesson's two sides, for tests of what lessons claim.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "machine/machine.h"
#include "scenario/lesson.h"
#include "support/metric_value.h"

namespace trainscope::test {

struct Pair {
  analysis::Run a, b;
};

inline Pair run_on(const scenario::Lesson& lesson, const std::string& machine,
                   const std::vector<std::string>& settings = {}) {
  program::Config flags;
  flags.set("machine", machine);
  for (const std::string& setting : settings) flags.set_text(setting);
  return {analysis::run_config("A", lesson.side("A", flags)),
          analysis::run_config("B", lesson.side("B", flags))};
}

// Side "A" or "B" with more settings.
inline analysis::Run run_side(const scenario::Lesson& lesson, const char* label,
                              const std::string& machine,
                              const std::vector<std::string>& settings = {}) {
  program::Config flags;
  flags.set("machine", machine);
  for (const std::string& setting : settings) flags.set_text(setting);
  return analysis::run_config(label, lesson.side(label, flags));
}

// `property` of both runs of a lesson on every machine that the lesson allows.
template <typename Property>
void on_every_machine(const char* id, const Property& property) {
  const scenario::Lesson lesson = scenario::find_lesson(id);
  for (const std::string& machine :
       lesson.machines.empty() ? machine::machine_ids() : lesson.machines) {
    INFO(id << " on " << machine);
    const Pair pair = run_on(lesson, machine);
    property(pair.a, pair.b);
  }
}

inline const scenario::Step& step_of(const scenario::Lesson& lesson, const char* id) {
  const auto step = std::ranges::find(lesson.steps, id, &scenario::Step::id);
  REQUIRE(step != lesson.steps.end());
  return *step;
}

// Whether the runs have what a step asks the learner to reach by turning knobs.
inline bool reached(const scenario::Step& step, const analysis::Run& a, const analysis::Run& b) {
  const auto& wanted = step.goal ? step.goal : step.done_expect;
  REQUIRE(wanted);
  return wanted->evaluate({&a, &b}).truth();
}

}  // namespace trainscope::test
