// What of a host's time is another where it is of another speed (`replay.host_speed`).
#pragma once

#include "base/time.h"

namespace trainscope::train {

// How long a stretch lasts in which a thread begins and ends nothing, or a call: Python, operators
// and launches, of which a faster host, or fewer and larger operators, leave less. What lasts
// longer at a stretch than these ever do stays as it was: a driver that makes its context, a
// library that is loaded, a program's own code.
Nanos at_host_speed(Nanos stretch, double speed);

}  // namespace trainscope::train
