// Ranks as a sentence names them.
#pragma once

#include <string>
#include <vector>

namespace trainscope::cuda {

// "rank 2", "ranks 0, 1 and 3".
std::string rank_words(const std::vector<int>& ranks);

}  // namespace trainscope::cuda
