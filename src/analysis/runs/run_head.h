// The head of a saved run as JSON: everything but the traces.
#pragma once

#include <string>
#include <string_view>

#include "analysis/runs/run_file.h"

namespace trainscope::analysis {

std::string write_head(const SavedRuns& saved);

// The runs have no traces yet, nor anything that follows from them. Throws InputError without a
// file's name, or nlohmann::json::exception.
struct Head {
  SavedRuns saved;  // without its runs
  std::vector<Run> runs;
  std::vector<int> warmup_steps;  // of each run's trace, where it has no program
};
Head read_head(std::string_view text);

}  // namespace trainscope::analysis
