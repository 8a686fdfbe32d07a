// A knob of a config as people read it.
#pragma once

#include <string>
#include <string_view>

#include "program/config.h"

namespace trainscope::program {

// As show() has its value; where a program takes a knob otherwise as long as nobody has set it,
// that as well: "25 MiB, first 1 MiB" of ddp.bucket_cap_mb.
std::string shown_knob(const Config& config, std::string_view name);

}  // namespace trainscope::program
