#include "ui/panels/lesson/lesson_question.h"

#include <misc/cpp/imgui_stdlib.h>

#include <cstdlib>
#include <optional>

#include "ui/panels/lesson/lesson_news.h"
#include "ui/panels/lesson/option_card.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using scenario::QuestionKind;

// A room votes on what it sees: options that end below the card take more width, then less room
// between them.
void widen_for_choice(const PanelContext& context, LessonPanel& panel) {
  const float bottom = ImGui::GetCursorPosY();
  if (panel.choice_frames > 0) {
    --panel.choice_frames;
    return context.ask("animate");
  }
  if (panel.tight || bottom <= panel.room) return;
  constexpr int kUntilDocked = 3;
  if (panel.choice_width == CardWidth::kWidest)
    panel.tight = true;
  else
    panel.choice_width = static_cast<CardWidth>(static_cast<int>(panel.choice_width) + 1);
  panel.choice_frames = kUntilDocked;
  context.ask("animate");
}

// Returns where the option stands that was taken; a room follows what is counted.
float draw_choice(const PanelContext& context, LessonPanel& panel, const QuestionCard& card) {
  LessonModel& model = *context.workspace.lesson();
  scenario::Progress& progress = model.progress;
  const Present& present = context.workspace.present;
  const auto hands_for = [&](const OptionCard& option) {
    if (!present.on) return Hands{};
    return Hands{present.hands_for(progress.step(), static_cast<std::size_t>(option.number)),
                 present.most_hands(progress.step())};
  };
  float taken = ImGui::GetCursorPosY();
  panel.hands.resize(card.options.size(), -1);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, context.theme.px(panel.tight ? 4 : 8)));
  for (const OptionCard& option : card.options) {
    const float top = ImGui::GetCursorPosY();
    const Hands hands = hands_for(option);
    if (option_card(context.theme, model.lesson, option, card.open, hands, panel.tight))
      progress.choose(option.number);
    if (option.chosen) taken = top;
    int& before = panel.hands[static_cast<std::size_t>(option.number)];
    if (before >= 0 && hands.count > before) follow(panel, top);
    before = hands.count;
  }
  ImGui::PopStyleVar();
  if (present.on && card.open) widen_for_choice(context, panel);
  return taken;
}

void draw_number(const PanelContext& context, LessonPanel& panel, const QuestionCard& card) {
  const Theme& theme = context.theme;
  scenario::Progress& progress = context.workspace.lesson()->progress;
  const std::string hint = context.workspace.lesson()->lesson.say("a number");
  ImGui::PushFont(theme.font.mono, theme.size.text);
  ImGui::SetNextItemWidth(theme.px(140));
  ImGui::BeginDisabled(!card.open);
  if (ImGui::InputTextWithHint("##number", hint.c_str(), &panel.number,
                               ImGuiInputTextFlags_CharsScientific)) {
    char* rest = nullptr;
    const double number = std::strtod(panel.number.c_str(), &rest);
    if (rest != panel.number.c_str()) progress.enter(number * card.entry.factor);
  }
  // In front of a room no hand goes to the mouse: Enter says that this is the room's number.
  const bool entered = ImGui::IsKeyPressed(ImGuiKey_Enter, false) ||
                       ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  if (context.workspace.present.on && ImGui::IsItemDeactivated() && entered)
    context.ask("lesson.predict");
  ImGui::EndDisabled();
  ImGui::PopFont();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  text(theme.font.text, theme.size.text, theme.muted, card.entry.unit);
}

void draw_words_field(const PanelContext& context, LessonPanel& panel, const QuestionCard& card) {
  ImGui::BeginDisabled(!card.open);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextMultiline("##words", &panel.words, {-1, context.theme.px(84)},
                                ImGuiInputTextFlags_WordWrap))
    context.workspace.lesson()->progress.write(panel.words);
  ImGui::EndDisabled();
}

// What a room has not guessed it is told all the same.
void draw_verdict(const Theme& theme, const LessonModel& model, const QuestionCard& card,
                  bool room) {
  const scenario::Lesson& lesson = model.lesson;
  if (card.skipped && room && !card.verdict.empty()) {
    notice_card(theme, Tone::kPlain, lesson.say("To compare with"), card.verdict);
    return;
  }
  if (card.skipped) {
    notice_card(theme, Tone::kPlain, lesson.say("Skipped"), card.right ? card.verdict : "");
    return;
  }
  if (!card.right) {
    if (!card.verdict.empty())
      notice_card(theme, Tone::kPlain,
                  lesson.say(card.decided ? "To compare with" : "Not decided here"), card.verdict);
    return;
  }
  notice_card(theme, *card.right ? Tone::kGood : Tone::kBad,
              lesson.say(verdict_title(name_of(model.step().kind), *card.right)), card.verdict);
}

}  // namespace

void draw_question(const PanelContext& context, LessonPanel& panel, const LessonCard& card) {
  const QuestionCard& question = *card.question;
  const LessonModel& model = *context.workspace.lesson();
  const bool room = context.workspace.present.on;
  const float top = ImGui::GetCursorPosY();
  std::optional<float> taken;
  switch (question.kind) {
    case QuestionKind::kChoice:
      taken = draw_choice(context, panel, question);
      break;
    case QuestionKind::kNumber:
      draw_number(context, panel, question);
      break;
    case QuestionKind::kText:
      draw_words_field(context, panel, question);
      break;
    case QuestionKind::kFindSpan:
      if (question.open)
        notice_card(context.theme, Tone::kPlain,
                    model.lesson.say("Click the span in the timelines"), model.remark);
      else if (!question.skipped || (room && model.shown))
        notice_card(context.theme, Tone::kGood, model.lesson.say("That is the one."), "");
      note_news(panel, News::kRemark, model.remark, top);
      return;
  }
  if (question.open) return;
  // A room sees what it has taken, too, which nobody has clicked.
  const float news = room && taken ? *taken : ImGui::GetCursorPosY();
  draw_verdict(context.theme, model, question, room);
  note_news(panel, News::kVerdict,
            question.verdict + (question.right ? "." : "") + (room ? "taken" : ""), news);
}

}  // namespace trainscope::ui
