// Which of the panels that share a place a person has brought to the front by its title.
#pragma once

#include <string>

namespace trainscope::ui {

// Its window's name, once; empty: none since the last call.
std::string take_chosen_panel();

}  // namespace trainscope::ui
