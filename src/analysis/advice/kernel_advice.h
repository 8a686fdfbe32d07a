// What helps one kernel that runs alone: its launch, what its threads have on their way, and how
// evenly its blocks fill the SMs. Each is a sentence in the language of `speech`.
#pragma once

#include <string>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

// "; an SM holds 32 of 64 warps (registers limit them), each with 1 instruction on its way at a
// time". Empty of a run that is not of one kernel whose launch is set.
std::string in_flight_words(const Run& run, const Speech& speech);

// Kernels that wait for results and loads: more instructions, or more warps, by the knobs that
// bring them.
std::string latency_advice(const Run& run, const Speech& speech);

// "; SMs are without a block for 49.5 % of their time: in the last wave 107 of 108 have none".
// Empty where that is less than a tenth, and of training.
std::string uneven_words(const Run& run, const Speech& speech);
// What mends that, with a space behind it; empty with it.
std::string uneven_advice(const Run& run, const Speech& speech);

}  // namespace trainscope::analysis
