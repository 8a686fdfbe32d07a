// The actions of lessons: their steps and answers, and teaching one in front of a room.
#pragma once

#include <vector>

#include "ui/app/actions/action_table.h"

namespace trainscope::ui {

void add_lesson_actions(std::vector<Binding>& table);

}  // namespace trainscope::ui
