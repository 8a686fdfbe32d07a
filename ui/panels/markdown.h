// Markdown as lessons write it: paragraphs, lists, bold, emphasis, code, links. Parsing is pure;
// drawing wraps words of mixed faces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/app/theme.h"

namespace trainscope::ui {

struct TextRun {
  std::string text;
  bool strong = false;
  bool emphasis = false;
  bool code = false;
};

struct TextBlock {
  std::vector<TextRun> runs;
  int indent = 0;      // of a list's item: its depth
  std::string bullet;  // "1." or a dot for a list's item
  bool heading = false;
  bool code = false;  // a block of code: lines are kept
};

std::vector<TextBlock> parse_markdown(std::string_view source);

struct MarkdownStyle {
  float width = 0;          // 0: the rest of the region
  float size = 0;           // 0: body text
  Color color{0, 0, 0, 0};  // transparent: the theme's text
  bool strong = false;
};

// Draws at the cursor and moves it below.
void markdown(const Theme& theme, std::string_view source, const MarkdownStyle& style = {});

}  // namespace trainscope::ui
