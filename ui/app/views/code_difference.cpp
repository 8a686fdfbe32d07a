#include "ui/app/views/code_difference.h"

#include "program/listing_difference.h"

namespace trainscope::ui {
namespace {

using Of = CodeRow::Of;

// Every line once, in reading order: A's of a difference before B's.
std::vector<CodeRow> all_rows(const std::vector<std::string>& a, const std::vector<std::string>& b,
                              std::size_t lit_a, std::size_t lit_b) {
  const std::vector<bool> only_a = program::lines_only_in(a, b),
                          only_b = program::lines_only_in(b, a);
  std::vector<CodeRow> rows;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && only_a[i]) {
      rows.push_back({Of::kA, i + 1, a[i], i + 1 == lit_a});
      ++i;
    } else if (j < b.size() && only_b[j]) {
      rows.push_back({Of::kB, j + 1, b[j], j + 1 == lit_b});
      ++j;
    } else {
      const bool of_a = i < a.size();
      rows.push_back(
          {Of::kBoth, of_a ? i + 1 : j + 1, of_a ? a[i] : b[j], i + 1 == lit_a || j + 1 == lit_b});
      ++i, ++j;
    }
  }
  return rows;
}

bool tells(const CodeRow& row) {
  return row.of != Of::kBoth || row.lit;
}

bool is_blank(const CodeRow& row) {
  return row.text.find_first_not_of(' ') == std::string::npos;
}

}  // namespace

std::vector<CodeRow> code_difference(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b, std::size_t lit_a,
                                     std::size_t lit_b) {
  const std::vector<CodeRow> all = all_rows(a, b, lit_a, lit_b);
  std::vector<CodeRow> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool near = (i > 0 && tells(all[i - 1])) || (i + 1 < all.size() && tells(all[i + 1]));
    if (tells(all[i]) || (near && !is_blank(all[i])))
      rows.push_back(all[i]);
    else if (!rows.empty() && rows.back().of != Of::kGap)
      rows.push_back({Of::kGap, 0, "", false});
  }
  if (!rows.empty() && rows.back().of == Of::kGap) rows.pop_back();
  return rows;
}

}  // namespace trainscope::ui
