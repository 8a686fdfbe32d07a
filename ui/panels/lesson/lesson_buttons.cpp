#include "ui/panels/lesson/lesson_buttons.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "ui/app/lesson/prerequisite.h"

namespace trainscope::ui {
namespace {

using scenario::QuestionKind;
using scenario::StepKind;

struct Choice {
  const char* label;
  const char* action;
};

// What one does next on this step; it is drawn as the primary button.
Choice main_choice(const LessonModel& model) {
  const auto& step = model.step();
  const auto& progress = model.progress;
  const bool answered = progress.answer(progress.step()).committed;
  if (step.kind == StepKind::kRun && !progress.revealed()) return {"Run both", "lesson.run"};
  if (step.question && !answered) {
    if (step.question->kind == QuestionKind::kFindSpan) return {"Next", "lesson.next"};
    return {step.kind == StepKind::kPredict ? "Predict" : "Answer", "lesson.predict"};
  }
  if (progress.step() + 1 == progress.steps()) return {"All lessons", "lesson.shelf"};
  return {"Next", "lesson.next"};
}

// Beside the last one where there is room, else on a line of its own.
bool flowing_button(const Theme& theme, const std::string& words, ButtonKind kind, bool enabled,
                    float right, bool first) {
  const char* label = words.c_str();
  const bool link = kind == ButtonKind::kLink;
  const float width =
      text_size(link ? theme.font.text : theme.font.strong, theme.size.small, label).x +
      theme.px(link ? 16 : 30);
  if (!first && ImGui::GetItemRectMax().x + theme.px(6) + width <= right)
    ImGui::SameLine(0, theme.px(6));
  else if (!first && link)  // words stand flush where a line begins, and lines of them close
    ImGui::SetCursorPos(
        {ImGui::GetCursorPosX() - theme.px(8), ImGui::GetCursorPosY() - theme.px(6)});
  return button(theme, label, kind,
                kind == ButtonKind::kPrimary ? std::max(width, theme.px(104)) : 0, enabled);
}

// To a learner who had to be shown: the lesson that comes before this one.
void offer_prerequisite(const PanelContext& context, float right) {
  Workspace& workspace = context.workspace;
  const LessonModel& model = *workspace.lesson();
  if (!model.shown || workspace.present.on) return;
  const auto [before, again] = prerequisite_of(model.lesson, workspace.shelf.lessons(),
                                               workspace.record.learner().records());
  if (!before) return;
  const Theme& theme = context.theme;
  const std::string words =
      fmt::format(fmt::runtime(model.lesson.say(again ? "Take \"{}\" again" : "Take \"{}\" first")),
                  before->title);
  const float room = ImGui::GetContentRegionAvail().x - theme.px(30);
  const std::string fits = shortened(theme.font.strong, theme.size.small, words, room);
  if (flowing_button(theme, fits, ButtonKind::kLink, true, right, false))
    context.ask("open-lesson " + before->id);
}

// To the last item; to its panel alone where it cannot be pressed. A ring shows that only where the
// keys are in use, and nothing scrolls.
void give_keys(bool to_item) {
  ImGuiContext& imgui = *ImGui::GetCurrentContext();
  const bool ring = imgui.NavCursorVisible;
  if (to_item)
    ImGui::SetFocusID(ImGui::GetItemID(), ImGui::GetCurrentWindow());
  else
    ImGui::FocusWindow(ImGui::GetCurrentWindow()->RootWindow);
  ImGui::SetNavCursorVisible(ring && to_item);
}

}  // namespace

bool is_for_a_room(const Workspace& workspace) {
  return workspace.present.on && !workspace.forked();
}

bool has_lesson_buttons(const Workspace& workspace) {
  return !is_for_a_room(workspace) ||
         std::string_view(main_choice(*workspace.lesson()).action) == "lesson.shelf";
}

void draw_lesson_buttons(const PanelContext& context, bool with_keys) {
  const Theme& theme = context.theme;
  const LessonModel& model = *context.workspace.lesson();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const Choice primary = main_choice(model);
  const bool running = model.run_asked;
  const bool enabled = !running && context.can(primary.action);
  if (flowing_button(theme, model.lesson.say(running ? "Running" : primary.label),
                     ButtonKind::kPrimary, enabled, right, true))
    context.ask(primary.action);
  if (with_keys) give_keys(enabled);
  if (is_for_a_room(context.workspace)) return;
  const auto offer = [&](const char* label, const char* action) {
    if (std::string_view(primary.action) == action || !context.can(action)) return;
    if (flowing_button(theme, model.lesson.say(label), ButtonKind::kLink, true, right, false))
      context.ask(action);
  };
  offer("Hint", "lesson.hint");
  offer("Show me", "lesson.show_me");
  offer("Skip", "lesson.skip");
  offer("Back", "lesson.back");
  offer("Explore from here", "lesson.explore");
  offer_prerequisite(context, right);
}

}  // namespace trainscope::ui
