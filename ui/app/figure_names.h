// What a figure of a machine is called on its sheet.
#pragma once

#include <string>
#include <string_view>

namespace trainscope::ui {

// "gpu.sm_count" is "SMs"; one that is new here is called as its file has it, "read rate".
std::string figure_name(std::string_view figure);

}  // namespace trainscope::ui
