#include "ui/panels/lesson/lesson_foot.h"

#include <fmt/format.h>

#include <algorithm>

#include "ui/app/actions/action_list.h"
#include "ui/app/lesson/room_view.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {

std::string foot_words(const Workspace& workspace, const LessonCard& card) {
  const scenario::Lesson& lesson = workspace.lesson()->lesson;
  if (workspace.present.on && !workspace.forked()) {
    std::string words = find_action("layout.code")->shortcut + ": " + lesson.say("code");
    const Reveal next = next_reveal(workspace);
    if (next == Reveal::kHands)
      words = fmt::format(fmt::runtime(lesson.say("1 to {}: hands")),
                          std::min<std::size_t>(card.question->options.size(), Present::kOptions)) +
              "   " + words;
    else if (next != Reveal::kNothing)
      words = lesson.say("Space: next") + "   " + words;
    return words;
  }
  if (const Revisit* revisit = workspace.revisit(); revisit && !revisit->answered())
    return fmt::format(fmt::runtime(lesson.say("{} to revisit")), 1);
  return fmt::format(fmt::runtime(lesson.say("about {} min left")), card.minutes_left);
}

void draw_lesson_foot(const Theme& theme, const LessonModel& model, const std::string& hint) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(34);
  const float middle = at.y + height / 2, radius = theme.px(4.5F);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float words = text_size(theme.font.text, theme.size.label, hint).x + theme.px(12);
  const float apart = std::min(theme.px(20), (width - std::max(words, theme.px(120))) /
                                                 static_cast<float>(model.progress.steps()));
  float x = at.x + radius;
  const std::size_t dots = apart < 2.2F * radius ? 0 : model.progress.steps();
  for (std::size_t i = 0; i < dots; ++i, x += apart) {
    const bool now = i == model.progress.step(), done = i < model.progress.step();
    const bool skipped = model.progress.answer(i).skipped;
    const Color color = now || done ? theme.accent : mixed(theme.panel, theme.text, 0.18F);
    if (skipped)
      draw->AddCircle({x, middle}, radius - 0.5F, color, 0, theme.px(1.5F));
    else
      draw->AddCircleFilled({x, middle}, radius, color);
    if (now)
      draw->AddCircle({x, middle}, radius + theme.px(3), faded(theme.accent, 0.5F), 0,
                      theme.px(1.2F));
  }
  const std::string left = shortened(theme.font.text, theme.size.label, hint, at.x + width - x);
  draw_text_middle(draw, theme.font.text, theme.size.label, at.x + width, middle, theme.faint, left,
                   1);
  ImGui::Dummy({width, height});
}

}  // namespace trainscope::ui
