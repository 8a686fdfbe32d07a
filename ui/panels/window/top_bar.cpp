#include "ui/panels/window/top_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/app/actions/action_list.h"
#include "ui/app/views/machine_words.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

// What stands in the middle of the window: the lesson, the trace, the two runs.
std::string title_of(const Workspace& workspace) {
  if (const LessonModel* lesson = workspace.lesson()) return lesson->lesson.title;
  if (workspace.screen() == Screen::kShelf) return "";
  const auto& sides = workspace.sides();
  if (sides.size() == 2) return "Two runs";
  const SideModel& side = sides.front();
  if (side.file.empty() && side.outline) return "One run";
  return side.view ? side.view->trace->origin().subject : side.file.filename().string();
}

// Where the numbers come from: of the runs, or of what is about to run.
const trace::Origin* origin_of(const Workspace& workspace) {
  for (const SideModel& side : workspace.sides())
    if (const trace::Origin* origin = origin_of(side)) return origin;
  return nullptr;
}

// "SIMULATED"; "SIMULATED | IMPORTED" where A is one and B the other.
std::string badge_words(const Workspace& workspace, const trace::Origin& first) {
  std::string words(trace::badge(first.kind));
  for (const SideModel& side : workspace.sides()) {
    if (!side.view || side.view->trace->origin().kind == first.kind) continue;
    words += " | " + std::string(trace::badge(side.view->trace->origin().kind));
    break;
  }
  return words;
}

float draw_menu_button(const PanelContext& context, const Box& bar) {
  const Theme& theme = context.theme;
  const float size = theme.px(30), middle = bar.centre().y;
  ImGui::SetCursorScreenPos({bar.min.x + theme.px(10), middle - size / 2});
  const bool pressed = press_area("Menu", {size, size});
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen("##menu");
  if (lit)
    draw->AddRectFilled(box.min, box.max, mixed(theme.head, theme.text, 0.1F), theme.size.corner);
  for (const float offset : {-5.0F, 0.0F, 5.0F}) {
    const float y = std::round(middle + theme.px(offset));
    draw->AddRectFilled({box.centre().x - theme.px(8), y - theme.px(0.8F)},
                        {box.centre().x + theme.px(8), y + theme.px(0.8F)}, theme.muted);
  }
  if (pressed) ImGui::OpenPopup("##menu");
  return box.max.x;
}

std::string_view group_of(std::string_view id) {
  return id.substr(0, id.find('.'));
}

void draw_menu(const PanelContext& context) {
  const Theme& theme = context.theme;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(8), theme.px(8)));
  if (ImGui::BeginPopup("##menu")) {
    std::string_view group;
    for (const ActionInfo& action : actions()) {
      if (!group.empty() && group != group_of(action.id)) ImGui::Separator();
      group = group_of(action.id);
      if (ImGui::MenuItem(action.label.c_str(), action.shortcut.c_str(), false,
                          context.can(action.id)))
        context.ask(action.id);
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

// Where there is little room, the speed and the words of "Find an action" are left out; where there
// is less, the program's name and the playhead's time.
bool is_narrow(const Theme& theme, const Box& bar) {
  return bar.width() < theme.px(1400);
}
bool is_tight(const Theme& theme, const Box& bar) {
  return bar.width() < theme.px(1180);
}
// The title needs the room of what Home and End do as well.
bool has_ends(const Theme& theme, const Box& bar) {
  return bar.width() >= theme.px(820);
}
// Where there is hardly any, "Find an action" is the menu's alone; then all but Play goes, then
// Play: the space bar does the same.
bool is_tiny(const Theme& theme, const Box& bar) {
  return bar.width() < theme.px(620);
}
bool plays_only(const Theme& theme, const Box& bar) {
  return bar.width() < theme.px(400);
}
bool has_playback(const Theme& theme, const Box& bar) {
  return bar.width() >= theme.px(260);
}

// Names to the left; returns where they end.
float draw_names(const PanelContext& context, const Box& bar, float left, float limit) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float middle = bar.centre().y, size = theme.px(18);
  float x = left;
  if (!is_tight(theme, bar) || context.workspace.screen() == Screen::kShelf) {
    draw_text_middle(draw, theme.font.strong, size, left, middle, theme.text, "Trainscope");
    x += text_size(theme.font.strong, size, "Trainscope").x + theme.px(26);
  }
  const std::string title =
      shortened(theme.font.text, theme.size.text, title_of(context.workspace), limit - x);
  draw_text_middle(draw, theme.font.text, theme.size.text, x, middle, theme.muted, title);
  return x + text_size(theme.font.text, theme.size.text, title).x;
}

float draw_speed(const PanelContext& context, const Box& bar, float left, bool enabled) {
  const double seconds = context.workspace.playhead.seconds;
  ImGui::SetCursorScreenPos({left, bar.centre().y - context.theme.size.button / 2});
  const std::string speed = fmt::format("range in {:.0f} s##speed", seconds);
  if (button(context.theme, speed.c_str(), ButtonKind::kLink, 0, enabled))
    context.ask("play.speed");
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("The visible range in %.0f seconds", seconds);
  return ImGui::GetItemRectMax().x;
}

void draw_playback(const PanelContext& context, const Box& bar, float left) {
  const Theme& theme = context.theme;
  const float height = theme.px(28), gap = theme.px(7), small = theme.px(34), wide = theme.px(66);
  const float top = bar.centre().y - height / 2;
  const bool enabled = context.can("play.toggle");
  float x = left;
  const auto place = [&](const char* id, Symbol symbol, const char* action, float width,
                         bool primary) {
    ImGui::SetCursorScreenPos({x, top});
    if (symbol_button(theme, id, symbol, primary, width, enabled)) context.ask(action);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) {
      const ActionInfo* info = find_action(action);
      ImGui::SetTooltip("%s (%s)", info->label.c_str(), info->shortcut.c_str());
    }
    x += width + gap;
  };
  const bool whole = !plays_only(theme, bar), ends = has_ends(theme, bar);
  if (ends) place("start", Symbol::kStart, "play.start", small, false);
  if (whole) place("previous", Symbol::kBack, "play.previous_event", small, false);
  place("play", context.workspace.playhead.playing ? Symbol::kPause : Symbol::kPlay, "play.toggle",
        wide, true);
  if (whole) place("next", Symbol::kForward, "play.next_event", small, false);
  if (ends) place("end", Symbol::kEnd, "play.end", small, false);
  if (!is_narrow(theme, bar)) x = draw_speed(context, bar, x, enabled) + theme.px(10);
  if (is_tight(theme, bar)) return;  // the playhead stands on the axis
  const std::string time =
      "t = " + format_nanos(static_cast<double>(context.workspace.playhead.time));
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.mono, theme.size.label, x, bar.centre().y,
                   enabled ? theme.text : theme.faint, enabled ? time : "t = -");
}

float playback_width(const Theme& theme, const Box& bar) {
  const float speed = text_size(theme.font.text, theme.size.text, "range in 20 s").x;
  const float time = text_size(theme.font.mono, theme.size.label, "t = 99.99 ms").x;
  if (!has_playback(theme, bar)) return 0;
  if (plays_only(theme, bar)) return theme.px(66 + 7);
  const float buttons = has_ends(theme, bar) ? 4 : 2;
  return theme.px(buttons * (34 + 7) + 66 + 7) +
         (is_narrow(theme, bar) ? 0 : std::max(theme.px(122), speed + theme.px(30))) +
         (is_tight(theme, bar) ? 0 : std::max(theme.px(110), time + theme.px(14)));
}

// Returns where it begins.
float draw_find(const PanelContext& context, const Box& bar) {
  const Theme& theme = context.theme;
  context.attention.find_action = {};
  if (is_tiny(theme, bar)) return bar.max.x;
  const float keys = text_size(theme.font.mono, theme.size.label, "Ctrl K").x;
  const bool narrow = is_narrow(theme, bar);
  const float width = narrow ? keys + theme.px(20) : std::min(theme.px(262), bar.width() * 0.16F);
  const float height = theme.px(27);
  const float left = bar.max.x - theme.size.gap - theme.px(4) - width;
  ImGui::SetCursorScreenPos({left, bar.centre().y - height / 2});
  if (press_area("Find an action", {width, height})) context.ask("find.action");
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  context.attention.find_action = box;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.ground, 0.4F), theme.size.corner);
  draw->AddRect(box.min, box.max, ImGui::IsItemHovered() ? theme.faint : theme.line,
                theme.size.corner, theme.size.border);
  const float room = width - theme.px(32) - keys;
  if (!narrow)
    draw_text_middle(draw, theme.font.text, theme.size.small, box.min.x + theme.px(11),
                     bar.centre().y, theme.faint,
                     shortened(theme.font.text, theme.size.small, "Find an action", room));
  draw_text_middle(draw, theme.font.mono, theme.size.label, box.max.x - theme.px(10),
                   bar.centre().y, theme.faint, "Ctrl K", 1);
  return left;
}

std::string origin_words(const Workspace& workspace) {
  std::string words;
  for (const SideModel& side : workspace.sides()) {
    const trace::Origin* origin = origin_of(side);
    if (!origin) continue;
    if (!words.empty()) words += "\n";
    if (workspace.sides().size() > 1) words += side.label + ": ";
    words += machine_name(side);
    if (machine_short(side) != machine_name(side)) words += " (" + machine_short(side) + ")";
    words += "\n" + origin->detail;
  }
  return words;
}

// Sides that differ say their machines themselves.
std::string machine_words(const Workspace& workspace, bool in_short) {
  const auto& sides = workspace.sides();
  if (sides.size() == 2 && is_imported(sides[0]) && is_replay(sides[1]))
    return in_short ? "trace, replay" : "a trace and its replay";
  if (sides.size() == 2 && machine_short(sides[0]) != machine_short(sides[1]))
    return in_short ? "2 machines" : "two machines";
  return in_short ? machine_brief(sides.front()) : machine_name(sides.front());
}

// In full where it fits, else its GPUs alone, else what fits of that.
std::string fitting_words(const Theme& theme, const Workspace& workspace, float room) {
  const auto width = [&](const std::string& words) {
    return text_size(theme.font.text, theme.size.small, words).x;
  };
  std::string words = machine_words(workspace, false);
  if (width(words) > room) words = machine_words(workspace, true);
  return width(words) > room ? shortened(theme.font.text, theme.size.small, words, room) : words;
}

// Around the machine's words: its padding and the mark that says that it opens.
float machine_frame(const Theme& theme, bool opens) {
  return theme.px(16) + (opens ? theme.px(18) : 0);
}

// What the badge and the machine's shortest words take.
float least_origin_width(const PanelContext& context) {
  const Theme& theme = context.theme;
  const trace::Origin* origin = origin_of(context.workspace);
  if (!origin) return 0;
  const std::string badge = badge_words(context.workspace, *origin);
  const std::string words = machine_words(context.workspace, true);
  return text_size(theme.font.text, theme.size.label, badge).x + theme.px(26) +
         machine_frame(theme, context.can("machine.choose")) +
         text_size(theme.font.text, theme.size.small, words).x;
}

// The machine's name; pressed, it opens the chooser.
void draw_machine(const PanelContext& context, const Box& bar, float left, float room) {
  const Theme& theme = context.theme;
  const bool opens = context.can("machine.choose");
  const float frame = machine_frame(theme, opens), pad = theme.px(8);
  const std::string words = fitting_words(theme, context.workspace, room - frame);
  if (words.empty()) return;
  const float height = theme.px(28), middle = bar.centre().y;
  const float width = text_size(theme.font.text, theme.size.small, words).x + frame;
  ImGui::SetCursorScreenPos({left, middle - height / 2});
  ImGui::BeginDisabled(!opens);
  if (press_area("Machine", {width, height})) context.ask("machine.choose");
  ImGui::EndDisabled();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", origin_words(context.workspace).c_str());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  if (opens && ImGui::IsItemHovered())
    draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.text, 0.07F), theme.size.corner);
  draw_text_middle(draw, theme.font.text, theme.size.small, left + pad, middle, theme.text, words);
  if (opens) draw_down_mark(draw, theme, {box.max.x - pad - theme.px(4), middle}, theme.muted);
}

// The badge is never left out; the machine's name takes what room there is.
void draw_origin(const PanelContext& context, const Box& bar, float left, float right) {
  const trace::Origin* origin = origin_of(context.workspace);
  if (!origin) return;
  const Theme& theme = context.theme;
  const std::string badge = badge_words(context.workspace, *origin);
  const Color color = theme.of_origin(origin->kind);
  const float pill_width = text_size(theme.font.text, theme.size.label, badge).x + theme.px(18);
  const float gap = theme.px(8), frame = machine_frame(theme, context.can("machine.choose"));
  const std::string words =
      fitting_words(theme, context.workspace, right - left - pill_width - gap - frame);
  const float wanted =
      pill_width + gap + frame + text_size(theme.font.text, theme.size.small, words).x;
  const float x = std::max(left, left + (right - left - wanted) / 2);
  ImGui::SetCursorScreenPos({x, bar.centre().y - theme.px(10)});
  pill(theme, badge, theme.tint(color), color);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", origin_words(context.workspace).c_str());
  const float after = x + pill_width + gap;
  draw_machine(context, bar, after, right - after);
}

}  // namespace

void draw_top_bar(const PanelContext& context) {
  const Theme& theme = context.theme;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const Box bar{
      viewport->WorkPos,
      {viewport->WorkPos.x + viewport->WorkSize.x, viewport->WorkPos.y + theme.size.top_bar}};
  ImGui::SetNextWindowPos(bar.min);
  ImGui::SetNextWindowSize({bar.width(), bar.height()});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::Begin("##top bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar(3);
  ImGui::GetWindowDrawList()->AddLine({bar.min.x, bar.max.y - 0.5F}, {bar.max.x, bar.max.y - 0.5F},
                                      theme.line, theme.size.border);
  const float menu = draw_menu_button(context, bar) + theme.px(12);
  draw_menu(context);
  const float find = draw_find(context, bar);
  const float width = playback_width(theme, bar);
  if (context.workspace.screen() == Screen::kShelf) {
    draw_names(context, bar, menu, find);
  } else {
    const float share = is_tight(theme, bar) ? 0.39F : 0.49F;
    const float centre = bar.min.x + bar.width() * share - width / 2;
    // The title may go on past the middle, as far as the machine can still be named.
    const float most = find - theme.px(30) - least_origin_width(context) - width;
    const float names =
        draw_names(context, bar, menu, std::max({centre, most, menu}) - theme.px(20));
    const float left = std::max(centre, names + theme.px(20));
    if (has_playback(theme, bar)) draw_playback(context, bar, left);
    draw_origin(context, bar, left + width + theme.px(14), find - theme.px(16));
  }
  ImGui::End();
}

}  // namespace trainscope::ui
