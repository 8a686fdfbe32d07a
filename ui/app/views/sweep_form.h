// What a sweep in the window is asked for, and what it says of its points. Pure.
#pragma once

#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "scenario/sweep.h"

namespace trainscope::ui {

// As it stands in the panel's fields.
struct SweepForm {
  std::string knob, values;                // "batch_size", "32,64,128" or "32..128:x2"
  std::string second_knob, second_values;  // empty: one knob alone
  std::string metric;                      // empty: the one that tells most
};

// Values around those that the knob has now, as parse_axis reads them: halves and doubles of a
// number, all words of a choice, all machines with as many GPUs.
std::string suggested_values(const program::Knob& knob, const std::vector<program::Value>& now);

SweepForm form_of(const scenario::LessonSweep& sweep);

// Throws InputError.
std::vector<scenario::SweepAxis> axes_of(const SweepForm& form);

// The metric that is asked for, else the one that tells most; null where no run has any.
const analysis::Metric* metric_of(const SweepForm& form, const scenario::Sweep& sweep);

// "step time over batch_size, 32 to 1,024"
std::string sweep_title(const scenario::Sweep& sweep, const analysis::Metric* metric);

// "batch_size = 64"
std::string point_title(const scenario::Sweep& sweep, std::size_t point);

// Why a side of a point is not on the curve, as a sentence; empty: it is, or is still to come.
std::string failure_of(const scenario::SweepPoint::Side& side);
struct SweepFailure {
  std::size_t point = 0;
  std::string sentence;
};
std::vector<SweepFailure> failures_of(const scenario::Sweep& sweep);
// How many there are, and the first of them; empty where there are none.
std::string words_of_failures(const scenario::Sweep& sweep);

// How many runs are to be read with care, and why the first of them is; empty where there are none.
std::string words_of_caveats(const scenario::Sweep& sweep);

// Where the sides as they stand now are on a sweep of one knob, or of two: their places on each
// axis. Nothing where one is outside it.
struct PresentSide {
  char letter = 'A';
  std::vector<double> places;
};
std::vector<PresentSide> present_sides(const scenario::Sweep& sweep,
                                       const std::vector<program::Config>& configs);

// Other knobs were turned since the sweep ran: it is no longer about what is on the screen.
bool is_stale(const scenario::Sweep& sweep, const std::vector<scenario::LabelledConfig>& swept,
              const std::vector<scenario::LabelledConfig>& now);

}  // namespace trainscope::ui
