// What has to be set in one config to have another.
#pragma once

#include "program/config.h"

namespace trainscope::program {

// The knobs that `from` must take over (Config::override_with) to be as `to`: those that either
// sets, and whose values differ once the others are taken over. Defaults that other knobs decide
// follow of themselves.
Config difference(const Config& from, const Config& to);

}  // namespace trainscope::program
