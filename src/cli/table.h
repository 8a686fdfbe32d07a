// Plain-text tables with aligned columns.
#pragma once

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

}  // namespace trainscope::cli
