#include "scenario/solution.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.h"
#include "base/text.h"
#include "scenario/extreme.h"
#include "scenario/grade.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {
namespace {

// Where a knob of nested tables stands: {loader.num_workers = 4}.
const toml::node& node_of(const toml::table& table, std::string_view knob) {
  const toml::node* node = table.at_path(knob).node();
  return node ? *node : table;
}

void check_allowed(const toml::table& table, const std::string& file, const Step& step,
                   const program::Config& knobs) {
  for (const auto& [name, value] : knobs.values()) {
    if (step.goal_knobs.empty() || std::ranges::count(step.goal_knobs, name) > 0) continue;
    fail_at(node_of(table, name), file,
            "the goal is to be reached with " + joined(step.goal_knobs) +
                ", and the solution turns " + name);
  }
}

// `common` for both sides, over which A and B go; `read` takes one of these tables, or null.
template <typename Read>
TurnedKnobs both_sides(const Fields& fields, const Read& read) {
  fields.only({"common", "A", "B"});
  TurnedKnobs knobs;
  knobs.a = knobs.b = read(fields.table("common"));
  knobs.a.override_with(read(fields.table("A")));
  knobs.b.override_with(read(fields.table("B")));
  return knobs;
}

// The side with a solution's knobs; null: it has them already.
analysis::RunPointer turned(const program::Config& knobs, const analysis::Run& run) {
  program::Config config = run.config;
  config.override_with(knobs);
  if (program::differing_knobs(config, run.config).empty()) return nullptr;
  return std::make_shared<const analysis::Run>(analysis::run_config(run.label, config));
}

}  // namespace

TurnedKnobs read_solution(const toml::table& table, const std::string& file, const Step& step) {
  const Fields fields(table, file, "a solution");
  if (step.kind != StepKind::kVary || !task_of(step))
    fields.fail("a solution is of a step of kind vary that has a goal, or expect in done_when");
  TurnedKnobs solution = both_sides(fields, [&](const toml::table* side) {
    program::Config knobs = side ? read_knobs(*side, file) : program::Config();
    if (side) check_allowed(*side, file, step, knobs);
    return knobs;
  });
  if (solution == TurnedKnobs()) fields.fail("a solution turns a knob: B.batch_size = 512");
  return solution;
}

TurnedKnobs read_draw(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a draw");
  TurnedKnobs draw = both_sides(fields, [&](const toml::table* side) {
    return side ? read_knobs(*side, file) : program::Config();
  });
  if (draw == TurnedKnobs()) fields.fail("a draw sets a knob: common.batch_size = 512");
  for (const char* knob : {"machine", "seed"})
    if (draw.a.is_set(knob) || draw.b.is_set(knob))
      fields.fail(std::string("a draw leaves ") + knob + " as it is; take it out");
  return draw;
}

void check_shown(const Lesson& lesson, const Step& step) {
  if (!step.solution) return;
  for (const program::Config* side : {&step.solution->a, &step.solution->b})
    for (const auto& [name, value] : side->values())
      if (std::ranges::count(lesson.knobs, name) == 0)
        throw InputError(describe(step.place) + "the solution of step " + step.id + " turns " +
                         name + ", which is none of the lesson's knobs");
}

SolvedRuns solve(const TurnedKnobs& solution, const Sides& sides) {
  SolvedRuns solved;
  const std::array<std::pair<const program::Config*, analysis::RunPointer*>, 2> both{
      {{&solution.a, &solved.turned_a}, {&solution.b, &solved.turned_b}}};
  in_parallel(both.size(),
              [&](std::size_t i) { *both[i].second = turned(*both[i].first, *sides.at(i)); });
  solved.sides = {solved.turned_a ? solved.turned_a.get() : sides[0],
                  solved.turned_b ? solved.turned_b.get() : sides[1]};
  return solved;
}

SolvedSteps solve_steps(const Lesson& lesson, const Sides& sides,
                        const std::function<bool()>& stopped) {
  SolvedSteps steps;
  for (const Step& step : lesson.steps) {
    if (!step.solution || stopped()) continue;
    SolvedRuns solved = solve(solution_on(lesson, step, sides), sides);
    if (is_reached(*task_of(step), solved.sides)) steps.emplace(step.id, std::move(solved));
  }
  return steps;
}

bool is_reached(const Expression& goal, const Sides& sides) {
  try {
    return !sides.empty() && goal.evaluate(sides).truth();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace trainscope::scenario
