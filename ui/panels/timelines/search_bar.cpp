#include "ui/panels/timelines/search_bar.h"

#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

// Keys while one types: Enter goes on, Shift+Enter back, Escape leaves.
void take_keys(const PanelContext& context) {
  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
  if (enter) {
    context.ask(ImGui::GetIO().KeyShift ? "timeline.previous_match" : "timeline.next_match");
    context.attention.search.just_opened = true;  // the field keeps the keys
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape)) context.ask("timeline.search");
}

void field(const PanelContext& context, float width) {
  const Theme& theme = context.theme;
  TimelineSearch& search = context.attention.search;
  // Until it has the keys: a panel that comes to the front takes them first.
  if (search.just_opened) {
    ImGui::SetKeyboardFocusHere();
    context.ask("animate");
  }
  ImGui::PushFont(theme.font.text, theme.size.small);
  ImGui::SetNextItemWidth(width);
  ImGui::InputTextWithHint("##find", "A name or a kind", &search.words);
  // Enter lets go of the field in the frame in which it is pressed.
  const bool typing = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  ImGui::PopFont();
  if (ImGui::IsItemActive()) search.just_opened = false;
  if (typing) take_keys(context);
}

}  // namespace

float search_bar_height(const PanelContext& context) {
  return context.attention.search.open ? context.theme.size.button + context.theme.px(4) : 0;
}

void draw_search_bar(const PanelContext& context, const TimelineInput& input, float height) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, middle = at.y + height / 2;
  const float top = middle - theme.size.button / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddLine(at, {at.x + width, at.y}, theme.line, theme.size.border);
  constexpr std::pair<const char*, const char*> kButtons[] = {
      {"Done", "timeline.search"},
      {"Next", "timeline.next_match"},
      {"Previous", "timeline.previous_match"}};
  const float least = theme.px(120);  // of the field
  float right = at.x + width - theme.px(8);
  for (const auto& [label, action] : kButtons) {
    const float wanted = small_link_width(theme, label);
    if (right - wanted < at.x + theme.px(12) + least) break;
    right -= wanted;
    ImGui::SetCursorScreenPos({right, top});
    ImGui::PushID("search");
    if (button(theme, label, ButtonKind::kLink, 0, context.can(action))) context.ask(action);
    ImGui::PopID();
  }
  const std::string count =
      count_words(context.attention.search, input, context.attention.timeline);
  const float count_width = text_size(theme.font.mono, theme.size.mono, count).x + theme.px(12);
  const bool counted = right - count_width > at.x + theme.px(12) + least;
  if (counted) {
    draw_text_middle(draw, theme.font.mono, theme.size.mono, right - theme.px(6), middle,
                     theme.muted, count, 1);
    right -= count_width;
  }
  const float left = at.x + theme.px(12);
  const float field_height = theme.size.small + 2 * ImGui::GetStyle().FramePadding.y;
  ImGui::SetCursorScreenPos({left, std::round(middle - field_height / 2)});
  field(context, std::clamp(right - theme.px(12) - left, theme.px(40), theme.px(420)));
  ImGui::SetCursorScreenPos({at.x, at.y});
  ImGui::Dummy({width, height});
}

}  // namespace trainscope::ui
