#include "ui/panels/lesson/markdown.h"

#include <imgui.h>
#include <md4c.h>

#include <algorithm>
#include <cmath>

#include "ui/app/window/shapes.h"

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
    TextRun run{std::string(text), strong > 0, emphasis > 0, code > 0, nullptr};
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

// The run cut at the places of terms that were not explained before.
std::vector<TextRun> cut(const TextRun& run, std::vector<const scenario::Term*>& left) {
  std::vector<TextRun> pieces;
  std::size_t at = 0;
  const auto add = [&](std::size_t end, const scenario::Term* term) {
    if (end == at) return;
    TextRun piece = run;
    piece.text = run.text.substr(at, end - at);
    piece.term = term;
    pieces.push_back(std::move(piece));
    at = end;
  };
  for (const scenario::TermPlace& place : scenario::terms_in(run.text, left)) {
    const auto known = std::find(left.begin(), left.end(), place.term);
    if (known == left.end()) continue;  // said before on this card
    left.erase(known);
    add(place.begin, nullptr);
    add(place.end, place.term);
  }
  add(run.text.size(), nullptr);
  return pieces;
}

// Neighbours of one look as one run: a term may stand across the end of a line of the source.
std::vector<TextRun> joined(const std::vector<TextRun>& runs) {
  std::vector<TextRun> all;
  for (const TextRun& run : runs) {
    TextRun* last = all.empty() ? nullptr : &all.back();
    const bool same = last && last->strong == run.strong && last->emphasis == run.emphasis &&
                      last->code == run.code;
    if (same)
      last->text += run.text;
    else
      all.push_back(run);
  }
  return all;
}

}  // namespace

void mark_terms(std::vector<TextBlock>& blocks, const std::vector<scenario::Term>& terms) {
  std::vector<const scenario::Term*> left;
  for (const scenario::Term& term : terms) left.push_back(&term);
  for (TextBlock& block : blocks) {
    if (block.code || block.heading) continue;
    std::vector<TextRun> runs;
    for (const TextRun& run : joined(block.runs)) {
      if (run.code) {
        runs.push_back(run);
        continue;
      }
      for (TextRun& piece : cut(run, left)) runs.push_back(std::move(piece));
    }
    block.runs = std::move(runs);
  }
}

namespace {

struct Pen {
  const Theme* theme;
  ImDrawList* draw;
  float left, right, size, line;
  float x, y;
  Color color;
  bool strong;
  bool glued = false;                       // no space stands between the last word and the next
  const scenario::Term* said = nullptr;     // by the word under the pen
  const scenario::Term* pointed = nullptr;  // at by the mouse

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

// Dots below a word that is explained where the mouse stands on it.
void draw_term(Pen& pen, float width) {
  const Theme& theme = *pen.theme;
  const float y = pen.y + pen.line - theme.px(3), apart = theme.px(4), radius = theme.px(0.8F);
  for (float x = pen.x + radius; x < pen.x + width; x += apart)
    pen.draw->AddCircleFilled({x, y}, radius, theme.accent, 6);
  if (ImGui::IsWindowHovered() &&
      ImGui::IsMouseHoveringRect({pen.x, pen.y}, {pen.x + width, pen.y + pen.line}))
    pen.pointed = pen.said;
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
  if (pen.said) draw_term(pen, solid);
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
    pen.said = run.term;
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

namespace {

void explain(const Theme& theme, const scenario::Term& term) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.size.pad, theme.px(10)));
  ImGui::BeginTooltip();
  ImGui::Dummy({theme.px(300), 0});
  markdown(theme, term.name, {.width = theme.px(300), .size = theme.size.small, .strong = true});
  markdown(theme, term.text, {.width = theme.px(300), .size = theme.size.small});
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
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
  std::vector<TextBlock> blocks = parse_markdown(source);
  if (style.terms) mark_terms(blocks, *style.terms);
  for (const TextBlock& block : blocks) {
    if (!first) pen.y += std::round(size * (block.indent > 0 ? 0.25F : 0.6F));
    draw_block(pen, block);
    first = false;
  }
  ImGui::Dummy({width, pen.y - at.y});
  if (pen.pointed) explain(theme, *pen.pointed);
}

}  // namespace trainscope::ui
