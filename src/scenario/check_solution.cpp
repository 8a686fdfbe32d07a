#include "scenario/check_solution.h"

#include <optional>

#include "scenario/extreme.h"
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

// What is wrong, in the halves of "BEFORE on WHERE AFTER".
struct Fault {
  std::string before, after;
};

std::string evaluated(const Expression& goal, const Sides& sides) {
  return ": " + goal.text() + ", and that is " + goal.evaluated(sides);
}

bool is_as_written(const Lesson& lesson, const Sides& sides) {
  return program::differing_knobs(sides[0]->config, lesson.side("A")).empty() &&
         program::differing_knobs(sides[1]->config, lesson.side("B")).empty();
}

// Of a task that asks for the least of a knob: the solution names another, or none was found.
std::optional<Fault> fault_of_extreme(const Lesson& lesson, const Step& step, const Sides& sides,
                                      const TurnedKnobs& solution) {
  if (!step.extreme) return std::nullopt;
  const std::string which = step.extreme->most ? "most" : "least";
  if (is_as_written(lesson, sides) && solution != *step.solution)
    return Fault{"the solution of step " + step.id + " is not the " + which +
                     " that does: " + words_of(*step.extreme, solution) + " does, too,",
                 ""};
  TurnedKnobs further;
  if (!goes_further(lesson, step, solve(solution, sides).sides, &further)) return std::nullopt;
  return Fault{"from its solution the " + which + " that step " + step.id + " asks for is too far",
               "; even " + words_of(*step.extreme, further) + " does, so write one that is nearer"};
}

std::optional<Fault> fault_of(const Lesson& lesson, const Step& step, const Expression& goal,
                              const Sides& sides) try {
  if (goal.evaluate(sides).truth() && is_done(lesson, step, sides))
    return Fault{"step " + step.id + " is done before the knob is turned,", evaluated(goal, sides)};
  if (!step.solution) return std::nullopt;
  const TurnedKnobs solution = solution_on(lesson, step, sides);
  const SolvedRuns solved = solve(solution, sides);
  if (!goal.evaluate(solved.sides).truth())
    return Fault{"with its solution step " + step.id + " is not done",
                 evaluated(goal, solved.sides)};
  if (auto fault = fault_of_extreme(lesson, step, sides, solution)) return fault;
  fill_in(step.explain, solved.sides);
  const std::string side = done_on_one_side(solution, goal, sides, solved.sides);
  if (!side.empty())
    return Fault{"step " + step.id + " turns knobs on both sides, and is done with those of " +
                     side + " alone",
                 "; demand them of both, as in A.batch_size == B.batch_size, or turn one side: " +
                     goal.text()};
  return std::nullopt;
} catch (const Error& error) {
  return Fault{"step " + step.id, std::string(": ") + error.what()};
}

}  // namespace

void check_solutions(const Lesson& lesson, const Sides& sides, const std::string& where,
                     Findings& findings) {
  for (const Step& step : lesson.steps) {
    const Expression* goal = task_of(step);
    if (!goal) continue;
    const SourcePlace place = FileText(lesson.file).place_of(goal->text(), step.place);
    if (!step.solution)
      findings.add(place, "step " + step.id +
                              " asks for knobs to be turned and does not say how; write solution "
                              "= { B.KNOB = VALUE }");
    if (const auto fault = fault_of(lesson, step, *goal, sides))
      findings.add_on(where, place, fault->before, fault->after);
  }
}

}  // namespace trainscope::scenario
