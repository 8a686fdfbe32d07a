// Tensors that ranks hold in equal parts: what an all-gather gives, taken apart, and what a
// reduce-scatter takes, put together (torch.split_with_sizes_copy, torch._chunk_cat). Where the
// parts lie: program/shards.h.
#pragma once

#include <cstddef>
#include <span>

#include "host/views.h"

namespace trainscope::host {

void shards_apart(Values parts, std::size_t ranks, std::span<const Results> tensors);
// Times the factor; the padding is 0.
void shards_together(std::span<const Values> tensors, std::size_t ranks, float factor,
                     Results parts);

}  // namespace trainscope::host
