// A whole machine as JSON, and back: a saved run keeps the machine that it ran on, so that it opens
// the same when the catalogue has changed. Numbers are in base units, under the keys of machine
// files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "machine/machine.h"

namespace trainscope::machine {

nlohmann::json to_json(const Machine& machine);

// A number that is missing (the file is older than it) stays at its default. Throws InputError
// without a file's name, or nlohmann::json::exception, when the JSON describes no machine.
Machine machine_from_json(const nlohmann::json& json);

}  // namespace trainscope::machine
