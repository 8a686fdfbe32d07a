#include "ui/panels/comparison/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "program/wrapped_line.h"

namespace trainscope::ui {
namespace {

bool is_keyword(std::string_view word) {
  static constexpr std::array kWords{"import", "for", "in",   "if",    "with",  "def", "return",
                                     "from",   "as",  "True", "False", "print", "not", "None"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Python's, and those of C++, in which nothing is divided without a remainder.
bool is_comment(std::string_view rest) {
  return rest.starts_with("# ") || rest.starts_with("// ");
}

// Of a piece of a line, as piece_end() cuts it.
Color piece_color(const Theme& theme, std::string_view word) {
  if (is_comment(word)) return theme.muted;
  if (word.starts_with('"')) return theme.good;
  if (is_keyword(word)) return theme.accent;
  if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) return theme.copy_text;
  return theme.text;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the next piece of one colour ends: a comment, a string, a word, or what stands between.
std::size_t piece_end(std::string_view line, std::size_t at) {
  if (is_comment(line.substr(at))) return line.size();
  if (line[at] == '"') {
    const std::size_t close = line.find('"', at + 1);
    return close == line.npos ? line.size() : close + 1;
  }
  std::size_t end = at + 1;
  if (is_word(line[at]))
    while (end < line.size() && is_word(line[end])) ++end;
  return end;
}

void draw_part(const Theme& theme, ImVec2 at, std::string_view line, std::string_view part) {
  const float size = theme.size.label, advance = text_size(theme.font.mono, size, "0").x;
  const auto start = static_cast<std::size_t>(part.data() - line.data());
  std::size_t from = 0;
  while (from < line.size()) {
    const std::size_t end = piece_end(line, from);
    const Color color = piece_color(theme, line.substr(from, end - from));
    const std::size_t left = std::max(from, start), right = std::min(end, start + part.size());
    if (left < right)
      draw_text(ImGui::GetWindowDrawList(), theme.font.mono, size,
                {at.x + advance * static_cast<float>(left - start), at.y}, color,
                line.substr(left, right - left));
    from = end;
  }
}

}  // namespace

SourceRows source_rows(const Theme& theme, std::string_view line, float width) {
  const float advance = text_size(theme.font.mono, theme.size.label, "0").x;
  auto [rows, indent] =
      program::wrapped(line, static_cast<std::size_t>(std::max(width / advance, 1.0F)));
  return {line, std::move(rows), indent};
}

void draw_source(const Theme& theme, ImVec2 at, float apart, const SourceRows& source) {
  const float advance = text_size(theme.font.mono, theme.size.label, "0").x;
  for (std::size_t i = 0; i < source.rows.size(); ++i) {
    const float indent = i == 0 ? 0 : advance * static_cast<float>(source.indent);
    draw_part(theme, {at.x + indent, at.y + apart * static_cast<float>(i)}, source.line,
              source.rows[i]);
  }
}

}  // namespace trainscope::ui
