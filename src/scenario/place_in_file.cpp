#include "scenario/place_in_file.h"

#include <algorithm>

#include "base/files.h"

namespace trainscope::scenario {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;  // as a TOML file may be

// Where a line begins, from 1; the end of the text where there are fewer.
std::size_t line_start(std::string_view text, int line) {
  std::size_t at = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) return text.size();
    at = end + 1;
  }
  return at;
}

// Letters of UTF-8, not bytes.
int letters_in(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

FileText::FileText(const std::filesystem::path& file) {
  try {
    text_ = read_file(file, kLargest);
  } catch (const InputError&) {
    text_.clear();
  }
}

SourcePlace FileText::place_of(std::string_view words, const SourcePlace& from) const {
  const std::string_view text = text_;
  const std::size_t begin = line_start(text, from.line);
  const std::size_t at = words.empty() ? text.npos : text.find(words, begin);
  const std::size_t end = std::min(text.find("\n[[", begin), text.size());
  if (at == text.npos || at >= end) return from;
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // 0 behind npos
  const auto breaks =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return {from.file, static_cast<int>(breaks) + 1, letters_in(text.substr(line, at - line)) + 1};
}

}  // namespace trainscope::scenario
