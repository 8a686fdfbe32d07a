// What a saved run keeps of its program, as JSON: all but what its threads do, and of
// those that load batches how much that is.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "program/program.h"

namespace trainscope::analysis {

nlohmann::json head_of(const program::Program& program);

// Files of older versions lack some of it. Throws InputError without a file's name, or
// nlohmann::json::exception.
program::Program program_of(const nlohmann::json& head);

}  // namespace trainscope::analysis
