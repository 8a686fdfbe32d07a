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

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// Puts a word behind those of a list, and between them what is between such.
inline void add_to_list(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

// "a, b, c", of texts.
template <typename Words>
std::string joined(const Words& words, std::string_view between = ", ") {
  std::string list;
  for (const auto& word : words) add_to_list(list, word, between);
  return list;
}

// Takes out every `part`, which is not empty.
inline void erase_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at))
    text.erase(at, part.size());
}

// The place at or before `at` where a character of UTF-8 begins.
inline std::size_t character_before(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// Of a text that is longer than `start` and `end` bytes together these, and "…" for its middle.
inline std::string without_middle(std::string_view text, std::size_t start, std::size_t end) {
  if (text.size() <= start + end + 1) return std::string(text);
  return std::string(text.substr(0, character_before(text, start))) + "…" +
         std::string(text.substr(character_before(text, text.size() - end)));
}

}  // namespace trainscope
