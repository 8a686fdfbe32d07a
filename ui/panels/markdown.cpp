#include "ui/panels/markdown.h"

#include <imgui.h>
#include <md4c.h>

#include <algorithm>
#include <cmath>

#include "ui/app/shapes.h"

namespace trainscope::ui {
namespace {

// Collects md4c's callbacks into blocks.
struct Collector {
  struct List {
    bool numbered = false;
    unsigned next = 1;
  };

  std::vector<TextBlock> blocks;
  std::vector<List> lists;
  bool item_begun = false;  // the next paragraph carries the bullet
  int strong = 0, emphasis = 0, code = 0;
  bool in_block = false;

  void begin(bool heading, bool is_code) {
    TextBlock block;
    block.heading = heading;
    block.code = is_code;
    block.indent = static_cast<int>(lists.size());
    if (item_begun && !lists.empty()) {
      List& list = lists.back();
      block.bullet = list.numbered ? std::to_string(list.next++) + "." : "•";
      item_begun = false;
    }
    blocks.push_back(std::move(block));
    in_block = true;
  }

  void add(std::string_view text) {
    if (!in_block) begin(false, false);
    TextRun run{std::string(text), strong > 0, emphasis > 0, code > 0};
    blocks.back().runs.push_back(std::move(run));
  }
};

Collector& collector(void* user) {
  return *static_cast<Collector*>(user);
}

int enter_block(MD_BLOCKTYPE type, void* detail, void* user) {
  Collector& out = collector(user);
  if (type == MD_BLOCK_UL) out.lists.push_back({});
  if (type == MD_BLOCK_OL)
    out.lists.push_back({true, static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start});
  if (type == MD_BLOCK_LI) {
    out.item_begun = true;
    out.in_block = false;
  }
  if (type == MD_BLOCK_P || type == MD_BLOCK_H) out.begin(type == MD_BLOCK_H, false);
  if (type == MD_BLOCK_CODE) out.begin(false, true);
  return 0;
}

int leave_block(MD_BLOCKTYPE type, void*, void* user) {
  Collector& out = collector(user);
  if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) out.lists.pop_back();
  out.in_block = false;
  return 0;
}

int enter_span(MD_SPANTYPE type, void*, void* user) {
  Collector& out = collector(user);
  out.strong += type == MD_SPAN_STRONG;
  out.emphasis += type == MD_SPAN_EM;
  out.code += type == MD_SPAN_CODE;
  return 0;
}

int leave_span(MD_SPANTYPE type, void*, void* user) {
  Collector& out = collector(user);
  out.strong -= type == MD_SPAN_STRONG;
  out.emphasis -= type == MD_SPAN_EM;
  out.code -= type == MD_SPAN_CODE;
  return 0;
}

int take_text(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* user) {
  Collector& out = collector(user);
  if (type == MD_TEXT_SOFTBR)
    out.add(" ");
  else if (type == MD_TEXT_BR)
    out.add("\n");
  else if (type != MD_TEXT_NULLCHAR)
    out.add({text, size});
  return 0;
}

}  // namespace

std::vector<TextBlock> parse_markdown(std::string_view source) {
  Collector out;
  MD_PARSER parser{};
  parser.flags = MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS;
  parser.enter_block = enter_block;
  parser.leave_block = leave_block;
  parser.enter_span = enter_span;
  parser.leave_span = leave_span;
  parser.text = take_text;
  md_parse(source.data(), static_cast<MD_SIZE>(source.size()), &parser, &out);
  return std::move(out.blocks);
}

namespace {

struct Pen {
  const Theme* theme;
  ImDrawList* draw;
  float left, right, size, line;
  float x, y;
  Color color;
  bool strong;
  bool glued = false;  // no space stands between the last word and the next

  void new_line() {
    x = left;
    y += line;
  }
};

ImFont* face_of(const Pen& pen, const TextRun& run, bool heading) {
  if (run.code) return pen.theme->font.mono;
  if (run.strong || heading || pen.strong) return pen.theme->font.strong;
  if (run.emphasis) return pen.theme->font.italic;
  return pen.theme->font.text;
}

// The pieces between which a line may break; each keeps the spaces after it.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      words.push_back(text.substr(at++, 1));
      continue;
    }
    std::size_t end = text.find_first_of(" \n", at);
    if (end == text.npos) end = text.size();
    while (end < text.size() && text[end] == ' ') ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  return word;
}

void draw_code_ground(const Pen& pen, float x, float width) {
  const Theme& theme = *pen.theme;
  const float pad = theme.px(3);
  pen.draw->AddRectFilled({x - pad, pen.y + theme.px(1)},
                          {x + width + pad, pen.y + pen.line - theme.px(2)},
                          mixed(theme.panel, theme.text, 0.08F), theme.px(3));
}

// A word too long for a line of its own breaks anywhere.
void draw_word(Pen& pen, ImFont* font, float size, std::string_view word, bool code) {
  const float width = text_size(font, size, word).x;
  const float solid = text_size(font, size, trimmed(word)).x;
  // A full stop stays with the word that it ends, whatever face that has.
  const bool tail = pen.glued && std::string_view(".,:;!?)\"'").find(word[0]) != word.npos;
  if (pen.x > pen.left && pen.x + solid > pen.right && !tail) pen.new_line();
  pen.glued = word.back() != ' ';
  if (solid > pen.right - pen.left && word.size() > 1) {
    std::size_t half = word.size() / 2;
    while (half > 1 && (word[half] & 0xC0) == 0x80) --half;
    draw_word(pen, font, size, word.substr(0, half), code);
    draw_word(pen, font, size, word.substr(half), code);
    return;
  }
  if (code) draw_code_ground(pen, pen.x, solid);
  draw_text(pen.draw, font, size, {pen.x, pen.y + (pen.line - size) / 2}, pen.color, trimmed(word));
  pen.x += width;
}

void draw_block(Pen& pen, const TextBlock& block) {
  const float indent = pen.theme->px(18) * static_cast<float>(block.indent);
  const float margin = pen.left;
  pen.left += indent;
  pen.x = pen.left;
  if (!block.bullet.empty())
    draw_text(pen.draw, pen.theme->font.text, pen.size,
              {pen.left - pen.theme->px(15), pen.y + (pen.line - pen.size) / 2}, pen.theme->muted,
              block.bullet);
  for (const TextRun& run : block.runs) {
    const bool code = run.code || block.code;
    ImFont* font = block.code ? pen.theme->font.mono : face_of(pen, run, block.heading);
    const float size = code ? pen.size * 0.92F : pen.size;
    const float margin_of_code = run.code && !block.code ? pen.theme->px(3) : 0;
    pen.x += pen.x > pen.left ? margin_of_code : 0;
    for (const std::string_view word : words_of(run.text)) {
      if (word == "\n")
        pen.new_line();
      else
        draw_word(pen, font, size, word, code);
    }
    pen.x += margin_of_code;
  }
  if (pen.x > pen.left || block.runs.empty()) pen.new_line();
  pen.left = margin;
}

}  // namespace

void markdown(const Theme& theme, std::string_view source, const MarkdownStyle& style) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = style.width > 0 ? style.width : ImGui::GetContentRegionAvail().x;
  const float size = style.size > 0 ? style.size : theme.size.text;
  const Color color = style.color.a > 0 ? style.color : theme.text;
  Pen pen{&theme, ImGui::GetWindowDrawList(),
          at.x,   at.x + width,
          size,   std::round(size * 1.45F),
          at.x,   at.y,
          color,  style.strong};
  bool first = true;
  for (const TextBlock& block : parse_markdown(source)) {
    if (!first) pen.y += std::round(size * (block.indent > 0 ? 0.25F : 0.6F));
    draw_block(pen, block);
    first = false;
  }
  ImGui::Dummy({width, pen.y - at.y});
}

}  // namespace trainscope::ui
