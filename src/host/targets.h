// The classes that rows should have been given: the targets of a loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainscope::host {

using Targets = std::span<const std::int64_t>;

// PyTorch's ignore_index: a row with this target counts nowhere.
inline constexpr std::int64_t kIgnoredTarget = -100;

// How many rows count. Throws InputError for a target that is no class, naming its row.
std::size_t counted_targets(Targets targets, std::size_t classes);

}  // namespace trainscope::host
