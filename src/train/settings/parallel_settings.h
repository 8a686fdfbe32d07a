// How a training is shared out to GPUs, of the knobs that say so.
#pragma once

#include "machine/machine.h"
#include "program/config.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// As many GPUs as parallel.world_size says. Throws InputError where the machine has not so many, or
// where the strategy does not go with what `settings` holds already.
void read_parallel(const program::Config& config, const machine::Machine& machine,
                   TrainSettings& settings);

}  // namespace trainscope::train
