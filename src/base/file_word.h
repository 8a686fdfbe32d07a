// A name as a part of a file's name.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// What may stand in a file's name everywhere: letters and digits of ASCII, '-', '_' and '.'; '_' in
// place of all others. Different names may become the same.
std::string file_word(std::string_view name);

}  // namespace trainscope
