#include "ui/app/views/names_apart.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace trainscope::ui {
namespace {

std::size_t common_prefix(const std::set<std::string>& names) {
  // Of sorted names the first and the last differ most.
  const std::string &first = *names.begin(), &last = *names.rbegin();
  return static_cast<std::size_t>(std::ranges::mismatch(first, last).in1 - first.begin());
}

// Where the word, or the character, at that place begins.
std::size_t word_begin(const std::string& name, std::size_t at) {
  while (at > 0 && std::isalnum(static_cast<unsigned char>(name[at - 1]))) --at;
  return at;
}
std::size_t character_begin(const std::string& name, std::size_t at) {
  while (at > 0 && at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U)
    --at;
  return at;
}

std::map<std::string, std::string> cut_from(const std::set<std::string>& names, std::size_t begin,
                                            const Cut& end) {
  std::map<std::string, std::string> cut;
  for (const std::string& name : names)
    cut[name] = end(begin == 0 ? name : "…" + name.substr(std::min(begin, name.size())));
  return cut;
}

bool differ(const std::map<std::string, std::string>& cut) {
  std::set<std::string> seen;
  return std::ranges::all_of(cut, [&](const auto& one) { return seen.insert(one.second).second; });
}

// Of names that read the same with their middles left out.
std::map<std::string, std::string> told_apart(const std::set<std::string>& names, const Cut& end) {
  const std::size_t at = common_prefix(names);
  auto by_word = cut_from(names, word_begin(*names.begin(), at), end);
  return differ(by_word) ? by_word : cut_from(names, character_begin(*names.begin(), at), end);
}

}  // namespace

std::vector<std::string> cut_apart(const std::vector<std::string>& names, const Cut& middle,
                                   const Cut& end) {
  std::map<std::string, std::set<std::string>> alike;  // by how they read
  for (const std::string& name : names) alike[middle(name)].insert(name);
  std::map<std::string, std::string> cut;
  for (const auto& [words, group] : alike) {
    if (group.size() == 1)
      cut[*group.begin()] = words;
    else
      cut.merge(told_apart(group, end));
  }
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(cut.at(name));
  return out;
}

}  // namespace trainscope::ui
