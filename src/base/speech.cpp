#include "base/speech.h"

#include <utility>
#include <vector>

namespace trainscope {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "stream {}" of "stream 7"; what stood in its places is added to `numbers`.
std::string numberless(std::string_view name, std::vector<std::string>& numbers) {
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > at) {
      numbers.emplace_back(name.substr(at, end - at));
      text += "{}";
      at = end;
    } else {
      text += name[at++];
    }
  }
  return text;
}

std::string with_numbers(std::string words, const std::vector<std::string>& numbers) {
  std::size_t at = 0;
  for (const std::string& number : numbers) {
    at = words.find("{}", at);
    if (at == words.npos) break;
    words.replace(at, 2, number);
    at += number.size();
  }
  return words;
}

// Whether a comma there stands before the last three digits of a thousand, not between two numbers.
bool parts_thousands(std::string_view words, std::size_t at) {
  std::size_t end = at + 1;
  while (end < words.size() && is_digit(words[end])) ++end;
  return words[at] == ',' && end == at + 4;
}

}  // namespace

std::string with_decimal(std::string words, char decimal) {
  for (std::size_t at = 1; at + 1 < words.size(); ++at) {
    if (!is_digit(words[at - 1]) || !is_digit(words[at + 1])) continue;
    if (words[at] == '.')
      words[at] = decimal;
    else if (decimal == ',' && parts_thousands(words, at))
      words[at] = '.';
  }
  return words;
}

std::string Speech::say(std::string_view english) const {
  const auto found = words.find(english);
  return found == words.end() ? std::string(english) : found->second;
}

std::string Speech::say_name(std::string_view english) const {
  if (words.empty()) return std::string(english);
  if (const auto whole = words.find(english); whole != words.end()) return whole->second;
  std::vector<std::string> numbers;
  const auto found = words.find(numberless(english, numbers));
  if (found != words.end()) return with_numbers(found->second, numbers);
  if (const std::size_t stop = english.find(". "); stop != english.npos)
    return say_name(english.substr(0, stop)) + ". " + say_name(english.substr(stop + 2));
  const std::size_t comma = english.find(", ");
  if (comma == english.npos) return std::string(english);
  return say_name(english.substr(0, comma)) + ", " + say_name(english.substr(comma + 2));
}

std::string Speech::number(std::string text) const {
  return with_decimal(std::move(text), say(".").front());
}

}  // namespace trainscope
