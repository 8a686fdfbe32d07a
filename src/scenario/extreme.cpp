#include "scenario/extreme.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "scenario/grade.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {
namespace {

// From what a solution names to what is least: each is two runs.
constexpr int kMostFurther = 32;

// Bytes do not: nobody asks for one less of them.
bool counts(const program::Knob& knob) {
  return std::holds_alternative<std::int64_t>(knob.initial) && knob.unit == "1";
}

// The value before, or after, among those that the lesson sweeps; nothing where it is none of them.
std::optional<program::Value> next_swept(const Lesson& lesson, const KnobExtreme& extreme,
                                         const program::Value& now) {
  if (!lesson.sweep || lesson.sweep->axis.knob->name != extreme.knob) return std::nullopt;
  const std::vector<program::Value>& values = lesson.sweep->axis.values;
  const auto at = std::ranges::find(values, now);
  if (at == values.end() || (extreme.most ? at + 1 == values.end() : at == values.begin()))
    return std::nullopt;
  return extreme.most ? *(at + 1) : *(at - 1);
}

std::optional<program::Value> next_value(const Lesson& lesson, const KnobExtreme& extreme,
                                         const program::Config& config) {
  const program::Value now = config.value(extreme.knob);
  if (!counts(program::find_knob(extreme.knob))) return next_swept(lesson, extreme, now);
  const program::Value next = std::get<std::int64_t>(now) + (extreme.most ? 1 : -1);
  try {
    program::Config().set(extreme.knob, next);
  } catch (const InputError&) {
    return std::nullopt;
  }
  return next;
}

bool any_measured(const Sides& sides) {
  return std::ranges::any_of(sides, [](const analysis::Run* run) {
    return run->trace && trace::is_measured(*run->trace);
  });
}

// Both sides simulated, where one was measured: a measured time beside a simulated one decides
// nothing.
class Twins {
 public:
  explicit Twins(const Sides& sides, const TurnedKnobs& knobs = {}) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      program::Config config = sides.at(i)->config;
      config.override_with(knobs.of(sides[i]->label));
      runs_[i] = analysis::run_config(sides[i]->label, config);
    }
  }
  Sides sides() const { return {&runs_[0], &runs_[1]}; }

 private:
  std::array<analysis::Run, 2> runs_;
};

TurnedKnobs turned_on(const Lesson& lesson, const Step& step, const Sides& sides,
                      const std::function<bool()>& stopped) {
  TurnedKnobs solution = *step.solution;
  SolvedRuns solved = solve(solution, sides);
  if (!is_reached(*task_of(step), solved.sides)) return solution;
  for (int i = 0; i < kMostFurther && !stopped(); ++i) {
    const auto further = one_further(lesson, step, solved.sides);
    if (!further) break;
    TurnedKnobs next = solution;
    next.a.override_with(further->a);
    next.b.override_with(further->b);
    try {
      SolvedRuns tried = solve(next, sides);
      if (!is_reached(*task_of(step), tried.sides)) break;
      solved = std::move(tried);
    } catch (const InputError&) {  // it does not run with that
      break;
    }
    solution = std::move(next);
  }
  return solution;
}

}  // namespace

std::optional<KnobExtreme> read_extreme(const Fields& fields, const Step& step) {
  if (!fields.find("least") && !fields.find("most")) return std::nullopt;
  const char* key = fields.find("least") ? "least" : "most";
  if (fields.find("least") && fields.find("most"))
    fields.fail("most", "a task asks for the least of a knob or for the most, not for both");
  if (step.kind != StepKind::kVary || !task_of(step))
    fields.fail(key, std::string(key) +
                         " is of a step of kind vary that has a goal, or expect in done_when");
  const std::string name = fields.text(key);
  const std::size_t dot = name.find('.');
  KnobExtreme extreme{std::string(key) == "most", name.substr(0, dot),
                      dot == name.npos ? "" : name.substr(dot + 1)};
  if (extreme.knob.empty() || (!extreme.is_of("A") && !extreme.is_of("B")))
    fields.fail(key, std::string(key) + " names a side's knob; write \"A." +
                         (extreme.knob.empty() ? name : extreme.knob) + "\", or common for both");
  try {
    program::find_knob(extreme.knob);
  } catch (const InputError& error) {
    fields.fail(key, error.what());
  }
  return extreme;
}

void check_extreme(const Lesson& lesson, const Step& step) {
  if (!step.extreme || counts(program::find_knob(step.extreme->knob))) return;
  if (lesson.sweep && lesson.sweep->axis.knob->name == step.extreme->knob) return;
  throw InputError(describe(step.place) + "step " + step.id + " asks for the " +
                   (step.extreme->most ? "most" : "least") + " of " + step.extreme->knob +
                   ", which does not count; name its values in a [sweep] of the lesson");
}

std::optional<TurnedKnobs> one_further(const Lesson& lesson, const Step& step, const Sides& sides) {
  if (!step.extreme) return std::nullopt;
  TurnedKnobs knobs;
  for (const analysis::Run* run : sides) {
    if (!step.extreme->is_of(run->label)) continue;
    const auto next = next_value(lesson, *step.extreme, run->config);
    if (!next) return std::nullopt;
    (run->label == "B" ? knobs.b : knobs.a).set(step.extreme->knob, *next);
  }
  return knobs;
}

std::string words_of(const KnobExtreme& extreme, const TurnedKnobs& knobs) {
  const program::Config& side = extreme.side == "B" ? knobs.b : knobs.a;
  return extreme.side + "." + extreme.knob + " = " +
         program::show(program::find_knob(extreme.knob), side.value(extreme.knob));
}

bool goes_further(const Lesson& lesson, const Step& step, const Sides& sides, TurnedKnobs* knobs) {
  const auto further = one_further(lesson, step, sides);
  if (!further) return false;
  if (knobs) *knobs = *further;
  const Expression& goal = *task_of(step);
  try {
    if (any_measured(sides)) return is_reached(goal, Twins(sides, *further).sides());
    return is_reached(goal, solve(*further, sides).sides);
  } catch (const InputError&) {  // it does not run with that
    return false;
  }
}

bool is_done(const Lesson& lesson, const Step& step, const Sides& sides) {
  return is_reached(*task_of(step), sides) && !goes_further(lesson, step, sides);
}

TurnedKnobs solution_on(const Lesson& lesson, const Step& step, const Sides& sides,
                        const std::function<bool()>& stopped) try {
  if (!step.extreme || sides.size() != 2) return *step.solution;
  return any_measured(sides) ? turned_on(lesson, step, Twins(sides).sides(), stopped)
                             : turned_on(lesson, step, sides, stopped);
} catch (const InputError&) {  // its own does not run
  return *step.solution;
}

}  // namespace trainscope::scenario
