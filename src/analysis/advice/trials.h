// Trials: the program of a run simulated once more for each knob that may be worth turning.
#pragma once

#include <optional>

#include "analysis/advice/what_if.h"
#include "base/stopped.h"

namespace trainscope::analysis {

// The run trains on a GPU, and has come to its end.
bool can_try(const Run& run);

// What each of `proposals` brings alone; what those bring together of which each gains on top of
// the ones before it, the best first; which of them gain only so; which gain neither way; and for
// which there is no memory. Whatever a machine or a model refuses is left out. No trial takes
// longer than the run did, or than four steps; all together write about four times its spans, or
// two millions, which take some seconds: what would be more is named as untried. The same run gives
// the same. A refusal where a trial without any change takes another time than the run. Nothing
// where nothing can be tried, and once `stopped`, which is asked now and then, says so.
std::optional<WhatIf> trials(const Run& run, const Stopped& stopped = {});

}  // namespace trainscope::analysis
