#include "ui/panels/shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ui/panels/controls.h"
#include "ui/panels/markdown.h"

namespace trainscope::ui {
namespace {

std::string track_title(const std::string& track) {
  static const std::map<std::string, std::string> titles = {
      {"T0", "Start"},          {"T1", "Feed the GPU"}, {"T2", "Fit in memory"},
      {"T3", "Inside the GPU"}, {"T4", "Precision"},    {"T5", "Many GPUs"}};
  const auto found = titles.find(track);
  return found == titles.end() ? track : found->second;
}

void draw_level(const Theme& theme, const scenario::Lesson& lesson, float x, float y) {
  const std::string words = fmt::format("{}   {}   {} min   {}", track_title(lesson.track),
                                        lesson.topic, lesson.minutes, lesson.level);
  draw_text(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label, {x, y}, theme.accent,
            words);
}

bool lesson_card(const Theme& theme, const scenario::Lesson& lesson, float width, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = theme.px(18);
  ImGui::PushID(lesson.id.c_str());
  const bool pressed = ImGui::InvisibleButton("lesson", {width, height});
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const ImVec2 max{at.x + width, at.y + height};
  draw->AddRectFilled(at, max, theme.panel, theme.size.corner);
  draw->AddRect(at, max, lit ? theme.accent : theme.line, theme.size.corner,
                theme.size.border * (lit ? 1.5F : 1.0F));
  draw->PushClipRect(at, {max.x - pad * 0.5F, max.y - pad * 0.5F}, true);
  draw_level(theme, lesson, at.x + pad, at.y + pad);
  draw_text(draw, theme.font.strong, theme.size.heading,
            {at.x + pad, at.y + pad + theme.size.label * 1.7F}, theme.text,
            shortened(theme.font.strong, theme.size.heading, lesson.title, width - 2 * pad));
  ImGui::SetCursorScreenPos(
      {at.x + pad, at.y + pad + theme.size.label * 1.7F + theme.size.heading * 1.6F});
  if (!lesson.heard.empty())
    markdown(theme, "\"" + lesson.heard + "\"",
             {.width = width - 2 * pad, .size = theme.size.small, .color = theme.muted});
  draw->PopClipRect();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  ImGui::PopID();
  return pressed;
}

void draw_cards(const PanelContext& context, float width) {
  const Theme& theme = context.theme;
  const auto& lessons = context.workspace.shelf();
  const int columns = std::max(1, static_cast<int>(width / theme.px(430)));
  const float gap = theme.size.gap;
  const float each = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float height = theme.px(148);
  const scenario::Lesson* chosen = nullptr;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const auto column = static_cast<float>(i % static_cast<std::size_t>(columns));
    const auto row = static_cast<float>(i / static_cast<std::size_t>(columns));
    ImGui::SetCursorScreenPos({start.x + column * (each + gap), start.y + row * (height + gap)});
    if (lesson_card(theme, lessons[i], each, height)) chosen = &lessons[i];
  }
  if (chosen) context.ask("open-lesson " + chosen->id);
}

}  // namespace

namespace {

void begin_room_below_bar(const Theme& theme) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x, viewport->WorkPos.y + theme.size.top_bar});
  ImGui::SetNextWindowSize({viewport->WorkSize.x, viewport->WorkSize.y - theme.size.top_bar});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::Begin("##shelf", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
}

}  // namespace

void draw_shelf(const PanelContext& context) {
  const Theme& theme = context.theme;
  begin_room_below_bar(theme);
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = std::min(room - 2 * theme.px(24), theme.px(1340));
  ImGui::SetCursorPos({(room - width) / 2, theme.px(44)});
  ImGui::BeginGroup();
  text(theme.font.strong, theme.size.figure, theme.text, "Lessons");
  text(theme.font.text, theme.size.text, theme.muted,
       "Each is one experiment: you predict, it runs, the difference is explained.");
  ImGui::Dummy({0, theme.px(10)});
  const auto& lessons = context.workspace.shelf();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(10), theme.px(8)));
  if (!context.workspace.shelf_error().empty()) {
    ImGui::BeginChild("##fault", {width, 0}, ImGuiChildFlags_AutoResizeY);
    notice_card(theme, Tone::kBad, "The lessons could not be read",
                context.workspace.shelf_error());
    ImGui::EndChild();
  } else if (lessons.empty()) {
    text(theme.font.text, theme.size.text, theme.muted, "There are no lessons here.");
  } else {
    draw_cards(context, width);
  }
  ImGui::Dummy({0, theme.px(16)});
  text(theme.font.strong, theme.size.heading, theme.text, "A recording of your own");
  text(theme.font.text, theme.size.text, theme.muted,
       "A trace of PyTorch's profiler (.json or .json.gz). Drop the file on this window, or:");
  ImGui::Dummy({0, theme.px(2)});
  if (button(theme, "Open a trace", ButtonKind::kPrimary)) context.ask("file.open_trace");
  ImGui::PopStyleVar();
  ImGui::EndGroup();
  ImGui::End();
}

}  // namespace trainscope::ui
