// The solution of a vary step: the knobs that do what it asks for, and the runs with them.
//
//   solution = { common.batch_size = 512, B.loader.num_workers = 4 }
#pragma once

#include <functional>
#include <map>
#include <string>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// Reads it as `[config]` is read: `common` is both sides, over which A and B go. Throws InputError
// for knobs that the step's goal does not allow, and for a step that asks for nothing.
TurnedKnobs read_solution(const toml::table& table, const std::string& file, const Step& step);

// A lesson's [[draw]], in the same form: what a student's seed may have instead of the lesson's
// own.
TurnedKnobs read_draw(const toml::table& table, const std::string& file);

// Throws InputError where the lesson does not show a knob that the step's solution turns.
void check_shown(const Lesson& lesson, const Step& step);

// Both sides' runs with a solution over their configs; a side that it does not turn is as it was.
struct SolvedRuns {
  analysis::RunPointer turned_a, turned_b;  // null: not turned
  Sides sides;
};

// `sides`: the lesson's own runs, A and B, which must outlive what is returned.
SolvedRuns solve(const TurnedKnobs& solution, const Sides& sides);

// By the step's id: of each step whose solution does on these runs what the step asks for.
using SolvedSteps = std::map<std::string, SolvedRuns, std::less<>>;
// Where `stopped` says so, no further step is solved.
SolvedSteps solve_steps(
    const Lesson& lesson, const Sides& sides,
    const std::function<bool()>& stopped = [] { return false; });

// Whether a goal holds; not where it names a metric that these runs do not have.
bool is_reached(const Expression& goal, const Sides& sides);

}  // namespace trainscope::scenario
