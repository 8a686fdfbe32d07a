// Where the listings of A and B differ, as lines to be read one after another: a line of both
// around each difference, A's lines, B's. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope::ui {

struct CodeRow {
  enum class Of : std::uint8_t { kBoth, kA, kB, kGap } of = Of::kBoth;  // kGap: lines left out
  std::size_t number = 0;  // of the line, from 1; of both: in A
  std::string text;
  bool lit = false;
};

// The lines to be lit are shown too, of a side each; 0: none. Empty: the listings are the same, and
// none is to be lit.
std::vector<CodeRow> code_difference(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b, std::size_t lit_a = 0,
                                     std::size_t lit_b = 0);

}  // namespace trainscope::ui
