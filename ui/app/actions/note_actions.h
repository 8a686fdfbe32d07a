// The actions of notes on the timelines.
#pragma once

#include <vector>

#include "ui/app/actions/action_table.h"

namespace trainscope::ui {

void add_note_actions(std::vector<Binding>& table);

}  // namespace trainscope::ui
