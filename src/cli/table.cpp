#include "cli/table.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace trainscope::cli {
namespace {

// Characters of UTF-8 text, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = one_line(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(align_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += align_[i] == Align::kRight ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

std::string wrapped(const std::string& text, std::size_t most, std::size_t indent) {
  const std::string begin(indent, ' ');
  std::string result, line;
  std::istringstream words(one_line(text));
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + width(line) + 1 + width(word) > most) {
      result += begin + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? result : result + begin + line + "\n";
}

}  // namespace trainscope::cli
