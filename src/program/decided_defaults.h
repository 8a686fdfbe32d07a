// Defaults that other knobs of a config decide: a copy has one step, where nothing else is asked.
// What Config::value gives, so that what is shown of a run is what ran.
#pragma once

#include "program/config.h"

namespace trainscope::program {

// The value of a knob that the config does not set: the registry's, unless another knob decides.
const Value& default_in(const Config& config, const Knob& knob);

// Whether a knob that is set to its default is another thing than one that is not set. PyTorch
// closes DDP's first bucket at 1 MiB unless bucket_cap_mb is given
// (torch/nn/parallel/distributed.py, bucket_bytes_cap_default), and no number says so.
bool counts_when_set(std::string_view knob);

}  // namespace trainscope::program
