#include "ui/panels/timelines/side_marks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "report/comparison.h"
#include "ui/app/lesson/guess.h"
#include "ui/app/lesson/lesson_card.h"

namespace trainscope::ui {
namespace {

// Runs of which the first to end is the faster one: fewer steps end sooner as well.
bool race(const scenario::Sides& sides) {
  return sides.size() == 2 && report::less_is_faster(*sides[0], *sides[1]) &&
         sides[0]->facts.measured.steps == sides[1]->facts.measured.steps;
}

trace::LaneId copy_lane(const trace::Trace& trace) {
  for (std::uint32_t lane = 0; lane < trace.lanes().size(); ++lane)
    if (trace.lanes()[lane].kind == trace::LaneKind::kCopyEngine) return lane;
  return trace::kNone;
}

// A time is one step's, and B ends after all of its steps; of the whole run it is the run's.
Guess placed_guess(const GuessRange& range, const analysis::Measured& measured) {
  const bool of_run = range.of == GuessedEnd::kRun;
  const Nanos origin = of_run ? measured.whole.start : measured.first_window().start;
  const double steps = of_run ? 1 : measured.per();
  constexpr double kFarthest = 1e18;  // within Nanos
  Guess guess;
  guess.start = origin + static_cast<Nanos>(std::min(steps * range.start, kFarthest));
  guess.end = origin + static_cast<Nanos>(std::min(steps * range.end, kFarthest));
  return guess;
}

}  // namespace

// Where the measured work of a side ends, and by how much sooner that is than the other's; nothing
// where that would not make it the faster one.
void add_done_marker(TimelineInput& input, const Workspace& workspace) {
  const scenario::Sides sides = workspace.current_sides();
  if (!race(sides)) return;
  const auto a = analysis::value_of(sides[0]->metrics, "time.total");
  const auto b = analysis::value_of(sides[1]->metrics, "time.total");
  if (!a || !b || report::are_alike(*a, *b)) return;
  const std::size_t first = *b < *a ? 1 : 0;
  // What a run takes before its measured steps may say otherwise than a step does.
  const auto step_a = analysis::value_of(sides[0]->metrics, "time.step");
  const auto step_b = analysis::value_of(sides[1]->metrics, "time.step");
  if (step_a && step_b &&
      (report::are_alike(*step_a, *step_b) || (*step_b < *step_a) != (first == 1)))
    return;
  Marker marker;
  marker.time = sides[first]->facts.measured.whole.end;
  marker.title = sides[first]->label + " done";
  marker.text = format_nanos(std::abs(*a - *b)) + " sooner";
  input.sides[first].markers.push_back(marker);
}

namespace {

// As the card tells it; a room is told by the lecturer.
std::optional<bool> is_right(const Workspace& workspace, const scenario::Question& question,
                             const scenario::Answer& answer, const scenario::Sides& sides) {
  if (owes_verdict(workspace)) return std::nullopt;
  try {
    const scenario::Verdict verdict = judge(question, answer, sides);
    return verdict.decided ? std::optional(verdict.right) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // the card says so
  }
}

// One that is beyond what there is to see stands at its end, and says so.
Guess guess_of(const GuessRange& range, const analysis::Run& b, Nanos last, const char* whose) {
  const bool of_copies = range.of == GuessedEnd::kCopies;
  Guess guess = placed_guess(range, b.facts.measured);
  guess.lane = of_copies ? copy_lane(*b.trace) : trace::kNone;
  guess.label = std::string(whose) + (of_copies ? " guess: B's copies end " : " guess: B ends ");
  guess.label += guess.start > last ? "later" : "here";
  if (guess.start > last) guess.start = guess.end = last;
  return guess;
}

}  // namespace

void add_guesses(TimelineInput& input, const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  if (!lesson || workspace.knobs_changed() || workspace.forked()) return;
  const scenario::Sides sides = workspace.lesson_sides();
  if (sides.size() != 2) return;
  const Nanos last = axis_range(input).end - input.sides[1].offset;
  const char* whose = workspace.present.on ? "the room's" : "your";
  for (const std::size_t step : predicted_steps(*lesson)) {
    const scenario::Question& question = *lesson->lesson.steps[step].question;
    const scenario::Answer& answer = lesson->progress.answer(step);
    const auto range = guess_in_b(question, answer, sides);
    if (!range) continue;
    Guess guess = guess_of(*range, *sides[1], last, whose);
    guess.right = is_right(workspace, question, answer, sides);
    input.sides[1].guesses.push_back(guess);
  }
}

}  // namespace trainscope::ui
