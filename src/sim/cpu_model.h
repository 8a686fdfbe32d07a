// How long an operation takes on the CPU, its operator's own time excluded.
#pragma once

#include "base/time.h"
#include "machine/machine.h"
#include "program/program.h"

namespace trainscope::sim {

Nanos cpu_time(const program::Operation& operation, const machine::Host& host);

}  // namespace trainscope::sim
