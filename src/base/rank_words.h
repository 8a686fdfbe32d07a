// Ranks as a sentence names them.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

// "rank 2", "ranks 0, 1 and 3".
std::string rank_words(const std::vector<int>& ranks);

// The same in fewer words where they follow one another: "ranks 0 to 7".
std::string range_words(const std::vector<int>& ranks);

// "on node-a" for all ranks on one; else "on 2 nodes, node-a (ranks 0 to 3) and node-b (ranks 4 to
// 7)". By rank; empty where none has a name.
std::string node_words(const std::vector<std::string>& nodes);

}  // namespace trainscope
