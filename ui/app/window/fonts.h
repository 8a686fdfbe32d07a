// The typefaces: Inter and JetBrains Mono from the system, Roboto and Inconsolata from beside the
// program where they are missing, ImGui's own where even those are.
#pragma once

#include <string>
#include <vector>

#include "ui/app/window/theme.h"

namespace trainscope::ui {

// Adds the faces to the current ImGui context. Says in `warnings` what it had to do without.
Fonts load_fonts(std::vector<std::string>& warnings);

}  // namespace trainscope::ui
