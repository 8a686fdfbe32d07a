#include "ui/panels/sheets/export_sheet.h"

#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "ui/app/files/export.h"

namespace trainscope::ui {
namespace {

std::vector<const ExportKind*> kinds_for(const Workspace& workspace) {
  std::vector<const ExportKind*> kinds;
  for (const ExportKind& kind : export_kinds())
    if (!kind.of_a_lesson || workspace.lesson()) kinds.push_back(&kind);
  return kinds;
}

// True when it was pressed.
bool kind_row(const Theme& theme, const ExportKind& kind, bool chosen) {
  const float height = theme.px(28), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(kind.ending.c_str(), {width, height});
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (chosen || ImGui::IsItemHovered())
    draw->AddRectFilled(at, {at.x + width, at.y + height},
                        chosen ? theme.accent_soft : mixed(theme.panel, theme.text, 0.05F),
                        theme.size.corner);
  const float middle = at.y + height / 2, left = at.x + theme.px(12);
  draw_text_middle(draw, theme.font.text, theme.size.small, left, middle, theme.text, kind.name);
  draw_text_middle(draw, theme.font.mono, theme.size.label, left + theme.px(140), middle,
                   theme.muted, kind.ending);
  const float help = left + theme.px(270);
  draw_text_middle(
      draw, theme.font.text, theme.size.label, help, middle, theme.faint,
      shortened(theme.font.text, theme.size.label, kind.help, at.x + width - theme.px(12) - help));
  return pressed;
}

// True when the path has another ending now.
bool choose_kind(const PanelContext& context, std::string& path) {
  const auto kinds = kinds_for(context.workspace);
  const ExportKind* now = export_kind_of(path);
  const auto at = std::find(kinds.begin(), kinds.end(), now) - kinds.begin();
  const auto count = static_cast<std::ptrdiff_t>(kinds.size());
  const int steps = steps_by_arrows();
  std::ptrdiff_t next = at;
  if (steps > 0) next = at == count ? 0 : (at + 1) % count;
  if (steps < 0) next = at == 0 ? count - 1 : at - 1;
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (kind_row(context.theme, *kinds[static_cast<std::size_t>(i)], i == at)) next = i;
  if (next == at) return false;
  path = with_ending(path, *kinds[static_cast<std::size_t>(next)]);
  return true;
}

}  // namespace

bool draw_export_sheet(const PanelContext& context, PathSheet& sheet) {
  const Theme& theme = context.theme;
  if (!begin_sheet(theme, "Export##sheet", sheet.open, {680, 0})) return false;
  if (sheet.just_opened) ImGui::SetKeyboardFocusHere();
  sheet.just_opened = false;
  text(theme.font.text, theme.size.small, theme.muted,
       "The file's ending says what is written; the arrow keys choose it.", true);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() +
                       theme.px(4));  // the field's ring when it has the keys
  ImGui::PushFont(theme.font.mono, theme.size.small);
  ImGui::SetNextItemWidth(-1);
  const bool enter = ImGui::InputText("##path", &sheet.path, ImGuiInputTextFlags_EnterReturnsTrue);
  const ImGuiID field = ImGui::GetItemID();
  ImGui::PopFont();
  ImGui::Dummy({0, theme.px(2)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), 0));
  if (choose_kind(context, sheet.path))
    // A field that is being typed in holds its own copy.
    if (ImGuiInputTextState* typed = ImGui::GetInputTextState(field))
      typed->ReloadUserBufAndMoveToEnd();
  ImGui::PopStyleVar();
  ImGui::Dummy({0, theme.px(4)});
  return end_path_sheet(theme, sheet, "Write", enter);
}

}  // namespace trainscope::ui
