#include "scenario/check_solution.h"

#include <optional>

#include "scenario/grade.h"
#include "scenario/place_in_file.h"
#include "scenario/solution.h"

namespace trainscope::scenario {
namespace {

// What is turned in `knobs` and not alike in `other`.
program::Config apart(const program::Config& knobs, const program::Config& other) {
  program::Config own;
  for (const auto& [name, value] : knobs.values())
    if (!other.is_set(name) || other.value(name) != value) own.set(name, value);
  return own;
}

// The side, "A" or "B", with which alone a task is done that a solution does on both: then the
// explanation would tell of runs that were not made. Empty: there is none.
std::string done_on_one_side(const TurnedKnobs& solution, const Expression& goal,
                             const Sides& sides, const Sides& solved) try {
  const TurnedKnobs own{apart(solution.a, solution.b), apart(solution.b, solution.a)};
  if (own == solution) return {};
  if (is_reached(goal, {solved[0], solve({{}, own.b}, sides).sides[1]})) return "A";
  return is_reached(goal, {solve({own.a, {}}, sides).sides[0], solved[1]}) ? "B" : "";
} catch (const InputError&) {  // half of it does not run
  return {};
}

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
  const std::string side = done_on_one_side(*step.solution, goal, sides, solved.sides);
  if (!side.empty())
    return "step " + step.id + " turns knobs on both sides, and is done with those of " + side +
           " alone on " + where + "; demand them of both, as in A.batch_size == B.batch_size, " +
           "or turn one side: " + goal.text();
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
