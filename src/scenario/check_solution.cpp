#include "scenario/check_solution.h"

#include <optional>

#include "scenario/grade.h"
#include "scenario/place_in_file.h"
#include "scenario/solution.h"

namespace trainscope::scenario {
namespace {

// A sentence where something is wrong.
std::optional<std::string> fault_of(const Step& step, const Expression& goal, const Sides& sides,
                                    const std::string& where) try {
  if (goal.evaluate(sides).truth())
    return "step " + step.id + " is done before the knob is turned, on " + where;
  if (!step.solution)
    return "step " + step.id +
           " asks for knobs to be turned and does not say how; write solution = { B.KNOB = VALUE }";
  const SolvedRuns solved = solve(*step.solution, sides);
  if (!goal.evaluate(solved.sides).truth())
    return "with its solution step " + step.id + " is not done on " + where + ": " + goal.text();
  fill_in(step.explain, solved.sides);
  return std::nullopt;
} catch (const Error& error) {
  return "step " + step.id + " on " + where + ": " + error.what();
}

}  // namespace

std::vector<Finding> check_solutions(const Lesson& lesson, const Sides& sides,
                                     const std::string& where) {
  std::vector<Finding> findings;
  for (const Step& step : lesson.steps) {
    const Expression* goal = task_of(step);
    if (!goal) continue;
    if (const auto fault = fault_of(step, *goal, sides, where))
      findings.push_back({FileText(lesson.file).place_of(goal->text(), step.place), *fault});
  }
  return findings;
}

}  // namespace trainscope::scenario
