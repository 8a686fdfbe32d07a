// Knobs that contradict one another, or that mean nothing beside others: a sentence says which, and
// what to write instead.
#pragma once

#include <string_view>

#include "program/config.h"

namespace trainscope::train {

// Whether it is set, and to another value than it has anyway.
bool is_changed(const program::Config& config, std::string_view knob);

// Whether a knob is about one of the strategies by which processes share the work: ddp., fsdp.,
// pipeline.
bool is_of_a_strategy(std::string_view knob);

// Throws InputError where knobs of the workload `train` contradict one another, whatever the model,
// the data and the machine are.
void refuse_what_contradicts(const program::Config& config);

}  // namespace trainscope::train
