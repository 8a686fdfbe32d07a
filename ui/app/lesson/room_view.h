// What a room looks at: the question that it votes on, and the panel that a step brings to the
// front.
#pragma once

#include <string>

#include "scenario/lesson.h"

namespace trainscope::ui {

class Workspace;

// The question whose options are to choose from; null: there is none, or it is answered.
const scenario::Question* open_choice(const Workspace& workspace);

// The panel that a step brings to the front, which names it as lessons do. In front of a room the
// causes of the difference have one of their own, "difference": it is seen where a step points at
// the comparison, while a task wants the values.
std::string panel_to_show(const Workspace& workspace, const std::string& panel);

}  // namespace trainscope::ui
