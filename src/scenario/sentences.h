// A lesson's text where it is not read in the window, or where some of its numbers are not known.
#pragma once

#include <string>
#include <string_view>

namespace trainscope::scenario {

// The text without the sentences that have a blank for a number. Paragraphs stay apart.
std::string without_blanks(std::string_view text);

// The text without the window's keys, which stand in brackets: " (Shift+P)".
std::string without_keys(std::string_view text);

}  // namespace trainscope::scenario
