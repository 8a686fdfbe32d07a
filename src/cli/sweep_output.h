// A sweep as a table for people, as CSV and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/sweep.h"

namespace trainscope::cli {

// One row a combination: the knobs, and a few metrics that matter most where they apply and change.
std::string sweep_table(const scenario::Sweep& sweep);

// One row a combination and side, all metrics in base units, as RFC 4180 has it.
std::string sweep_csv(const scenario::Sweep& sweep);

std::string sweep_json(const scenario::Sweep& sweep, std::int64_t seed);

}  // namespace trainscope::cli
