// A learner's prediction as a stretch of B's time: what "your guess" is drawn from. Times in ns.
#pragma once

#include <optional>

#include "scenario/lesson.h"
#include "scenario/progress.h"

namespace trainscope::ui {

// Whose end was guessed: that of B's steps, of its whole run, or of its copies.
enum class GuessedEnd { kSteps, kRun, kCopies };

// Where B would end if the guess were right, and all else were as it turned out. From the start of
// the measured window, a step's (of kRun: from the run's first event, and all of it).
struct GuessRange {
  double start = 0;
  double end = 0;
  GuessedEnd of = GuessedEnd::kSteps;
};

// Of a committed prediction that compares a time of B with the same time of A, in whatever form:
// "ratio(A.time.step, B.time.step) >= 2", "B.time.step < 0.95 * A.time.step". Nothing where the
// question is of another kind, or its time ends nowhere: that of exposed communication lies in many
// places.
std::optional<GuessRange> guess_in_b(const scenario::Question& question,
                                     const scenario::Answer& answer, const scenario::Sides& sides);

}  // namespace trainscope::ui
