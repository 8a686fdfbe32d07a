// What a learner who cannot follow a lesson should take before it.
#pragma once

#include <vector>

#include "scenario/course.h"

namespace trainscope::ui {

struct Prerequisite {
  const scenario::Lesson* lesson = nullptr;  // of `lessons`; null: none is required
  bool again = false;                        // it was finished before
};

// Of the lessons that this one requires the first that is not finished, else the first in which
// something was missed, else the first.
Prerequisite prerequisite_of(const scenario::Lesson& lesson,
                             const std::vector<scenario::Lesson>& lessons,
                             const scenario::Records& records);

}  // namespace trainscope::ui
