// How far simulated speeds of training are from published ones, by kind of run: what differs by
// less says nothing of real GPUs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

// Of the published measurements of steps or samples a second with a parallel.strategy, alone or
// beside another one: by what share the simulated speed is above (+) or below (-) the measured one.
struct PublishedErrors {
  std::string strategy;  // "fsdp"
  int rows = 0;
  double least = 0, most = 0;

  double largest() const;  // either way
};

// assets/published_errors.toml, which `trainscope validate --published --errors` writes, or another
// such file. Throws InputError for one that is not of this form.
std::vector<PublishedErrors> load_published_errors();
std::vector<PublishedErrors> load_published_errors(const std::filesystem::path& file);

// Of two runs that train by different strategies: "closer than the simulator's error for FSDP, +9
// to +22 % of the speed in 6 published rows", where one takes longer by a share that is less than
// that error of either. Else empty, and of runs that are not simulated. `longer`: how many times as
// long the slower one takes.
std::string closer_than_errors(const Run& a, const Run& b, double longer,
                               const std::vector<PublishedErrors>& errors, const Speech& speech);

}  // namespace trainscope::analysis
