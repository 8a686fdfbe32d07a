#include "base/percent.h"

#include <charconv>
#include <filesystem>

#include "base/error.h"

namespace trainscope {

std::string percent_decoded(std::string_view text, const std::string& subject) {
  const auto refuse = [&](std::size_t at, const char* why) {
    throw InputError(subject + " has \"" + std::string(text.substr(at, 3)) + "\", " + why);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    const bool enough = i + 2 < text.size();
    if (!enough || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      refuse(i, "where % and two hexadecimal digits are meant");
    if (byte < ' ') refuse(i, "which stands for no letter");
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string file_named(const std::string& word) {
  constexpr std::string_view kScheme = "file://";
  if (!word.starts_with(kScheme)) return word;
  std::string_view place = std::string_view(word).substr(kScheme.size());
  constexpr std::string_view kHere = "localhost";
  if (place.starts_with(kHere)) place.remove_prefix(kHere.size());
  if (!place.starts_with('/'))
    throw InputError(word + ": this is a file of another machine; copy it here");
  // "/C:/Users/ada" where names begin with a drive.
  if (std::filesystem::path(place.substr(1)).has_root_name()) place.remove_prefix(1);
  return percent_decoded(place, word);
}

}  // namespace trainscope
