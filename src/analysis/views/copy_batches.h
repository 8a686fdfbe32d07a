// Which batch of the data set each copy to the GPU carries a part of.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/views/copy_path.h"

namespace trainscope::analysis {

// The steps in which copies were called for.
struct CopySteps {
  std::size_t count = 0;  // 0: none that tell copies apart
  int first = 0;          // its number
  Nanos begin = 0;        // of the first
};

// Fills `batch` of copies that have their steps, in the order of their calls. A step that
// accumulates gradients takes several batches, one after another: `loaded` of them there are in all
// steps, as far as the trace tells. A loop that fetches ahead has its first batch before the first
// step, and in each step the next one's.
void number_batches(std::vector<PathCopy>& copies, std::size_t loaded, const CopySteps& steps);

}  // namespace trainscope::analysis
