#include "ui/panels/lesson/revisit.h"

#include <fmt/format.h>

#include <string>

#include "ui/app/lesson/revisit_card.h"
#include "ui/panels/lesson/markdown.h"
#include "ui/panels/lesson/option_card.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

void draw_heading(const Theme& theme, const scenario::Lesson& lesson, const RevisitCard& card) {
  text(theme.font.text, theme.size.small, theme.accent, lesson.say("Before you go"));
  const std::string from =
      fmt::format(fmt::runtime(lesson.say("A question from *{}*, once more.")), card.title);
  markdown(theme, from, {.size = theme.size.small, .color = theme.muted});
  if (!card.caveat.empty())
    markdown(theme, card.caveat, {.size = theme.size.small, .color = theme.warn});
  markdown(theme, card.setting, {.size = theme.size.small, .color = theme.muted});
}

void draw_options(const PanelContext& context, const scenario::Lesson& lesson,
                  const RevisitCard& card) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, context.theme.px(8)));
  for (const OptionCard& option : card.options)
    if (option_card(context.theme, lesson, option, card.open))
      context.workspace.revisit()->choose(option.number);
  ImGui::PopStyleVar();
}

void draw_open(const PanelContext& context, const scenario::Lesson& lesson) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const bool can = workspace.revisit()->can_answer();
  if (button(theme, lesson.say("Answer").c_str(), ButtonKind::kQuiet, 0, can))
    workspace.answer_again();
  ImGui::SameLine(0, theme.px(6));
  if (button(theme, lesson.say("Not now").c_str(), ButtonKind::kLink))
    workspace.revisit()->set_aside();
}

void draw_answered(const PanelContext& context, const scenario::Lesson& lesson,
                   const RevisitCard& card) {
  const Theme& theme = context.theme;
  notice_card(theme, card.right ? Tone::kGood : Tone::kBad,
              lesson.say(verdict_title(card.kind, card.right)), card.verdict);
  if (!card.explain.empty()) markdown(theme, card.explain);
  const std::string words = fmt::format(fmt::runtime(lesson.say("Take \"{}\" again")), card.title);
  const float room = ImGui::GetContentRegionAvail().x - theme.px(30);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() - theme.px(8));  // its words stand flush
  if (button(theme, shortened(theme.font.strong, theme.size.small, words, room).c_str(),
             ButtonKind::kLink))
    context.ask("open-lesson " + card.lesson);
}

}  // namespace

void draw_revisit(const PanelContext& context) {
  if (context.workspace.revisit_busy()) context.ask("animate");
  const auto card = revisit_card_of(context.workspace);
  if (!card) return;
  const scenario::Lesson& lesson = context.workspace.lesson()->lesson;
  separator(context.theme, context.theme.px(8));
  ImGui::PushID("revisit");
  draw_heading(context.theme, lesson, *card);
  markdown(context.theme, card->text);
  draw_options(context, lesson, *card);
  if (card->open)
    draw_open(context, lesson);
  else
    draw_answered(context, lesson, *card);
  separator(context.theme, context.theme.px(8));
  ImGui::PopID();
}

}  // namespace trainscope::ui
