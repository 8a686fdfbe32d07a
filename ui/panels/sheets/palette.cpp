#include "ui/panels/sheets/palette.h"

#include <imcmd_fuzzy_search.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "base/letters.h"
#include "scenario/lesson_search.h"
#include "ui/panels/sheets/sheet.h"

namespace trainscope::ui {
namespace {

void action_row(const PanelContext& context, const ActionInfo& action, bool chosen, bool& run) {
  const Theme& theme = context.theme;
  const bool enabled = context.can(action.id);
  const float height = theme.px(42), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  run |= ImGui::InvisibleButton(action.id.c_str(), {width, height});
  ImGui::EndDisabled();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const bool lit = enabled && ImGui::IsItemHovered();
  if (chosen || lit)
    draw->AddRectFilled(at, {at.x + width, at.y + height},
                        chosen ? theme.accent_soft : mixed(theme.panel, theme.text, 0.05F),
                        theme.size.corner);
  if (chosen) ImGui::SetScrollHereY(0.5F);
  const float left = at.x + theme.px(12), right = at.x + width - theme.px(12);
  const float keys = text_size(theme.font.mono, theme.size.label, action.shortcut).x;
  const Color name = enabled ? theme.text : theme.faint;
  draw_text_middle(draw, theme.font.text, theme.size.small, left, at.y + height * 0.32F, name,
                   action.label);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, at.y + height * 0.72F,
                   theme.faint,
                   shortened(theme.font.text, theme.size.label, action.help,
                             right - left - keys - theme.px(12)));
  draw_text_middle(draw, theme.font.mono, theme.size.label, right, at.y + height / 2, theme.muted,
                   action.shortcut, 1);
}

void draw_list(const PanelContext& context, PalettePanel& panel) {
  const auto lessons = panel.words.empty()
                           ? std::vector<ActionInfo>()
                           : matching_lessons(context.workspace.shelf.lessons(), panel.words);
  auto list = matching_actions(panel.words, panel.more, lessons);
  // What can be done now comes first.
  std::stable_partition(list.begin(), list.end(),
                        [&](const ActionInfo* action) { return context.can(action->id); });
  const int count = static_cast<int>(list.size());
  panel.chosen += steps_by_arrows();
  panel.chosen = count == 0 ? 0 : (panel.chosen + count) % count;
  if (count == 0)
    text(context.theme.font.text, context.theme.size.small, context.theme.muted,
         "No action is called that, and no lesson is about it.");
  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter);
  for (int i = 0; i < count; ++i) {
    const ActionInfo& action = *list[static_cast<std::size_t>(i)];
    bool run = enter && i == panel.chosen && context.can(action.id);
    action_row(context, action, i == panel.chosen, run);
    if (!run) continue;
    context.ask(action.id);
    panel.open = false;
  }
}

constexpr int kCalledSo = 100000, kAboutIt = 50000;

// Letters that stand together in the label weigh most, its beginning more, and those that are
// nearly all of it; then scattered ones.
bool fits(const ActionInfo& action, const std::string& words, int& score) {
  const std::size_t at = lowered(action.label).find(lowered(words));
  if (at != std::string::npos) {
    const std::size_t beyond = std::min<std::size_t>(action.label.size() - words.size(), 99);
    score = kCalledSo - 100 * static_cast<int>(at) - static_cast<int>(beyond);
    return true;
  }
  const std::string all = action.label + " " + action.id;
  return ImCmd::FuzzySearch(words.c_str(), all.c_str(), score);
}

}  // namespace

std::vector<ActionInfo> matching_lessons(const std::vector<scenario::Lesson>& lessons,
                                         const std::string& words) {
  std::vector<ActionInfo> found;
  for (const scenario::Lesson* lesson : scenario::lessons_about(lessons, words))
    found.push_back({std::string(kOpenLesson) + lesson->id, lesson->title, "",
                     lesson->say("Lesson") + ": " + scenario::subject_line(*lesson)});
  return found;
}

std::vector<const ActionInfo*> matching_actions(const std::string& words,
                                                const std::vector<ActionInfo>& more,
                                                const std::vector<ActionInfo>& lessons) {
  std::vector<std::pair<int, const ActionInfo*>> scored;
  for (const auto* some : {&actions(), &more})
    for (const ActionInfo& action : *some) {
      int score = 0;
      if (words.empty() || fits(action, words, score)) scored.emplace_back(score, &action);
    }
  for (const ActionInfo& lesson : lessons) scored.emplace_back(kAboutIt, &lesson);
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const ActionInfo*> list;
  for (const auto& [score, action] : scored) list.push_back(action);
  return list;
}

void draw_palette(const PanelContext& context, PalettePanel& panel) {
  if (!begin_sheet(context.theme, "Find an action##sheet", panel.open, {560, 480})) return;
  if (panel.just_opened) ImGui::SetKeyboardFocusHere();
  panel.just_opened = false;
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##words", "What do you want to do, or learn about?", &panel.words))
    panel.chosen = 0;
  ImGui::Dummy({0, context.theme.px(2)});
  ImGui::BeginChild("##list");
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  draw_list(context, panel);
  ImGui::PopStyleVar();
  ImGui::EndChild();
  end_sheet();
}

}  // namespace trainscope::ui
