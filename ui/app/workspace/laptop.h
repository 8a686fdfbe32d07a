// "And on my laptop's GPU?": the machine that one key puts both sides on.
#pragma once

#include <string>

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

inline constexpr const char* kLaptop = "laptop-1";

// Why the sides cannot run there, in one sentence: more GPUs than a laptop has, more memory than
// its GPU has, or a lesson that is made for others. Empty: they can.
std::string laptop_refusal(const Workspace& workspace);

}  // namespace trainscope::ui
