// In which types a run multiplies, and in which its GPU could.
#pragma once

#include "analysis/runs/run.h"

namespace trainscope::analysis {

// Of a training: autocast's type is a 16-bit one, or the model's.
bool trains_narrow(const program::Config& config);

// Products are of 16-bit numbers. False of an imported run, whose types are not known.
bool is_narrow(const Run& run);
bool multiplies_in_tf32(const Run& run);

// The GPU of an imported run is not described: it may have all.
bool has_bf16(const Run& run);
bool has_tf32(const Run& run);

}  // namespace trainscope::analysis
