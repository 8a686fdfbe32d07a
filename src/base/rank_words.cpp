#include "base/rank_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainscope {
namespace {

struct Node {
  std::string name;
  std::vector<int> ranks;
};

std::vector<Node> nodes_of(const std::vector<std::string>& names) {
  std::vector<Node> nodes;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const std::string name = names[rank].empty() ? "one without a name" : names[rank];
    auto node = std::ranges::find(nodes, name, &Node::name);
    if (node == nodes.end()) node = nodes.insert(node, {name, {}});
    node->ranks.push_back(static_cast<int>(rank));
  }
  return nodes;
}

}  // namespace

std::string rank_words(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return text;
}

std::string range_words(const std::vector<int>& ranks) {
  const bool in_a_row = ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
  return in_a_row && ranks.size() > 2 ? fmt::format("ranks {} to {}", ranks.front(), ranks.back())
                                      : rank_words(ranks);
}

std::string node_words(const std::vector<std::string>& names) {
  if (std::ranges::all_of(names, &std::string::empty)) return "";
  const std::vector<Node> nodes = nodes_of(names);
  if (nodes.size() == 1) return "on " + nodes.front().name;
  std::string text = fmt::format("on {} nodes, ", nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += fmt::format("{}{} ({})",
                        i == 0                  ? ""
                        : i + 1 == nodes.size() ? " and "
                                                : ", ",
                        nodes[i].name, range_words(nodes[i].ranks));
  return text;
}

}  // namespace trainscope
