#include "train/settings/loss_target.h"

namespace trainscope::train {

program::LossTarget loss_target(const program::Config& config) {
  const std::int64_t samples = config.whole("batch_size") * config.whole("accumulate_steps");
  return {config.number("loop.target_loss"), (kSamplesOfMean + samples - 1) / samples};
}

}  // namespace trainscope::train
