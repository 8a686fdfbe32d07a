#include "base/speech.h"

#include <utility>

namespace trainscope {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string with_decimal(std::string words, char decimal) {
  for (std::size_t at = 1; at + 1 < words.size(); ++at)
    if (words[at] == '.' && is_digit(words[at - 1]) && is_digit(words[at + 1])) words[at] = decimal;
  return words;
}

std::string Speech::say(std::string_view english) const {
  const auto found = words.find(english);
  return found == words.end() ? std::string(english) : found->second;
}

std::string Speech::number(std::string text) const {
  return with_decimal(std::move(text), say(".").front());
}

}  // namespace trainscope
