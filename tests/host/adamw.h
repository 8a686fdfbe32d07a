// AdamW as torch.optim.AdamW has it where nothing is said.
#pragma once

#include "host/adam.h"

namespace trainscope::host {

constexpr Adam adamw_defaults() {
  Adam options;
  options.weight_decay = 1e-2;
  options.decoupled = true;
  return options;
}

}  // namespace trainscope::host
