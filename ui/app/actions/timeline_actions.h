// The actions of the timelines' tools: selecting a range, measuring, searching, lanes.
#pragma once

#include <vector>

#include "ui/app/actions/action_table.h"

namespace trainscope::ui {

void add_timeline_actions(std::vector<Binding>& table);

}  // namespace trainscope::ui
