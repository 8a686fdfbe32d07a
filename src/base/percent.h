// Bytes that stand as %XX in links and in the addresses of files.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// "a%20b" is "a b". Throws InputError, a sentence about `subject` ("the link"), where % is not
// followed by two hexadecimal digits and where they stand for a control character.
std::string percent_decoded(std::string_view text, const std::string& subject);

// The file that a word names: itself, or where it points if it is an address, as desktops hand
// files over ("file:///home/ada/my%20run.tsrun"). Throws InputError for one on another machine, and
// as percent_decoded.
std::string file_named(const std::string& word);

}  // namespace trainscope
