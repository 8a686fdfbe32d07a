#include "host/targets.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trainscope::host {

std::size_t counted_targets(Targets targets, std::size_t classes) {
  std::size_t counted = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const std::int64_t target = targets[row];
    if (target == kIgnoredTarget) continue;
    if (target < 0 || static_cast<std::size_t>(target) >= classes) {
      throw InputError(fmt::format("target {} of row {} is no class: there are {}, from 0 to {}",
                                   target, row, classes, static_cast<std::int64_t>(classes) - 1));
    }
    ++counted;
  }
  return counted;
}

}  // namespace trainscope::host
