#include "base/file_word.h"

#include <algorithm>
#include <cctype>

namespace trainscope {

std::string file_word(std::string_view name) {
  std::string word(name);
  std::replace_if(
      word.begin(), word.end(),
      [](unsigned char letter) {
        return !std::isalnum(letter) && letter != '-' && letter != '_' && letter != '.';
      },
      '_');
  return word;
}

}  // namespace trainscope
