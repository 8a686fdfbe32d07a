#include "ui/app/window/shapes.h"

#include <algorithm>
#include <cmath>

namespace trainscope::ui {

ImVec2 text_size(ImFont* font, float size, std::string_view text) {
  if (text.empty()) return {0, size};
  return font->CalcTextSizeA(size, FLT_MAX, 0, text.data(), text.data() + text.size());
}

void draw_text(ImDrawList* draw, ImFont* font, float size, ImVec2 pos, Color color,
               std::string_view text) {
  if (text.empty()) return;
  // On whole pixels letters stay sharp.
  const ImVec2 at{std::round(pos.x), std::round(pos.y)};
  draw->AddText(font, size, at, color, text.data(), text.data() + text.size());
}

void draw_text_middle(ImDrawList* draw, ImFont* font, float size, float x, float y, Color color,
                      std::string_view text, float align) {
  const float width = align == 0 ? 0 : text_size(font, size, text).x;
  draw_text(draw, font, size, {x - align * width, y - size / 2}, color, text);
}

namespace {

// The longest start of the text that is whole characters and at most `bytes` long.
std::size_t whole_characters(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && bytes < text.size() && (text[bytes] & 0xC0) == 0x80) --bytes;
  return std::min(bytes, text.size());
}

// The text where it fits, else what `cut` makes of the most bytes of it that fit; none: nothing.
template <typename Cut>
std::string longest_cut(ImFont* font, float size, std::string_view text, float width,
                        const Cut& cut) {
  if (text_size(font, size, text).x <= width) return std::string(text);
  std::size_t least = 0, most = text.size();
  while (least + 1 < most) {
    const std::size_t middle = (least + most) / 2;
    (text_size(font, size, cut(middle)).x <= width ? least : most) = middle;
  }
  return least == 0 ? std::string() : cut(least);
}

}  // namespace

std::string shortened(ImFont* font, float size, std::string_view text, float width) {
  return longest_cut(font, size, text, width, [&](std::size_t bytes) {
    return std::string(text.substr(0, whole_characters(text, bytes))) + "…";
  });
}

std::string shortened_middle(ImFont* font, float size, std::string_view text, float width) {
  return longest_cut(font, size, text, width, [&](std::size_t bytes) {
    const std::size_t start = whole_characters(text, (bytes + 1) / 2);
    const std::size_t end = whole_characters(text, text.size() - bytes / 2);
    return std::string(text.substr(0, start)) + "…" + std::string(text.substr(end));
  });
}

std::string shortened_parts(ImFont* font, float size, std::string_view text, float width) {
  if (text_size(font, size, text).x <= width) return std::string(text);
  for (std::size_t end = text.rfind(", "); end != text.npos && end > 0;
       end = text.rfind(", ", end - 1)) {
    const std::string some = std::string(text.substr(0, end)) + ", …";
    if (text_size(font, size, some).x <= width) return some;
  }
  return shortened(font, size, text, width);
}

void draw_hatch(ImDrawList* draw, const Box& box, Color color, float spacing, float thickness,
                float phase) {
  if (box.width() <= 0 || box.height() <= 0) return;
  // Each line is x + y = sum.
  const float first = box.min.x + box.min.y, last = box.max.x + box.max.y;
  float sum = phase + std::ceil((first - phase) / spacing) * spacing;
  for (; sum < last; sum += spacing) {
    const float left = std::max(box.min.x, sum - box.max.y);
    const float right = std::min(box.max.x, sum - box.min.y);
    if (right - left < 0.5F) continue;
    draw->AddLine({left, sum - left}, {right, sum - right}, color, thickness);
  }
}

void draw_dashed_line(ImDrawList* draw, ImVec2 from, ImVec2 to, Color color, float thickness,
                      float dash, float gap) {
  const float dx = to.x - from.x, dy = to.y - from.y;
  const float length = std::hypot(dx, dy);
  if (length <= 0) return;
  for (float at = 0; at < length; at += dash + gap) {
    const float end = std::min(at + dash, length);
    draw->AddLine({from.x + dx * at / length, from.y + dy * at / length},
                  {from.x + dx * end / length, from.y + dy * end / length}, color, thickness);
  }
}

namespace {

void draw_edge(ImDrawList* draw, const Theme& theme, const Box& box, const CategoryStyle& style,
               float corner) {
  const float thick = std::min(theme.px(1.2F), std::min(box.width(), box.height()) / 2);
  const float half = thick / 2;
  draw->AddRect({box.min.x + half, box.min.y + half}, {box.max.x - half, box.max.y - half},
                style.line, corner, thick);
}

}  // namespace

void draw_bar(ImDrawList* draw, const Theme& theme, const Box& box, const CategoryStyle& style) {
  const float corner = box.width() < theme.px(8) ? theme.px(1) : theme.size.bar_corner;
  draw->AddRectFilled(box.min, box.max, style.fill, corner);
  if (!style.hatched || box.width() < theme.px(3)) {
    if (style.hatched) draw->AddRectFilled(box.min, box.max, faded(style.line, 0.8F), corner);
    if (style.edged) draw_edge(draw, theme, box, style, corner);
    return;
  }
  const float inset = theme.px(1);
  const Box inner{{box.min.x + inset, box.min.y + inset}, {box.max.x - inset, box.max.y - inset}};
  draw_hatch(draw, inner, faded(style.line, 0.55F), theme.px(7), theme.px(1.2F), box.min.x);
  draw->AddRect(box.min, box.max, style.line, corner, theme.px(1.2F));
}

void draw_solid(ImDrawList* draw, const Theme& theme, const Box& box, const CategoryStyle& style) {
  const float corner = std::min(theme.size.bar_corner, box.height() / 2);
  draw->AddRectFilled(box.min, box.max, style.fill, corner);
  if (style.edged) draw_edge(draw, theme, box, style, corner);
}

float draw_side_mark(ImDrawList* draw, const Theme& theme, ImVec2 left_middle, char letter,
                     bool solid) {
  const float width = theme.px(24), height = theme.px(18), edge = theme.px(1.5F);
  const ImVec2 min{std::round(left_middle.x), std::round(left_middle.y - height / 2)};
  const ImVec2 max{min.x + width, min.y + height};
  if (solid)
    draw->AddRectFilled(min, max, theme.text, height / 2);
  else
    draw->AddRect({min.x + edge / 2, min.y + edge / 2}, {max.x - edge / 2, max.y - edge / 2},
                  theme.text, height / 2, edge);
  const char text[2] = {letter, 0};
  draw_text_middle(draw, theme.font.strong, theme.size.label, min.x + width / 2, left_middle.y,
                   solid ? theme.panel : theme.text, text, 0.5F);
  return width;
}

void draw_down_mark(ImDrawList* draw, const Theme& theme, ImVec2 middle, Color color) {
  const float s = theme.px(3.5F), thick = theme.px(1.4F);
  draw->AddLine({middle.x - s, middle.y - s * 0.5F}, {middle.x, middle.y + s * 0.5F}, color, thick);
  draw->AddLine({middle.x, middle.y + s * 0.5F}, {middle.x + s, middle.y - s * 0.5F}, color, thick);
}

void pill(const Theme& theme, std::string_view label, Color fill, Color text_color) {
  const float height = theme.px(20), pad = theme.px(9), size = theme.size.label;
  const ImVec2 extent{text_size(theme.font.text, size, label).x + 2 * pad, height};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, {at.x + extent.x, at.y + extent.y}, fill, height / 2);
  draw_text_middle(draw, theme.font.text, size, at.x + pad, at.y + height / 2, text_color, label);
  ImGui::Dummy(extent);
}

namespace {

struct ButtonLook {
  Color fill, hovered, edge, text;
  bool strong;
};

ButtonLook look_of(const Theme& theme, ButtonKind kind) {
  const Color none = faded(theme.panel, 0);
  switch (kind) {
    case ButtonKind::kPrimary:
      return {theme.accent, theme.accent_hovered, none, theme.accent_text, true};
    case ButtonKind::kQuiet:
      return {theme.head, mixed(theme.head, theme.text, 0.07F), theme.line, theme.text, false};
    case ButtonKind::kLink:
      return {none, theme.accent_soft, none, theme.accent, false};
  }
  return {};
}

std::string_view visible_part(std::string_view label) {
  return label.substr(0, label.find("##"));
}

}  // namespace

bool press_area(const char* id, ImVec2 size) {
  return ImGui::InvisibleButton(id, size, ImGuiButtonFlags_EnableNav);
}

bool button(const Theme& theme, const char* label, ButtonKind kind, float width, bool enabled) {
  ButtonLook look = look_of(theme, kind);
  if (!enabled) look.text = theme.faint;
  if (!enabled && kind == ButtonKind::kPrimary) look.fill = theme.card, look.edge = theme.line;
  ImFont* font = look.strong ? theme.font.strong : theme.font.text;
  const std::string_view shown = visible_part(label);
  const float pad = kind == ButtonKind::kLink ? theme.px(8) : theme.px(14);
  const float text_width = text_size(font, theme.size.small, shown).x;
  const ImVec2 extent{width > 0 ? width : std::ceil(text_width + 2 * pad), theme.size.button};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = press_area(label, extent);
  const bool lit = ImGui::IsItemHovered();
  ImGui::EndDisabled();
  const ImVec2 max{at.x + extent.x, at.y + extent.y};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, max, lit ? look.hovered : look.fill, theme.size.corner);
  if (look.edge.a) draw->AddRect(at, max, look.edge, theme.size.corner, theme.size.border);
  draw_text_middle(draw, font, theme.size.small, at.x + extent.x / 2, at.y + extent.y / 2,
                   look.text, shown, 0.5F);
  return pressed;
}

namespace {

// Dear ImGui breaks a line after a dot as well, within a name such as "compile.cuda_graph". A word
// that is wider than the line is broken where it must be.
const char* whole_word(const char* at, const char* stop, const char* end) {
  if (stop >= end || *stop == ' ' || *stop == '\n') return stop;
  const char* blank = stop;
  while (blank > at && blank[-1] != ' ') --blank;
  return blank > at ? blank : stop;
}

// Line by line, with more room between lines than ImGui's own wrapping leaves.
void wrapped(ImFont* font, float size, std::string_view words) {
  constexpr float kLeading = 0.42F;
  const float width = std::max(ImGui::GetContentRegionAvail().x, size);
  const char* at = words.data();
  const char* end = at + words.size();
  const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, size * kLeading));
  ImGui::BeginGroup();
  while (at < end) {
    const char* newline = std::find(at, end, '\n');
    const char* stop = whole_word(
        at, std::min(font->CalcWordWrapPosition(size, at, newline, width), newline), newline);
    ImGui::TextUnformatted(at, std::max(stop, at));
    if (stop == at && stop != newline) stop = at + 1;
    at = stop;
    while (at < end && *at == ' ') ++at;
    if (at < end && *at == '\n') ++at;
  }
  ImGui::EndGroup();
  ImGui::PopStyleVar();
}

}  // namespace

void text(ImFont* font, float size, Color color, std::string_view words, bool wrap) {
  ImGui::PushFont(font, size);
  ImGui::PushStyleColor(ImGuiCol_Text, static_cast<ImU32>(color));
  if (wrap) {
    wrapped(font, size, words);
  } else {
    ImGui::TextUnformatted(words.data(), words.data() + words.size());
  }
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

}  // namespace trainscope::ui
