// A line of a listing as text in the colours of its words, going on below where it is too long.
#pragma once

#include <string_view>
#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct SourceRows {
  std::string_view line;
  std::vector<std::string_view> rows;  // its parts
  std::size_t indent = 0;              // columns by which all but the first are set in
};

SourceRows source_rows(const Theme& theme, std::string_view line, float width);

// Rows `apart` from each other, the first one's letters from `at` down; all but the first set in.
void draw_source(const Theme& theme, ImVec2 at, float apart, const SourceRows& source);

}  // namespace trainscope::ui
