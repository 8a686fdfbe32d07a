#include "ui/panels/sheets/open_sheet.h"

#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include "ui/panels/sheets/sheet.h"

namespace trainscope::ui {
namespace {

using Kind = BrowserRow::Kind;

constexpr float kRow = 26;

// What a row is, drawn before its name: a folder's outline, a sheet's, several, an arrow up.
void draw_symbol(ImDrawList* draw, const Theme& theme, ImVec2 middle, const BrowserRow& row) {
  const float half = theme.px(6), line = theme.px(1.4F);
  const ImU32 color = row.kind == Kind::kFolder ? theme.accent : theme.faint;
  const ImVec2 min{middle.x - half, middle.y - half * 0.8F},
      max{middle.x + half, middle.y + half * 0.8F};
  if (row.kind == Kind::kFolder) {
    draw->AddRect(min, max, color, theme.px(1.5F), line);
    draw->AddLine({min.x, min.y - line}, {middle.x - theme.px(1), min.y - line}, color,
                  line * 1.5F);
  } else if (row.kind == Kind::kUp) {
    draw->AddLine({middle.x, max.y}, {middle.x, min.y}, color, line);
    draw->AddLine({middle.x - half * 0.6F, middle.y}, {middle.x, min.y}, color, line);
    draw->AddLine({middle.x + half * 0.6F, middle.y}, {middle.x, min.y}, color, line);
  } else if (row.kind == Kind::kRanks) {
    for (const float by : {-0.45F, 0.0F, 0.45F})
      draw->AddRect({middle.x + (by - 0.5F) * half, middle.y + (by - 0.6F) * half},
                    {middle.x + (by + 0.5F) * half, middle.y + (by + 0.6F) * half}, theme.accent,
                    theme.px(1), line);
  } else {
    draw->AddRect({middle.x - half * 0.7F, middle.y - half},
                  {middle.x + half * 0.7F, middle.y + half}, color, theme.px(1.5F), line);
  }
}

// Columns from the right: when it was changed, how large it is, what it is.
void draw_columns(ImDrawList* draw, const Theme& theme, const Box& box, const BrowserRow& row) {
  const float middle = box.centre().y, right = box.max.x - theme.px(10);
  const float size = theme.size.label;
  const float date = text_size(theme.font.mono, size, "0000-00-00 00:00").x;
  const float bytes = text_size(theme.font.mono, size, "1000.0 MiB").x + theme.px(16);
  draw_text_middle(draw, theme.font.mono, size, right, middle, theme.faint, row.changed, 1);
  draw_text_middle(draw, theme.font.mono, size, right - date - theme.px(16), middle, theme.muted,
                   row.gone ? "gone" : row.size, 1);
  const float left = box.min.x + theme.px(34), room = right - date - bytes - theme.px(24) - left;
  const Color color = row.gone ? theme.faint : theme.text;
  const std::string name = shortened(theme.font.text, theme.size.small, row.name,
                                     row.detail.empty() ? room : room * 0.62F);
  draw_text_middle(draw, theme.font.text, theme.size.small, left, middle, color, name);
  const float used = text_size(theme.font.text, theme.size.small, name).x + theme.px(12);
  draw_text_middle(draw, theme.font.text, size, left + used, middle, theme.faint,
                   shortened(theme.font.text, size, row.detail, room - used));
}

bool draw_row(const Theme& theme, const BrowserRow& row, std::size_t number, bool chosen,
              bool scroll) {
  const float height = theme.px(kRow), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(static_cast<int>(number));
  const bool pressed = ImGui::InvisibleButton(row.name.c_str(), {width, height});
  ImGui::PopID();
  const Box box{at, {at.x + width, at.y + height}};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (chosen || ImGui::IsItemHovered())
    draw->AddRectFilled(box.min, box.max,
                        chosen ? theme.accent_soft : mixed(theme.panel, theme.text, 0.05F),
                        theme.size.corner);
  if (chosen && scroll) ImGui::SetScrollHereY(0.5F);
  draw_symbol(draw, theme, {at.x + theme.px(18), box.centre().y}, row);
  draw_columns(draw, theme, box, row);
  return pressed;
}

void draw_heading(const Theme& theme, std::string_view words) {
  ImGui::Dummy({0, theme.px(3)});
  text(theme.font.text, theme.size.label, theme.faint, words);
}

std::filesystem::path draw_rows(const PanelContext& context, OpenSheet& sheet, bool moved) {
  FileBrowser& browser = sheet.browser;
  std::filesystem::path chosen;
  Kind before = Kind::kRecent;
  if (browser.rows().empty())
    text(context.theme.font.text, context.theme.size.small, context.theme.muted,
         "Nothing here that Trainscope can open is called that.");
  for (std::size_t i = 0; i < browser.rows().size(); ++i) {
    const BrowserRow& row = browser.rows()[i];
    if (i == 0 && row.kind == Kind::kRecent) draw_heading(context.theme, "Opened lately");
    if ((i == 0 || before == Kind::kRecent) && row.kind != Kind::kRecent)
      draw_heading(context.theme, browser.folder().string());
    before = row.kind;
    if (!draw_row(context.theme, row, i, i == browser.chosen(), moved)) continue;
    browser.choose(i);
    browser.narrow(browser.words());
    browser.choose(i);
    chosen = browser.confirm();
    break;  // the rows may be others now
  }
  return chosen;
}

// True when another row was chosen.
bool take_keys(OpenSheet& sheet) {
  FileBrowser& browser = sheet.browser;
  const int steps = steps_by_arrows();
  if (steps != 0) browser.move(steps);
  if (sheet.words.empty() && ImGui::IsKeyPressed(ImGuiKey_Backspace, false)) browser.up();
  const bool on_recent = browser.chosen() < browser.rows().size() &&
                         browser.rows()[browser.chosen()].kind == Kind::kRecent;
  if (sheet.words.empty() && on_recent && ImGui::IsKeyPressed(ImGuiKey_Delete, false)) {
    sheet.to_forget = browser.rows()[browser.chosen()].path;
    browser.drop(sheet.to_forget);
  }
  return steps != 0;
}

}  // namespace

std::filesystem::path draw_open_sheet(const PanelContext& context, OpenSheet& sheet) {
  const Theme& theme = context.theme;
  const char* title = sheet.beside ? "Open beside A##sheet" : "Open##sheet";
  if (!begin_sheet(theme, title, sheet.open, {760, 540})) return {};
  FileBrowser& browser = sheet.browser;
  if (sheet.just_opened) ImGui::SetKeyboardFocusHere();
  const bool moved = take_keys(sheet) || sheet.just_opened;
  sheet.just_opened = false;
  ImGui::SetNextItemWidth(-1);
  const bool typed = ImGui::InputTextWithHint(
      "##words", "Type a few letters of a name, or a path: /data/trace.json.gz", &sheet.words);
  const ImGuiID field = ImGui::GetItemID();
  if (typed) browser.narrow(sheet.words);
  if (!browser.error().empty())
    text(theme.font.text, theme.size.small, theme.bad, browser.error(), true);
  const float foot = theme.px(22);
  std::filesystem::path chosen;
  ImGui::BeginChild("##files", {0, -foot});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, theme.px(1)));
  chosen = draw_rows(context, sheet, moved || typed);
  ImGui::PopStyleVar();
  ImGui::EndChild();
  const bool enter = ImGui::IsKeyPressed(ImGuiKey_Enter, false) ||
                     ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  if (enter) chosen = browser.confirm();
  // What was confirmed took the letters' focus with it.
  const bool pressed = ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  if (enter || pressed) sheet.just_opened = true;
  text(theme.font.text, theme.size.label, theme.faint,
       sheet.beside
           ? "Runs (.tsrun), traces (.json, .json.gz; a folder of a job's ranks), configs (.toml)"
           : "Lessons, machines and configs (.toml), runs (.tsrun), traces (.json, .json.gz; a "
             "folder of a job's ranks)");
  // Another folder begins with no letters; a field that is being typed in holds its own copy.
  if (sheet.words != browser.words()) {
    sheet.words = browser.words();
    if (ImGuiInputTextState* state = ImGui::GetInputTextState(field))
      state->ReloadUserBufAndMoveToEnd();
  }
  end_sheet();
  return chosen;
}

}  // namespace trainscope::ui
