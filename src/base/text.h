// Small work on text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainscope {

// Without the spaces at both ends.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Takes out every `part`, which is not empty.
inline void erase_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at))
    text.erase(at, part.size());
}

}  // namespace trainscope
