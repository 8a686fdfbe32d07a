#include "ui/panels/lesson/lesson.h"

#include <fmt/format.h>

#include "ui/app/lesson/lesson_card.h"
#include "ui/app/lesson/room_view.h"
#include "ui/panels/lesson/lesson_buttons.h"
#include "ui/panels/lesson/lesson_foot.h"
#include "ui/panels/lesson/lesson_news.h"
#include "ui/panels/lesson/lesson_question.h"
#include "ui/panels/lesson/markdown.h"
#include "ui/panels/lesson/option_card.h"
#include "ui/panels/lesson/revisit.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

// Right after the run: what was asked, what was guessed, what happened, and why.
void draw_look_back(const Theme& theme, const LessonModel& model, const LookBack& recap) {
  const MarkdownStyle small{.size = theme.size.small, .color = theme.muted};
  markdown(theme, recap.text, small);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, theme.px(8)));
  for (const OptionCard& option : recap.question.options)
    if (option.chosen || option.right) option_card(theme, model.lesson, option, false);
  ImGui::PopStyleVar();
  if (!recap.question.verdict.empty()) markdown(theme, recap.question.verdict, small);
  if (!recap.explain.empty()) markdown(theme, recap.explain, small);
}

void draw_recaps(const Theme& theme, const LessonModel& model, const LessonCard& card) {
  for (std::size_t i = 0; i < card.recaps.size(); ++i) {
    if (i > 0) separator(theme, theme.px(4));
    ImGui::PushID(static_cast<int>(i));
    ImGui::PushID("recap");
    draw_look_back(theme, model, card.recaps[i]);
    ImGui::PopID();
    ImGui::PopID();
  }
}

void draw_heard(const Theme& theme, const LessonModel& model) {
  if (model.lesson.heard.empty()) return;
  separator(theme, theme.px(8));
  text(theme.font.text, theme.size.label, theme.faint, model.lesson.say("What you may have heard"));
  markdown(theme, "\"" + model.lesson.heard + "\"",
           {.size = theme.size.small, .color = theme.text});
}

// Words on a card cannot be marked: the command is copied by its button.
void draw_published(const Theme& theme, const scenario::Lesson& lesson) {
  constexpr const char* kCommand = "trainscope validate --published";
  const std::string words = lesson.say("How near it comes to what others measured:");
  markdown(theme, words + " `" + kCommand + "`", {.size = theme.size.small, .color = theme.muted});
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() - theme.px(8));  // its words stand flush
  if (button(theme, lesson.say("Copy the command").c_str(), ButtonKind::kLink))
    ImGui::SetClipboardText(kCommand);
}

void draw_limits(const PanelContext& context, const LessonModel& model) {
  const Theme& theme = context.theme;
  const bool last = model.progress.step() + 1 == model.progress.steps();
  if (!last || !model.progress.can_go_on() || model.lesson.limits.empty()) return;
  separator(theme, theme.px(8));
  text(theme.font.text, theme.size.label, theme.faint,
       model.lesson.say("What the model leaves out"));
  markdown(theme, model.lesson.limits, {.size = theme.size.small, .color = theme.muted});
  if (!context.workspace.present.on) draw_published(theme, model.lesson);
}

void draw_fork(const PanelContext& context) {
  const Theme& theme = context.theme;
  const scenario::Lesson& lesson = context.workspace.lesson()->lesson;
  text(theme.font.text, theme.size.small, theme.accent, lesson.say("Exploring"));
  markdown(theme, lesson.say("All knobs are free: change any of them on either side and both "
                             "timelines follow. The lesson waits exactly as you left it."));
  ImGui::Dummy({0, theme.px(4)});
  if (button(theme, lesson.say("Back to lesson").c_str(), ButtonKind::kPrimary))
    context.ask("lesson.return");
  ImGui::SameLine(0, theme.px(6));
  if (button(theme, lesson.say("All parameters").c_str(), ButtonKind::kLink))
    context.ask("knobs.all");
}

// Below the text where they can be seen there; else they stand above the foot.
void place_buttons(const PanelContext& context, LessonPanel& panel) {
  const float before = ImGui::GetCursorPosY();
  if (!has_lesson_buttons(context.workspace)) {
    panel.buttons = 0;
    panel.pin_next = false;
    return;
  }
  if (!panel.pinned) {
    ImGui::Dummy({0, context.theme.px(2)});
    draw_lesson_buttons(context, panel.gives_keys);
    panel.buttons = ImGui::GetCursorPosY() - before;
  }
  // Above the foot they may take a line less, for no scrollbar stands beside them there: they come
  // back only where there is room for one more.
  const float one_more = panel.pinned ? context.theme.px(64) : 0;
  panel.pin_next = before + panel.buttons + one_more > panel.room &&
                   !is_for_a_room(context.workspace);  // there it is the way out, and no more
}

void draw_ending(const PanelContext& context, const LessonEnding& ending) {
  notice_card(context.theme, Tone::kBad, ending.title, ending.text);
  if (!ending.action.empty() && context.can(ending.action) &&
      button(context.theme, ending.label.c_str(), ButtonKind::kLink))
    context.ask(ending.action);
}

void draw_card(const PanelContext& context, LessonPanel& panel, const LessonCard& card) {
  const Theme& theme = context.theme;
  const LessonModel& model = *context.workspace.lesson();
  text(theme.font.text, theme.size.small, theme.accent, card.kind);
  if (!card.caveat.empty())
    markdown(theme, card.caveat, {.size = theme.size.small, .color = theme.warn});
  if (card.ending) draw_ending(context, *card.ending);
  // Where there is little room the step's own text comes first.
  const bool at_run = model.step().kind == scenario::StepKind::kRun;
  const bool recap_first = panel.room > theme.px(560) && (at_run || card.recaps.size() < 2);
  if (recap_first && !card.recaps.empty()) {
    draw_recaps(theme, model, card);
    separator(theme, theme.px(4));
  }
  markdown(theme, card.text, {.terms = &model.lesson.glossary});
  const float notice_top = ImGui::GetCursorPosY();
  const std::string notice = notice_on_card(context.workspace) ? context.workspace.notice : "";
  if (!notice.empty()) markdown(theme, notice, {.size = theme.size.small, .color = theme.accent});
  if (card.question) {
    ImGui::Dummy({0, theme.px(2)});
    draw_question(context, panel, card);
  }
  note_news(panel, News::kNotice, notice, notice_top);  // with the options that it is about
  const float goal_top = ImGui::GetCursorPosY();
  if (!card.goal.empty())
    notice_card(theme, card.goal_reached ? Tone::kGood : Tone::kPlain, card.goal, card.goal_words);
  if (!card.explain.empty()) markdown(theme, card.explain, {.terms = &model.lesson.glossary});
  note_news(panel, News::kGoal, card.goal_reached ? card.goal : "", goal_top);
  const float hint_top = ImGui::GetCursorPosY();
  if (model.hint_shown) notice_card(theme, Tone::kPlain, model.lesson.say("Hint"), card.hint);
  note_news(panel, News::kHint, model.hint_shown ? "hint" : "", hint_top);
  if (!model.fault.empty())
    notice_card(theme, Tone::kBad, "The file as it was saved last is not shown", model.fault);
  if (!card.error.empty()) notice_card(theme, Tone::kBad, "This card has a fault", card.error);
  if (!card.left_open.empty())
    notice_card(theme, Tone::kPlain, "Figures are left open", card.left_open);
  draw_revisit(context);
  place_buttons(context, panel);
  if (!recap_first && !card.recaps.empty()) {
    separator(theme, theme.px(8));
    draw_recaps(theme, model, card);
  }
  draw_limits(context, model);
  draw_heard(theme, model);
  bring_news_into_sight(context, panel);
}

void draw_pinned_buttons(const PanelContext& context, LessonPanel& panel, ImVec2 room, float foot) {
  const Theme& theme = context.theme;
  ImGui::SetCursorPos({theme.size.pad, room.y - foot});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine({at.x - theme.size.pad, at.y},
                                      {at.x - theme.size.pad + room.x, at.y}, theme.line,
                                      theme.size.border);
  ImGui::SetCursorPos({theme.size.pad, room.y - foot + theme.px(8)});
  ImGui::BeginChild("##buttons", {room.x - 2 * theme.size.pad, panel.buttons},
                    ImGuiChildFlags_NavFlattened, ImGuiWindowFlags_NoScrollbar);
  draw_lesson_buttons(context, panel.gives_keys);
  panel.buttons = ImGui::GetCursorPosY() + theme.px(4);
  ImGui::EndChild();
}

// Of questions in a row the card stays as wide.
void forget_other_steps(const Workspace& workspace, LessonPanel& panel) {
  const LessonModel& model = *workspace.lesson();
  if (panel.step == model.progress.step()) return;
  const bool pinned = panel.pinned;
  const float buttons = panel.buttons;
  const CardWidth width = open_choice(workspace) ? panel.choice_width : CardWidth::kUsual;
  const int drawn_in = panel.drawn_in;
  panel = {};
  panel.drawn_in = drawn_in;
  panel.choice_width = width;
  panel.step = model.progress.step();
  panel.pinned = pinned;
  panel.buttons = buttons;
}

// A lesson that is opened has the keys; of one that has them, the next step. A sheet keeps them as
// long as it is open.
void take_keys(const PanelContext& context, LessonPanel& panel, bool other_step) {
  constexpr int kUntilPlaced = 4;
  const bool opened = panel.drawn_in < ImGui::GetFrameCount() - 1;
  panel.drawn_in = ImGui::GetFrameCount();
  panel.gives_keys = false;
  if (opened || (other_step && ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows)))
    panel.key_frames = kUntilPlaced;
  if (panel.key_frames == 0 || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) return;
  --panel.key_frames;
  panel.gives_keys = true;
  context.ask("animate");
}

}  // namespace

bool notice_on_card(const Workspace& workspace) {
  return workspace.screen() == Screen::kLesson && workspace.present.on && !workspace.forked();
}

void draw_lesson(const PanelContext& context, LessonPanel& panel, const char* name, bool* open) {
  const Theme& theme = context.theme;
  const LessonModel& model = *context.workspace.lesson();
  const bool other_step = panel.step != model.progress.step();
  forget_other_steps(context.workspace, panel);
  PanelOptions options;
  options.open = open;
  options.scrolls = false;
  options.padded = false;
  options.secondary = fmt::format("{} of {}", model.progress.step() + 1, model.progress.steps());
  if (begin_panel(context, name, options)) {
    take_keys(context, panel, other_step);
    const LessonCard card = card_of(context.workspace);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float dots = theme.px(44), foot = dots + (panel.pinned ? panel.buttons : 0);
    panel.room = room.y - dots;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.size.pad, theme.px(14)));
    ImGui::BeginChild("##card", {room.x, room.y - foot},
                      ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
    ImGui::PopStyleVar();
    if (context.workspace.forked())
      draw_fork(context);
    else
      draw_card(context, panel, card);
    ImGui::EndChild();
    if (panel.pinned && !context.workspace.forked())
      draw_pinned_buttons(context, panel, room, foot);
    ImGui::SetCursorPos({theme.size.pad, room.y - dots + theme.px(4)});
    ImGui::BeginChild("##foot", {room.x - 2 * theme.size.pad, 0}, ImGuiChildFlags_None,
                      ImGuiWindowFlags_NoScrollbar);
    draw_lesson_foot(theme, model, foot_words(context.workspace, card));
    ImGui::EndChild();
    // Not where nothing would be left of the text.
    panel.pinned =
        panel.pin_next && !context.workspace.forked() && panel.room - panel.buttons > theme.px(96);
  }
  end_panel();
}

}  // namespace trainscope::ui
