// Which lines of two listings differ.
#pragma once

#include <string>
#include <vector>

namespace trainscope::program {

// Of each line of `a`, whether it is not in a longest common subsequence with `b`. All false where
// the listings are too long to be compared: some thousand lines each.
std::vector<bool> lines_only_in(const std::vector<std::string>& a,
                                const std::vector<std::string>& b);

}  // namespace trainscope::program
