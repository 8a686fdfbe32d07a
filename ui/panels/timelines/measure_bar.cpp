#include "ui/panels/timelines/measure_bar.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

std::string bar_words(const TimelineInput& input, const Measure& measure) {
  if (!measure.from) return "Click where a span starts or ends, or Enter at the playhead";
  const std::string from = place_words(input, *measure.from);
  if (!measure.to) return "From " + from + ": click a second start or end, or Enter";
  return "From " + from + " to " + place_words(input, *measure.to);
}

// Enter, where it presses no item.
bool is_entered(const PanelContext& context) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool item = io.NavVisible && !context.attention.timeline_has_keys;
  if (item || io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup))
    return false;
  const bool held = io.KeyCtrl || io.KeyShift || io.KeyAlt || io.KeySuper;
  return !held && (ImGui::IsKeyPressed(ImGuiKey_Enter, false) ||
                   ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false));
}

}  // namespace

std::string place_words(const TimelineInput& input, const Edge& edge) {
  const auto number = static_cast<std::size_t>(edge.side);
  if (number >= input.sides.size() || !input.sides[number].trace) return "";
  const trace::Trace& trace = *input.sides[number].trace;
  std::string words = input.sides.size() > 1 ? (number == 0 ? "A " : "B ") : "";
  if (edge.lane < trace.lanes().size()) words += trace.lanes()[edge.lane].name + ": ";
  return words + edge_words(trace, edge);
}

float measure_bar_height(const PanelContext& context) {
  return context.attention.timeline.measure.on ? context.theme.size.button + context.theme.px(4)
                                               : 0;
}

void draw_measure_bar(const PanelContext& context, const TimelineInput& input, float height) {
  const Theme& theme = context.theme;
  const Measure& measure = context.attention.timeline.measure;
  if (is_entered(context)) context.ask("timeline.take_edge");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddLine(at, {at.x + width, at.y}, theme.line, theme.size.border);
  const float done = text_size(theme.font.text, theme.size.small, "Done").x + theme.px(16);
  float x = at.x + theme.px(12), right = at.x + width - theme.px(8) - done;
  const auto say = [&](ImFont* font, float size, Color color, const std::string& words) {
    const std::string shown = shortened(font, size, words, std::max(right - x, 0.0F));
    draw_text_middle(draw, font, size, x, middle, color, shown);
    x += text_size(font, size, shown).x + theme.px(12);
  };
  if (measure.from && measure.to)
    say(theme.font.mono, theme.size.mono, theme.accent,
        difference_words(*measure.from, *measure.to));
  else
    say(theme.font.strong, theme.size.small, theme.accent, "Measure");
  say(theme.font.text, theme.size.label, theme.muted, bar_words(input, measure));
  ImGui::SetCursorScreenPos({right, middle - theme.size.button / 2});
  if (button(theme, "Done##measure", ButtonKind::kLink)) context.ask("timeline.measure");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

}  // namespace trainscope::ui
