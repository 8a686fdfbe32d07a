// Plain-text tables with aligned columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainscope::cli {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : align_(std::move(columns)) {}
  // Names of others may stand in it: each cell is one line of a terminal.
  void add(std::vector<std::string> row);
  // Each row a line; columns two spaces apart.
  std::string text() const;

 private:
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` in lines of at most `most` characters where its words allow, each behind `indent` spaces.
std::string wrapped(const std::string& text, std::size_t most, std::size_t indent);

}  // namespace trainscope::cli
