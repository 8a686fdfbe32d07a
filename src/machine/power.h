// What a power limit (nvidia-smi -pl) leaves of a GPU's clock.
#pragma once

#include "machine/machine.h"

namespace trainscope::machine {

// The share of the boost clock, 0 to 1, that a GPU holds under the limit while it trains. Below
// what it draws as delivered the clock falls, and the voltage with it: power but for a part that
// no clock lowers goes with the clock's cube (P = C V^2 f with V in proportion to f).
//
// It is the clock under a load that draws all of the card's power at its full clock, as products on
// tensor cores do. Light work holds a higher one.
//
// Throws InputError where the card's power is not known, where the limit is above it, or so low
// that no clock is left.
double clock_under(const Gpu& gpu, double watts);

// Slows what goes with the clock of the SMs: arithmetic, L2. The memory and the links keep theirs.
void limit_power(Machine& machine, double watts);

}  // namespace trainscope::machine
