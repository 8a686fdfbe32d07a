// Markdown as lessons write it: paragraphs, lists, bold, emphasis, code, links. Parsing is pure;
// drawing wraps words of mixed faces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/glossary.h"
#include "ui/app/window/theme.h"

namespace trainscope::ui {

struct TextRun {
  std::string text;
  bool strong = false;
  bool emphasis = false;
  bool code = false;
  const scenario::Term* term = nullptr;  // that it says
};

struct TextBlock {
  std::vector<TextRun> runs;
  int indent = 0;      // of a list's item: its depth
  std::string bullet;  // "1." or a dot for a list's item
  bool heading = false;
  bool code = false;  // a block of code: lines are kept
};

std::vector<TextBlock> parse_markdown(std::string_view source);

// Cuts runs where one of these terms begins or ends, outside code; the first place of each term on
// the card alone, since a card full of dotted lines is no easier to read.
void mark_terms(std::vector<TextBlock>& blocks, const std::vector<scenario::Term>& terms);

struct MarkdownStyle {
  float width = 0;          // 0: the rest of the region
  float size = 0;           // 0: body text
  Color color{0, 0, 0, 0};  // transparent: the theme's text
  bool strong = false;
  const std::vector<scenario::Term>* terms =
      nullptr;  // explained on hover, where the text says one
};

// Draws at the cursor and moves it below.
void markdown(const Theme& theme, std::string_view source, const MarkdownStyle& style = {});

}  // namespace trainscope::ui
