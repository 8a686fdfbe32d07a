#include "ui/panels/sheets/sheet.h"

#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "ui/app/actions/action_list.h"
#include "ui/app/window/close_mark.h"
#include "ui/app/window/layout.h"
#include "ui/panels/lesson/markdown.h"

namespace trainscope::ui {

namespace {

// At the top right; what is drawn next goes on where it would have. Enter is for the sheet's fields
// and buttons, until the mark is walked to.
void draw_close_mark(const Theme& theme, bool& open) {
  const ImVec2 next = ImGui::GetCursorScreenPos(), at = ImGui::GetWindowPos();
  const float inset = theme.px(25);
  ImGui::PushItemFlag(ImGuiItemFlags_NoNavDefaultFocus, true);
  close_mark(theme, {at.x + ImGui::GetWindowWidth() - inset, at.y + theme.px(23)}, open);
  ImGui::PopItemFlag();
  ImGui::SetCursorScreenPos(next);
}

// Where a sheet about a panel may begin; 0: there is too little room right of it.
float right_of(const Theme& theme, const char* panel) {
  const ImGuiWindow* window = ImGui::FindWindowByName(panel);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  if (!window || !window->WasActive || window->Hidden) return 0;
  const float left = window->Pos.x + window->Size.x + theme.size.gap;
  return viewport->WorkPos.x + viewport->WorkSize.x - left > theme.px(380) ? left : 0;
}

}  // namespace

bool begin_sheet(const Theme& theme, const char* name, bool& open, ImVec2 size, const char* about) {
  if (!open) return false;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 room = viewport->WorkSize;
  const float left = about ? right_of(theme, about) : 0;
  const float across = left > 0 ? viewport->WorkPos.x + room.x - left - theme.size.gap : 0;
  const ImVec2 extent{std::min(theme.px(size.x), across > 0 ? across : room.x * 0.94F),
                      size.y > 0 ? std::min(theme.px(size.y), room.y * 0.86F) : 0};
  if (!ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
  ImGui::SetNextWindowSize(extent);
  const float top = viewport->WorkPos.y + room.y * 0.08F;
  if (left > 0)
    ImGui::SetNextWindowPos({left, std::max(top, viewport->WorkPos.y + theme.size.top_bar)});
  else
    ImGui::SetNextWindowPos({viewport->WorkPos.x + room.x / 2, top}, ImGuiCond_Always, {0.5F, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(16), theme.px(14)));
  ImGui::PushStyleColor(ImGuiCol_PopupBg, static_cast<ImU32>(theme.panel));
  const bool drawn =
      ImGui::BeginPopupModal(name, nullptr,
                             ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                 ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!drawn) {
    open = false;
    return false;
  }
  const std::string_view words(name);
  text(theme.font.strong, theme.size.text, theme.text, words.substr(0, words.find("##")));
  draw_close_mark(theme, open);
  // Also while a field is being typed in, a click upon the sheet is none beside it.
  const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                      !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows |
                                              ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
                      !ImGui::IsWindowAppearing();
  if (ImGui::IsKeyPressed(ImGuiKey_Escape) || beside) open = false;
  if (!open) ImGui::CloseCurrentPopup();
  return true;
}

void end_sheet() {
  ImGui::EndPopup();
}

int steps_by_arrows() {
  int steps = 0;
  for (const auto& [key, step] : {std::pair{ImGuiKey_DownArrow, 1}, {ImGuiKey_UpArrow, -1}}) {
    ImGui::SetKeyOwner(key, ImGui::GetID("arrows"));
    if (ImGui::IsKeyPressed(key)) steps += step;
  }
  return steps;
}

void draw_help(const PanelContext& context, bool& open) {
  const Theme& theme = context.theme;
  if (!begin_sheet(theme, "Keys and actions##sheet", open, {760, 680})) return;
  ImGui::BeginChild("##list");
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(8), theme.px(5)));
  if (ImGui::BeginTable("##keys", 3, int{ImGuiTableFlags_RowBg} | int{ImGuiTableFlags_PadOuterX})) {
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, theme.px(130));
    ImGui::TableSetupColumn("action", ImGuiTableColumnFlags_WidthFixed, theme.px(190));
    ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch);
    for (const ActionInfo& action : actions()) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      // In the middle of the line that the larger words beside it make.
      ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (theme.size.small - theme.size.label) / 2);
      text(theme.font.mono, theme.size.label, theme.accent, action.shortcut);
      ImGui::TableNextColumn();
      text(theme.font.text, theme.size.small, theme.text, action.label);
      ImGui::TableNextColumn();
      text(theme.font.text, theme.size.small, theme.muted, action.help, true);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
  end_sheet();
}

void draw_terms(const PanelContext& context, bool& open) {
  const Theme& theme = context.theme;
  const LessonModel* lesson = context.workspace.lesson();
  if (!lesson) open = false;
  const std::string title = lesson ? lesson->lesson.say("Terms of the lesson") + "##sheet" : "";
  if (!begin_sheet(theme, title.c_str(), open, {620, 0}, kLessonPanel)) return;
  for (const scenario::Term& term : lesson->lesson.glossary) {
    ImGui::Dummy({0, theme.px(2)});
    markdown(theme, term.name, {.size = theme.size.small, .strong = true});
    markdown(theme, term.text, {.size = theme.size.small, .color = theme.muted});
  }
  end_sheet();
}

void draw_log(const PanelContext& context, const MessageLog& log, bool& open) {
  const Theme& theme = context.theme;
  if (!begin_sheet(theme, "What was said##sheet", open, {720, 0})) return;
  if (log.messages().empty())
    text(theme.font.text, theme.size.small, theme.muted, "Nothing yet.");
  else if (button(theme, "Copy all", ButtonKind::kQuiet))
    ImGui::SetClipboardText(log.text().c_str());
  const float most = ImGui::GetMainViewport()->WorkSize.y * 0.6F;
  ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, most});
  ImGui::BeginChild("##messages", {0, 0}, ImGuiChildFlags_AutoResizeY);
  for (auto message = log.messages().rbegin(); message != log.messages().rend(); ++message) {
    ImGui::Dummy({0, theme.px(2)});
    text(theme.font.mono, theme.size.label, theme.faint, message->time);
    text(theme.font.text, theme.size.small, theme.text, message->text, true);
  }
  ImGui::EndChild();
  end_sheet();
}

void draw_notes(const PanelContext& context, bool& open) {
  const Theme& theme = context.theme;
  const LessonModel* lesson = context.workspace.lesson();
  if (!lesson) open = false;
  const std::string title = lesson ? lesson->lesson.say("The lecturer's notes") + "##sheet" : "";
  if (!begin_sheet(theme, title.c_str(), open, {620, 0}, kLessonPanel)) return;
  markdown(theme, lesson->lesson.notes);
  end_sheet();
}

bool end_path_sheet(const Theme& theme, PathSheet& sheet, const char* confirm, bool enter) {
  const bool pressed = button(theme, confirm, ButtonKind::kPrimary, 0, !sheet.path.empty());
  ImGui::SameLine();
  if (button(theme, "Cancel", ButtonKind::kLink)) sheet.open = false;
  const bool done = (enter || pressed) && !sheet.path.empty();
  if (done) sheet.open = false;
  if (!sheet.open) ImGui::CloseCurrentPopup();
  end_sheet();
  return done;
}

bool draw_path_sheet(const PanelContext& context, PathSheet& sheet, const char* name,
                     const char* hint, const char* confirm) {
  const Theme& theme = context.theme;
  if (!begin_sheet(theme, name, sheet.open, {560, 0})) return false;
  if (sheet.just_opened) ImGui::SetKeyboardFocusHere();
  sheet.just_opened = false;
  text(theme.font.text, theme.size.small, theme.muted, hint, true);
  ImGui::PushFont(theme.font.mono, theme.size.small);
  ImGui::SetNextItemWidth(-1);
  const bool enter = ImGui::InputText("##path", &sheet.path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  ImGui::Dummy({0, theme.px(2)});
  return end_path_sheet(theme, sheet, confirm, enter);
}

}  // namespace trainscope::ui
