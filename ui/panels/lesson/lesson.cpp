#include "ui/panels/lesson/lesson.h"

#include <fmt/format.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "ui/app/actions/action_list.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/app/lesson/room_view.h"
#include "ui/panels/lesson/lesson_buttons.h"
#include "ui/panels/lesson/markdown.h"
#include "ui/panels/lesson/option_card.h"
#include "ui/panels/lesson/revisit.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using scenario::QuestionKind;

// What stands from `top` to the cursor comes into sight.
void follow(LessonPanel& panel, float top) {
  panel.news = {top, ImGui::GetCursorPosY()};
  panel.news_frames = 3;  // the buttons may find another place first
}

// What the learner's last act has brought onto the card, from `top` to the cursor, is to come into
// sight; not what stands there when the step is entered.
void note_news(LessonPanel& panel, News piece, const std::string& words, float top) {
  std::string& before = panel.said.at(static_cast<std::size_t>(piece));
  if (words == before) return;
  before = words;
  if (!words.empty() && !panel.fresh) follow(panel, top);
}

void bring_news_into_sight(const PanelContext& context, LessonPanel& panel) {
  if (panel.fresh) ImGui::SetScrollY(0);  // another step is read from its beginning
  panel.fresh = false;
  if (panel.news_frames == 0) return;
  --panel.news_frames;
  context.ask("animate");
  const float margin = context.theme.px(8);
  ImGui::SetScrollY(scroll_to_show(panel.news.top - margin, panel.news.bottom + margin,
                                   ImGui::GetScrollY(), ImGui::GetWindowHeight()));
}

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

// ---- The foot ----------------------------------------------------------------------------------

// In front of a room the keys that go on and that show the code; else how long it will take, or
// that a question of before waits on the last card.
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

void draw_foot(const Theme& theme, const LessonModel& model, const std::string& hint) {
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

float scroll_to_show(float top, float bottom, float scroll, float height) {
  return std::max(0.0F, std::min(std::max(scroll, bottom - height), top));
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
    draw_foot(theme, model, foot_words(context.workspace, card));
    ImGui::EndChild();
    // Not where nothing would be left of the text.
    panel.pinned =
        panel.pin_next && !context.workspace.forked() && panel.room - panel.buttons > theme.px(96);
  }
  end_panel();
}

}  // namespace trainscope::ui
