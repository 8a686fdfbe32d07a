#include "ui/panels/window/controls.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/panels/lesson/markdown.h"

namespace trainscope::ui {
namespace {

Color dimmed(const Theme& theme, Color color, bool enabled) {
  return enabled ? color : mixed(theme.panel, color, 0.45F);
}

Color track_color(const Theme& theme) {
  return mixed(theme.panel, theme.text, theme.is_dark() ? 0.14F : 0.15F);
}

}  // namespace

bool toggle_switch(const Theme& theme, const char* id, bool& on, bool enabled) {
  const float height = theme.px(21), width = theme.px(40), knob = height / 2 - theme.px(3);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = press_area(id, {width, height});
  ImGui::EndDisabled();
  if (pressed) on = !on;
  const Box box{at, {at.x + width, at.y + height}};
  const bool hovered = enabled && ImGui::IsItemHovered();
  const Color track = on ? (hovered ? theme.accent_hovered : theme.accent)
                         : mixed(track_color(theme), theme.text, hovered ? 0.1F : 0.0F);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, dimmed(theme, track, enabled), height / 2);
  const float x = on ? box.max.x - height / 2 : box.min.x + height / 2;
  draw->AddCircleFilled({x, box.centre().y}, knob, dimmed(theme, rgb(0xFFFFFF), enabled));
  return pressed;
}

namespace {

// The arrows that turn a slider go to it alone: they do not carry the keys to its neighbour.
int arrow_steps(ImGuiID id) {
  int steps = 0;
  for (const auto& [key, step] : {std::pair{ImGuiKey_LeftArrow, -1}, {ImGuiKey_RightArrow, 1}}) {
    ImGui::SetKeyOwner(key, id);
    if (ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, id)) steps += step;
  }
  return steps;
}

}  // namespace

SliderUse slider(const Theme& theme, const char* id, float width, double& share, bool enabled) {
  const float height = theme.px(22), knob = theme.px(7.5F), thick = theme.px(4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  SliderUse use;
  ImGui::BeginDisabled(!enabled);
  const bool pressed = press_area(id, {width, height});
  ImGui::EndDisabled();
  const bool held = enabled && ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool twice = ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  use.grabbed = held && !twice && ImGui::IsItemActivated();
  const float left = at.x + knob, right = at.x + width - knob, middle = at.y + height / 2;
  if (held && !twice && right > left) {
    const double before = share;
    share = std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - left) / (right - left)),
                       0.0, 1.0);
    use.moved = share != before;
  }
  use.released = enabled && ImGui::IsItemDeactivated();
  const bool by_keys = pressed && !ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  use.types = enabled && (by_keys || twice);
  use.types_by_mouse = enabled && twice;
  if (enabled && ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
    use.steps = arrow_steps(ImGui::GetItemID());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float x = left + (right - left) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  draw->AddRectFilled({left, middle - thick / 2}, {right, middle + thick / 2}, track_color(theme),
                      thick / 2);
  const Color color =
      dimmed(theme, held || ImGui::IsItemHovered() ? theme.accent_hovered : theme.accent, enabled);
  draw->AddRectFilled({left, middle - thick / 2}, {x, middle + thick / 2}, color, thick / 2);
  draw->AddCircleFilled({x, middle}, knob, color);
  return use;
}

bool segments(const Theme& theme, const char* id, float width, std::span<const std::string> words,
              std::span<const std::string> built, std::string& chosen, bool enabled) {
  const float height = theme.px(24), corner = theme.px(5);
  const float each = width / static_cast<float>(std::max<std::size_t>(words.size(), 1));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  bool changed = false;
  ImGui::PushID(id);
  draw->AddRectFilled(at, {at.x + width, at.y + height}, mixed(theme.panel, theme.ground, 0.7F),
                      corner);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Box box{{at.x + each * static_cast<float>(i), at.y},
                  {at.x + each * static_cast<float>(i + 1), at.y + height}};
    const bool runs = std::find(built.begin(), built.end(), words[i]) != built.end();
    const bool on = words[i] == chosen;
    ImGui::SetCursorScreenPos(box.min);
    ImGui::BeginDisabled(!enabled || !runs);
    if (press_area(words[i].c_str(), {each, height}) && !on) {
      chosen = words[i];
      changed = true;
    }
    ImGui::EndDisabled();
    const bool lit = enabled && runs && ImGui::IsItemHovered();
    if (on)
      draw->AddRectFilled(box.min, box.max, dimmed(theme, theme.accent, enabled), corner);
    else if (lit)
      draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.text, 0.08F), corner);
    const Color color = on ? theme.accent_text : dimmed(theme, theme.muted, runs);
    const std::string shown =
        shortened(theme.font.text, theme.size.label, words[i], each - theme.px(6));
    draw_text_middle(draw, on ? theme.font.strong : theme.font.text, theme.size.label,
                     box.centre().x, box.centre().y, color, shown, 0.5F);
  }
  draw->AddRect(at, {at.x + width, at.y + height}, theme.line, corner, theme.size.border);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  ImGui::PopID();
  return changed;
}

namespace {

void draw_triangle(ImDrawList* draw, ImVec2 middle, float size, bool right, Color color) {
  const float d = right ? size : -size;
  draw->AddTriangleFilled({middle.x - d * 0.6F, middle.y - size},
                          {middle.x - d * 0.6F, middle.y + size}, {middle.x + d * 0.9F, middle.y},
                          color);
}

void draw_symbol(ImDrawList* draw, Symbol symbol, ImVec2 middle, float s, Color color) {
  const auto bar = [&](float x, float half) {
    draw->AddRectFilled({x - half, middle.y - s}, {x + half, middle.y + s}, color);
  };
  switch (symbol) {
    case Symbol::kStart:
      bar(middle.x - s, s * 0.2F);
      draw_triangle(draw, {middle.x + s * 0.3F, middle.y}, s, false, color);
      break;
    case Symbol::kBack:
      draw_triangle(draw, middle, s, false, color);
      break;
    case Symbol::kPlay:
    case Symbol::kForward:
      draw_triangle(draw, middle, s, true, color);
      break;
    case Symbol::kPause:
      bar(middle.x - s * 0.5F, s * 0.28F);
      bar(middle.x + s * 0.5F, s * 0.28F);
      break;
    case Symbol::kEnd:
      draw_triangle(draw, {middle.x - s * 0.3F, middle.y}, s, true, color);
      bar(middle.x + s, s * 0.2F);
      break;
  }
}

}  // namespace

bool symbol_button(const Theme& theme, const char* id, Symbol symbol, bool primary, float width,
                   bool enabled) {
  const float height = theme.px(28);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = press_area(id, {width, height});
  ImGui::EndDisabled();
  const bool lit = enabled && ImGui::IsItemHovered();
  const Box box{at, {at.x + width, at.y + height}};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color quiet = lit ? mixed(theme.head, theme.text, 0.09F) : theme.head;
  const Color fill = primary ? (lit ? theme.accent_hovered : theme.accent) : quiet;
  draw->AddRectFilled(box.min, box.max, dimmed(theme, fill, enabled), theme.size.corner);
  if (!primary) draw->AddRect(box.min, box.max, theme.line, theme.size.corner, theme.size.border);
  const Color color = dimmed(theme, primary ? theme.accent_text : theme.text, enabled);
  draw_symbol(draw, symbol, box.centre(), theme.px(5), color);
  return pressed;
}

bool begin_list(const Theme& theme, const char* id, const std::string& chosen) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 max{at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()};
  ImDrawList* draw = ImGui::GetWindowDrawList();  // the list that opens has one of its own
  const float mark = theme.px(12), pad = ImGui::GetStyle().FramePadding.x;
  const std::string words =
      shortened(ImGui::GetFont(), ImGui::GetFontSize(), chosen, max.x - at.x - 2 * pad - mark);
  const bool open = ImGui::BeginCombo(id, words.c_str(), ImGuiComboFlags_NoArrowButton);
  draw_down_mark(draw, theme, {max.x - pad - theme.px(3), (at.y + max.y) / 2}, theme.muted);
  return open;
}

namespace {

struct NoticeColors {
  Color edge, fill, title;
};

NoticeColors notice_colors(const Theme& theme, Tone tone) {
  if (tone == Tone::kBad) return {theme.bad, theme.bad_soft, theme.bad};
  if (tone == Tone::kGood) return {theme.good, theme.good_soft, theme.good};
  return {theme.line, theme.card, theme.text};
}

// The words in two lines, of which the title takes some of the first; the second is empty where one
// is enough, and cut where two are not.
struct TwoLines {
  std::string first, second;
  bool whole = true;
};

TwoLines two_lines(const Theme& theme, std::string_view words, float first, float second) {
  const float size = theme.size.small;
  const char *begin = words.data(), *end = begin + words.size();
  const char* stop = theme.font.text->CalcWordWrapPosition(size, begin, end, first);
  TwoLines lines{std::string(begin, stop), "", true};
  while (stop < end && *stop == ' ') ++stop;
  const std::string rest(stop, end);
  lines.second = shortened(theme.font.text, size, rest, second);
  lines.whole = lines.second == rest;
  return lines;
}

std::string without_marks(std::string words) {
  std::erase(words, '`');
  return words;
}

TwoLines notice_lines(const Theme& theme, const std::string& sentence, float first, float second) {
  const std::string words = without_marks(sentence);
  const TwoLines all = two_lines(theme, words, first, second);
  return all.whole ? all : two_lines(theme, words.substr(0, words.find(';')), first, second);
}

}  // namespace

void notice_line(const Theme& theme, Tone tone, const std::string& title,
                 const std::string& sentence) {
  const auto [edge, fill, color] = notice_colors(theme, tone);
  const float size = theme.size.small, pad = theme.px(10), line = size * 1.42F;
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const float indent = text_size(theme.font.strong, size, title).x + pad;
  const float room = std::max(width - 2 * pad, 1.0F);
  const TwoLines lines = notice_lines(theme, sentence, std::max(room - indent, 1.0F), room);
  const float height = theme.px(28) + (lines.second.empty() ? 0 : line);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(title.c_str());
  ImGui::InvisibleButton("notice", {width, height});
  ImGui::PopID();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, {at.x + width, at.y + height}, fill, theme.size.corner);
  draw->AddRect(at, {at.x + width, at.y + height}, edge, theme.size.corner, theme.size.border);
  const float left = at.x + pad, y = at.y + theme.px(14);
  draw_text_middle(draw, theme.font.strong, size, left, y, color, title);
  draw_text_middle(draw, theme.font.text, size, left + indent, y, theme.text, lines.first);
  draw_text_middle(draw, theme.font.text, size, left, y + line, theme.text, lines.second);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) ImGui::SetTooltip("%s", sentence.c_str());
}

float small_link_width(const Theme& theme, std::string_view words) {
  return std::ceil(text_size(theme.font.text, theme.size.small, words).x + theme.px(16));
}

void notice_card(const Theme& theme, Tone tone, std::string_view title, std::string_view sentence) {
  const auto [edge, fill, title_color] = notice_colors(theme, tone);
  const float pad = theme.px(12), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->ChannelsSplit(2);
  draw->ChannelsSetCurrent(1);
  ImGui::SetCursorScreenPos({at.x + pad, at.y + pad});
  ImGui::BeginGroup();
  const float inner = width - 2 * pad;
  if (!title.empty()) {
    markdown(theme, title,
             {.width = inner, .size = theme.size.small, .color = title_color, .strong = true});
  }
  if (!sentence.empty())
    markdown(theme, sentence, {.width = inner, .size = theme.size.small, .color = theme.text});
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + pad;
  draw->ChannelsSetCurrent(0);
  draw->AddRectFilled(at, {at.x + width, bottom}, fill, theme.size.corner);
  draw->AddRect(at, {at.x + width, bottom}, edge, theme.size.corner, theme.size.border);
  draw->ChannelsMerge();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, bottom - at.y});
}

void separator(const Theme& theme, float room) {
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y = std::round(at.y + room) + 0.5F;
  ImGui::GetWindowDrawList()->AddLine({at.x, y}, {at.x + width, y}, theme.line, theme.size.border);
  ImGui::Dummy({width, 2 * room});
}

}  // namespace trainscope::ui
