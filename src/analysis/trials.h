// Trials: the program of a run simulated once more for each knob that may be worth turning.
#pragma once

#include <functional>
#include <optional>

#include "analysis/what_if.h"

namespace trainscope::analysis {

// The run trains on a GPU, and has come to its end.
bool can_try(const Run& run);

// What each of `proposals` brings, what those bring together that gain with the same batch, and
// which gain nothing. Whatever a machine or a model refuses, or has no memory for, is left out. No
// trial takes longer than the run did, or than four steps; all together write about three times its
// spans, or a million: what would be more is counted as untried. The same run gives the same.
// Nothing where nothing can be tried, and once `stopped`, which is asked now and then, says so.
std::optional<WhatIf> trials(const Run& run, const std::function<bool()>& stopped = {});

}  // namespace trainscope::analysis
