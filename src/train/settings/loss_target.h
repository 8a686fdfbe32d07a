// The loss that a training is to reach (loop.target_loss), and over how many steps its mean is.
#pragma once

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// Samples of that mean. Where the losses of samples are spread as widely as they are large, the
// standard error of a mean of n is one part in the root of n: 3 % of these.
constexpr std::int64_t kSamplesOfMean = 1024;

// As many samples for each size of batch, so that the mean of small ones is no noisier, nor later,
// than that of large ones; at least one step. Of a config that trains.
program::LossTarget loss_target(const program::Config& config);

}  // namespace trainscope::train
