#include "base/letters.h"

#include <cctype>

#include "base/text.h"

namespace trainscope {
namespace {

// U+00C0 to U+00DE are C3 80 to C3 9E, and each small letter stands 0x20 behind. × (C3 97) is none.
constexpr unsigned char kLatin1 = 0xC3;

bool is_capital_of_latin1(unsigned char second) {
  return second >= 0x80 && second <= 0x9E && second != 0x97;
}

}  // namespace

std::string lowered(std::string_view text) {
  std::string small(text);
  unsigned char before = 0;
  for (char& letter : small) {
    const auto byte = static_cast<unsigned char>(letter);
    if (before == kLatin1 && is_capital_of_latin1(byte))
      letter = static_cast<char>(byte + 0x20);
    else if (byte < 0x80)
      letter = static_cast<char>(std::tolower(byte));
    before = byte;
  }
  return small;
}

bool ends_in_letter(std::string_view text) {
  if (text.empty()) return false;
  const auto first = static_cast<unsigned char>(text[character_before(text, text.size() - 1)]);
  constexpr unsigned char kSignsOfLatin1 = 0xC2, kSignsBeyond = 0xE2;
  if (first < 0x80) return std::isalnum(first) != 0;
  return first != kSignsOfLatin1 && first != kSignsBeyond;
}

}  // namespace trainscope
