// What other programs call a knob, or its value: torch.compile, amp, tp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope::program {

// " (did you mean compile.fuse?)" of "torch.compile", else what did_you_mean says of all knobs.
std::string did_you_mean_knob(std::string_view wrong);

// " (did you mean tensor?)" of "tp", where that is among the choices, else what did_you_mean says.
std::string did_you_mean_choice(std::string_view wrong, const std::vector<std::string>& choices);

}  // namespace trainscope::program
