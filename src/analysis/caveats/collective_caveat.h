// Collectives of which a trace does not tell what they move.
#pragma once

#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// Whether what a collective moves is known: its operation, its type and its size.
bool is_told(const trace::CollectiveDetail& collective);

// How many collectives in the measured steps are not, of a trace that a profiler made: they are in
// no number of bytes, and no bandwidth. A sentence without its full stop; empty where there is
// none.
std::string collective_caveat(const Measured& measured);

}  // namespace trainscope::analysis
