// Letters of UTF-8 texts, in English and German.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// In small letters: ASCII's, and À to Þ of Latin-1 ("Überlauf" and "überlauf" are one).
std::string lowered(std::string_view text);

// Whether the last character is a letter or a digit. Beyond ASCII all are letters but signs and
// punctuation, of Latin-1 (U+0080 to U+00BF) and beyond (U+2000 to U+2FFF).
bool ends_in_letter(std::string_view text);

}  // namespace trainscope
