#include "scenario/task_knobs.h"

#include <algorithm>

namespace trainscope::scenario {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

}  // namespace

const std::vector<std::string>& knobs_of_task(const Lesson& lesson, const Step& step) {
  return step.goal_knobs.empty() ? lesson.knobs : step.goal_knobs;
}

std::vector<std::string> strays(const Lesson& lesson, const Step& step, const TurnedKnobs& base,
                                const TurnedKnobs& turned) {
  const std::vector<std::string>& allowed = knobs_of_task(lesson, step);
  std::vector<std::string> names;
  for (const bool a : {true, false}) {
    const program::Config before = lesson.side(a ? "A" : "B", a ? base.a : base.b);
    program::Config after = before;
    after.override_with(a ? turned.a : turned.b);
    for (const std::string& name : program::differing_knobs(before, after)) {
      if (!contains(allowed, name)) {
        add_once(names, name);
      } else if (name == "machine" && !lesson.machines.empty() &&
                 !contains(lesson.machines, after.word("machine"))) {
        add_once(names, "machine " + after.word("machine"));
      }
    }
  }
  return names;
}

}  // namespace trainscope::scenario
