#include "base/error.h"

#include <fmt/format.h>

#include "base/text.h"

namespace trainscope {

std::string one_line(const std::string& sentence) {
  constexpr std::size_t kLongest = 2000, kStart = 1400, kEnd = 500;
  if (sentence.size() > kLongest)
    return one_line(sentence.substr(0, character_before(sentence, kStart)) + " … " +
                    sentence.substr(character_before(sentence, sentence.size() - kEnd)));
  std::string line;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const char c = sentence[i];
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(sentence[at]); };
    // U+0080 to U+009F steer some terminals, too.
    if (byte(i) == 0xc2 && i + 1 < sentence.size() && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0)
      line += fmt::format("\\x{:02x}", static_cast<unsigned>(byte(++i)));
    else if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      line += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      line += c;
  }
  return line;
}

Error::Error(Fault fault, const std::string& sentence)
    : std::runtime_error(one_line(sentence)), fault_(fault) {}

std::string describe(const SourcePlace& place) {
  std::string text = place.file;
  if (place.line > 0) text += ":" + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text.empty() ? text : text + ": ";
}

}  // namespace trainscope
