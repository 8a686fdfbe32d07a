#include "ui/panels/sheets/shelf.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "scenario/course.h"
#include "scenario/lesson_search.h"
#include "ui/app/lesson/prerequisite.h"
#include "ui/panels/lesson/markdown.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using scenario::CourseEntry;
using scenario::Standing;

// The shelf's own words in the language of the lessons.
class ShelfWords {
 public:
  explicit ShelfWords(const std::vector<scenario::Lesson>& lessons)
      : words_(lessons.empty() ? nullptr : &lessons.front().words) {}
  std::string operator()(std::string_view english) const {
    const auto found = words_ ? words_->find(english) : Words::const_iterator();
    return !words_ || found == words_->end() ? std::string(english) : found->second;
  }
  // With what stands in the braces.
  template <typename... Values>
  std::string with(std::string_view english, const Values&... values) const {
    return fmt::format(fmt::runtime((*this)(english)), values...);
  }

 private:
  using Words = std::map<std::string, std::string, std::less<>>;
  const Words* words_;
};

// What a card says of how the lesson went, at the right of its first line.
struct Mark {
  std::string words;
  Color color{};
  bool filled = false;
};

Mark mark_of(const Theme& theme, const ShelfWords& say, const CourseEntry& entry) {
  const auto &points = entry.record.points, &of = entry.record.of;
  switch (entry.standing) {
    case Standing::kDone:
      return {say.with("done, {} of {} points", points, of), theme.good};
    case Standing::kAgain:
      return {say.with("worth another go, {} of {} points", points, of), theme.warn};
    case Standing::kBegun:
      return {say("begun"), theme.accent};
    case Standing::kNext:
      return {say(of > 0 ? "go on" : "next"), theme.accent, true};
    case Standing::kOpen:
    case Standing::kAhead:
      break;
  }
  return {};
}

// Returns where it begins.
float draw_mark(const Theme& theme, const Mark& mark, float right, float y) {
  if (mark.words.empty()) return right;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.label, width = text_size(theme.font.strong, size, mark.words).x;
  const float pad = theme.px(8);
  if (mark.filled)
    draw->AddRectFilled({right - width - 2 * pad, y - theme.px(4)},
                        {right, y + size * 1.2F + theme.px(4)}, mark.color, theme.size.corner);
  draw_text(draw, theme.font.strong, size, {right - width - (mark.filled ? pad : 0), y},
            mark.filled ? theme.accent_text : mark.color, mark.words);
  return right - width - 2 * pad;
}

// What one hears of what the lesson is about.
void draw_card_text(const Theme& theme, const CourseEntry& entry, float width) {
  const scenario::Lesson& lesson = *entry.lesson;
  const MarkdownStyle style{.width = width, .size = theme.size.small, .color = theme.muted};
  if (!lesson.heard.empty()) markdown(theme, "\"" + lesson.heard + "\"", style);
}

// All that the lesson builds on, a line each, as titles have commas; the card has room for the next
// one to take.
std::string required_words(const ShelfWords& say, const CourseEntry& entry) {
  return say("requires:") + "\n" + fmt::format("{}", fmt::join(entry.required, "\n"));
}

bool lesson_card(const Theme& theme, const ShelfWords& say, const CourseEntry& entry, float width,
                 float height) {
  const scenario::Lesson& lesson = *entry.lesson;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = theme.px(18), label = theme.size.label;
  ImGui::PushID(lesson.id.c_str());
  const bool pressed = press_area("lesson", {width, height});
  const bool lit = ImGui::IsItemHovered();
  if (!entry.required.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", required_words(say, entry).c_str());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const ImVec2 max{at.x + width, at.y + height};
  const bool next = entry.standing == Standing::kNext;
  draw->AddRectFilled(at, max, theme.panel, theme.size.corner);
  draw->AddRect(at, max, lit || next ? theme.accent : theme.line, theme.size.corner,
                theme.size.border * (lit ? 1.5F : 1.0F));
  draw->PushClipRect(at, {max.x - pad * 0.5F, max.y - pad * 0.5F}, true);
  const float mark = draw_mark(theme, mark_of(theme, say, entry), max.x - pad, at.y + pad);
  draw_text(draw, theme.font.text, label, {at.x + pad, at.y + pad}, theme.faint,
            shortened(theme.font.text, label,
                      fmt::format("{}   {} min   {}", say(lesson.topic), lesson.minutes,
                                  say(lesson.level)),
                      mark - at.x - pad));
  draw_text(draw, theme.font.strong, theme.size.heading, {at.x + pad, at.y + pad + label * 1.7F},
            theme.text,
            shortened(theme.font.strong, theme.size.heading, lesson.title, width - 2 * pad));
  const float subject = at.y + pad + label * 1.7F + theme.size.heading * 1.6F;
  draw_text(draw, theme.font.text, label, {at.x + pad, subject}, theme.muted,
            shortened(theme.font.text, label, scenario::subject_line(lesson), width - 2 * pad));
  ImGui::SetCursorScreenPos({at.x + pad, subject + theme.px(20)});
  draw_card_text(theme, entry, width - 2 * pad);
  if (!entry.after.empty())
    draw_text(
        draw, theme.font.text, label, {at.x + pad, max.y - pad - label * 0.9F}, theme.faint,
        shortened(theme.font.text, label, say.with("after: {}", entry.after), width - 2 * pad));
  draw->PopClipRect();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  ImGui::PopID();
  return pressed;
}

// The lesson that was pressed; null: none was.
const scenario::Lesson* draw_track(const Theme& theme, const ShelfWords& say,
                                   const scenario::Track& track, float width, bool counts) {
  const int columns = std::max(1, static_cast<int>(width / theme.px(400)));
  const float gap = theme.size.gap, height = theme.px(158);
  const float each = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const ImVec2 head = ImGui::GetCursorScreenPos();
  text(theme.font.strong, theme.size.heading, theme.text, track.title);
  const float room =
      width - text_size(theme.font.strong, theme.size.heading, track.title).x - theme.px(16);
  const std::string done = say.with("{} of {} done", track.done(), track.lessons.size());
  if (counts && text_size(theme.font.text, theme.size.small, done).x <= room)
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, head.x + width,
                     head.y + theme.size.heading * 0.6F, theme.muted, done, 1);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const scenario::Lesson* chosen = nullptr;
  for (std::size_t i = 0; i < track.lessons.size(); ++i) {
    const auto column = static_cast<float>(i % static_cast<std::size_t>(columns));
    const auto row = static_cast<float>(i / static_cast<std::size_t>(columns));
    ImGui::SetCursorScreenPos({start.x + column * (each + gap), start.y + row * (height + gap)});
    if (lesson_card(theme, say, track.lessons[i], each, height)) chosen = track.lessons[i].lesson;
  }
  ImGui::Dummy({0, theme.px(14)});
  return chosen;
}

void draw_cards(const PanelContext& context, const ShelfWords& say,
                const std::vector<scenario::Track>& tracks, float width, bool all) {
  const scenario::Lesson* chosen = nullptr;
  for (const scenario::Track& track : tracks)
    if (const scenario::Lesson* lesson = draw_track(context.theme, say, track, width, all))
      chosen = lesson;
  if (chosen) context.ask("open-lesson " + chosen->id);
}

// ---- Looking for lessons -----------------------------------------------------------------------

// Those that are about the words.
std::vector<scenario::Track> found_in(std::vector<scenario::Track> tracks,
                                      const std::string& words) {
  if (words.empty()) return tracks;
  for (scenario::Track& track : tracks)
    std::erase_if(track.lessons, [&](const CourseEntry& entry) {
      return scenario::relevance(*entry.lesson, words) == 0;
    });
  std::erase_if(tracks, [](const scenario::Track& track) { return track.lessons.empty(); });
  return tracks;
}

// Letters that are typed while nothing else has the keys are the beginning of a search.
void take_letters(ShelfPanel& panel) {
  const bool free = !panel.active && !ImGui::IsAnyItemActive() &&
                    !ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
  if (!free) return;
  for (const ImWchar letter : ImGui::GetIO().InputQueueCharacters) {
    if (letter <= ' ' || letter == 127) continue;
    char bytes[5] = {};
    ImTextCharToUtf8(bytes, letter);
    panel.words += bytes;
    panel.typed = true;
  }
  if (panel.typed) ImGui::SetKeyboardFocusHere();
}

// True: Enter was pressed in it.
bool draw_search(const Theme& theme, const std::string& hint, ShelfPanel& panel, float width) {
  take_letters(panel);
  ImGui::SetNextItemWidth(width);
  ImGui::PushFont(theme.font.text, theme.size.small);
  const bool enter = ImGui::InputTextWithHint(
      "##words", hint.c_str(), &panel.words,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_EscapeClearsAll);
  ImGui::PopFont();
  panel.active = ImGui::IsItemActive();
  // A field that is given the keys marks all that stands in it: the next letter would replace it.
  if (ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetItemID());
      panel.active && panel.typed && state) {
    state->ClearSelection();
    panel.typed = false;
  }
  return enter;
}

// What stands below the heading: what lessons are, and beside it, or below where there is no room,
// the field.
bool draw_lead(const Theme& theme, const ShelfWords& say, ShelfPanel& panel, float width) {
  const std::string is =
      say("Each is one experiment: you predict, it runs, the difference is explained.");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float words = text_size(theme.font.text, theme.size.text, is).x;
  const std::string hint = say("Find a lesson: a word, a knob");
  const float wanted = text_size(theme.font.text, theme.size.small, hint).x + theme.px(32);
  const float field = std::min(std::max(theme.px(300), wanted), width), left = width - field;
  text(theme.font.text, theme.size.text, theme.muted, is, words > width);
  // Of the words that cards have beside their minutes.
  text(theme.font.text, theme.size.label, theme.muted,
       say("worked: each step is explained. faded: you fill in a part. problem: a goal, and you "
           "find the way.") +
           " " +
           say("Points are for answers and tasks; predictions are guesses and count nothing."),
       true);
  if (words + theme.px(16) > left) return draw_search(theme, hint, panel, field);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({at.x + left, at.y - theme.px(4)});
  const bool enter = draw_search(theme, hint, panel, field);
  ImGui::SetCursorScreenPos({below.x, std::max(below.y, ImGui::GetCursorScreenPos().y)});
  return enter;
}

// A lesson that is worth another go names what to take before it, too.
std::vector<scenario::Track> tracks_of(const std::vector<scenario::Lesson>& lessons,
                                       const scenario::Records& records) {
  std::vector<scenario::Track> tracks = scenario::course_of(lessons, records);
  for (scenario::Track& track : tracks)
    for (CourseEntry& entry : track.lessons)
      if (entry.standing == Standing::kAgain)
        if (const auto before = prerequisite_of(*entry.lesson, lessons, records); before.lesson)
          entry.after = before.lesson->title;
  return tracks;
}

std::string hours(int minutes) {
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string so_far(const ShelfWords& say, const std::vector<scenario::Track>& tracks) {
  std::size_t done = 0, all = 0;
  for (const scenario::Track& track : tracks) {
    done += static_cast<std::size_t>(track.done());
    all += track.lessons.size();
  }
  const int minutes = scenario::minutes_left(tracks);
  return minutes > 0 ? say.with("{} of {} done, about {} left", done, all, hours(minutes))
                     : say.with("all {} done", all);
}

// Beside the title: how much of the course is behind and ahead and, where there is room for it, how
// many questions later lessons ask again.
void draw_so_far(const Theme& theme, const ShelfWords& say, const std::string& words,
                 int to_revisit, float left, float right, float y) {
  const std::string missed = to_revisit > 0 ? ", " + say.with("{} to revisit", to_revisit) : "";
  for (const std::string& all : {words + missed, words}) {
    if (text_size(theme.font.text, theme.size.text, all).x > right - left) continue;
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.text, right, y,
                     theme.muted, all, 1);
    return;
  }
}

// Enter opens the one that is most about the words.
void draw_found(const PanelContext& context, const ShelfWords& say,
                const std::vector<scenario::Track>& found, float width, const std::string& words,
                bool enter) {
  draw_cards(context, say, found, width, words.empty());
  if (words.empty()) return;
  if (found.empty())
    text(context.theme.font.text, context.theme.size.text, context.theme.muted,
         say("No lesson is about that."));
  const auto best = scenario::lessons_about(context.workspace.shelf.lessons(), words);
  if (enter && !best.empty()) context.ask("open-lesson " + best.front()->id);
}

void begin_room_below_bar(const Theme& theme) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x, viewport->WorkPos.y + theme.size.top_bar});
  ImGui::SetNextWindowSize({viewport->WorkSize.x, viewport->WorkSize.y - theme.size.top_bar});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::Begin("##shelf", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
}

}  // namespace

float shelf_height(const Theme& theme) {
  const ImGuiWindow* shelf = ImGui::FindWindowByName("##shelf");
  if (!shelf) return 0;
  return theme.size.top_bar + shelf->ContentSize.y + 2 * shelf->WindowPadding.y + theme.px(24);
}

void draw_shelf(const PanelContext& context, ShelfPanel& panel) {
  const Theme& theme = context.theme;
  begin_room_below_bar(theme);
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = std::min(room - 2 * theme.px(24), theme.px(1340));
  ImGui::SetCursorPos({ImGui::GetCursorPosX() + (room - width) / 2, theme.px(44)});
  ImGui::BeginGroup();
  const auto& lessons = context.workspace.shelf.lessons();
  const std::vector<scenario::Track> tracks =
      tracks_of(lessons, context.workspace.record.learner().records());
  const ShelfWords say(lessons);
  const std::string heading = say("Lessons");
  const ImVec2 title = ImGui::GetCursorScreenPos();
  if (!lessons.empty())
    draw_so_far(theme, say, so_far(say, tracks),
                scenario::to_revisit(context.workspace.record.learner().missed(), lessons),
                title.x + text_size(theme.font.strong, theme.size.figure, heading).x + theme.px(16),
                title.x + width, title.y + theme.size.figure * 0.6F);
  text(theme.font.strong, theme.size.figure, theme.text, heading);
  const bool enter = draw_lead(theme, say, panel, width);
  ImGui::Dummy({0, theme.px(10)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(10), theme.px(8)));
  if (!context.workspace.shelf.error().empty()) {
    ImGui::BeginChild("##fault", {width, 0}, ImGuiChildFlags_AutoResizeY);
    notice_card(theme, Tone::kBad,
                lessons.empty() ? "The lessons could not be read" : "A lesson could not be read",
                context.workspace.shelf.error());
    ImGui::EndChild();
  } else if (lessons.empty()) {
    text(theme.font.text, theme.size.text, theme.muted, "There are no lessons here.");
  }
  draw_found(context, say, found_in(tracks, panel.words), width, panel.words, enter);
  ImGui::Dummy({0, theme.px(16)});
  text(theme.font.strong, theme.size.heading, theme.text, say("A recording of your own"));
  text(theme.font.text, theme.size.text, theme.muted,
       say("A trace of PyTorch's profiler (.json or .json.gz). Drop the file on this window, or:"));
  ImGui::Dummy({0, theme.px(2)});
  if (button(theme, say("Open a file").c_str(), ButtonKind::kPrimary)) context.ask("file.open");
  ImGui::PopStyleVar();
  ImGui::EndGroup();
  ImGui::End();
}

}  // namespace trainscope::ui
