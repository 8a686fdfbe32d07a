#include "ui/panels/comparison/knobs.h"

#include <fmt/format.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "base/letters.h"
#include "program/idle_knobs.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/panels/comparison/knob_control.h"
#include "ui/panels/lesson/markdown.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using program::Knob;

constexpr float kLowPanel = 240;  // below it two knobs with their help would fill it

bool differs(const Workspace& workspace, const Knob& knob) {
  if (workspace.sides_with_knobs().size() != 2) return false;
  const program::Config &a = workspace.sides()[0].config, &b = workspace.sides()[1].config;
  return (a.is_set(knob.name) || b.is_set(knob.name)) && a.value(knob.name) != b.value(knob.name);
}

bool is_named(const std::string& text, const std::string& knob) {
  const std::string code = "`" + knob;
  const std::size_t at = text.find(code);
  if (at == text.npos || at + code.size() == text.size()) return false;
  const char after = text[at + code.size()];
  return after == '`' || after == '=' || after == ' ';
}

// 0: the step points at it, 1: its text names it, 2: neither.
int rank_of(const scenario::Step& step, const Knob& knob) {
  if (step.focus && step.focus->knob == knob.name) return 0;
  return step.kind == scenario::StepKind::kVary && is_named(step.text, knob.name) ? 1 : 2;
}

// A knob under the mouse may be swept: by a click on its name's right, or by the key.
void sweep_link(const PanelContext& context, const Knob& knob, const Box& line) {
  const bool hovered = ImGui::IsMouseHoveringRect(line.min, line.max) && ImGui::IsWindowHovered();
  if (hovered) context.attention.pointed_knob = knob.name;
  if (!can_sweep(context.workspace)) return;
  const Theme& theme = context.theme;
  const char* words = "sweep";
  const float width = text_size(theme.font.text, theme.size.label, words).x;
  const float used = text_size(theme.font.mono, theme.size.small, knob.name).x + theme.px(30);
  if (line.width() < used + width) return;
  const ImVec2 after = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({line.max.x - width - theme.px(6), line.min.y});
  if (press_area("sweep", {width + theme.px(6), line.height()}))
    context.ask("sweep-knob " + knob.name);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("Run %s over several values, and see the curve", knob.name.c_str());
  if (hovered || ImGui::IsItemHovered())
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label,
                     line.max.x - theme.px(3), line.centre().y, theme.accent, words, 1);
  ImGui::SetCursorScreenPos(after);
}

// Name, a dot where the sides differ; where there is little room, the help under the mouse.
void knob_name(const PanelContext& context, const Knob& knob, float width, bool compact) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const bool lit = context.attention.lit_knob == knob.name;
  const float size = theme.size.small, middle = at.y + size * 0.75F;
  const std::string name = shortened(theme.font.mono, size, knob.name, width - theme.px(18));
  if (lit)
    draw->AddRectFilled({at.x - theme.px(5), at.y - theme.px(2)},
                        {at.x + width, at.y + size * 1.5F + theme.px(2)}, theme.accent_soft,
                        theme.px(4));
  draw_text_middle(draw, theme.font.mono, size, at.x, middle, theme.text, name);
  if (differs(context.workspace, knob))
    draw->AddCircleFilled({at.x + text_size(theme.font.mono, size, name).x + theme.px(10), middle},
                          theme.px(3.5F), theme.warn);
  ImGui::Dummy({width, size * 1.5F});
  if (compact && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s", knob.help.c_str());
  sweep_link(context, knob, {at, {at.x + width, at.y + size * 1.5F}});
}

// That turning it would change nothing, and on which side.
void idle_note(const PanelContext& context, const Knob& knob) {
  const Theme& theme = context.theme;
  std::vector<std::string> notes;
  for (const SideModel& side : context.workspace.sides())
    notes.push_back(is_imported(side) ? "" : program::idle_note(side.config, knob.name));
  const bool alike = std::ranges::adjacent_find(notes, std::not_equal_to<>()) == notes.end();
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].empty() || (alike && i > 0)) continue;
    const std::string side = alike ? "" : SideModel::label_of(i) + ": ";
    text(theme.font.text, theme.size.label, theme.warn, side + notes[i], true);
  }
}

// Brings what begins at `top`, and ends where one writes now, into sight.
void scroll_to(float top) {
  const ImVec2 window = ImGui::GetWindowPos();
  const float bottom = ImGui::GetCursorScreenPos().y;
  if (top < window.y || bottom > window.y + ImGui::GetWindowHeight())
    ImGui::SetScrollFromPosY(top - window.y, 0.1F);
}

// A knob takes a line for its name and the switches, or a second one for wider controls; below the
// heads of columns switches stand in those too.
void knob_row(const PanelContext& context, KnobsPanel& panel, const Knob& knob,
              bool in_columns = false) {
  const Theme& theme = context.theme;
  const std::size_t sides = context.workspace.sides().size();
  const float width = ImGui::GetContentRegionAvail().x, each = theme.px(panel.compact ? 50 : 64);
  ImGui::PushID(knob.name.c_str());
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float row_top = at.y;
  if (is_wide(knob)) {
    knob_name(context, knob, width, panel.compact);
    const float apart = theme.px(16);
    const float wide = (width - apart * static_cast<float>(sides - 1)) / static_cast<float>(sides);
    const float y = ImGui::GetCursorScreenPos().y;
    float bottom = y;
    for (std::size_t i = 0; i < sides; ++i) {
      ImGui::SetCursorScreenPos({at.x + static_cast<float>(i) * (wide + apart), y});
      knob_control(context, panel, knob, i, wide);
      bottom = std::max(bottom, ImGui::GetItemRectMax().y);
    }
    ImGui::SetCursorScreenPos({at.x, bottom + theme.px(4)});
  } else {
    const float beside = width - each * static_cast<float>(sides);
    const float wanted = text_size(theme.font.mono, theme.size.small, knob.name).x + theme.px(24);
    const bool below = in_columns || wanted > beside;
    knob_name(context, knob, below ? width : beside, panel.compact);
    if (below) at = ImGui::GetCursorScreenPos();
    const float after = ImGui::GetCursorScreenPos().y + (below ? theme.px(24) : 0);
    for (std::size_t i = 0; i < sides; ++i) {
      const float column = at.x + width - each * static_cast<float>(sides - i);
      const float half = at.x + static_cast<float>(i) * (width + theme.px(16)) / 2;
      const float x = below ? half : column + (each - theme.px(40)) / 2;
      ImGui::SetCursorScreenPos({x, at.y});
      knob_control(context, panel, knob, i, each);
    }
    ImGui::SetCursorScreenPos({at.x, after});
  }
  if (!panel.compact) text(theme.font.text, theme.size.label, theme.muted, knob.help, true);
  idle_note(context, knob);
  if (context.attention.follow_knob && context.attention.lit_knob == knob.name) {
    context.attention.follow_knob = false;
    scroll_to(row_top);
  }
  ImGui::Dummy({0, theme.px(panel.compact ? 1 : 5)});
  ImGui::PopID();
}

// What a step has one turn comes first: the list begins there anew.
void begin_step(const Workspace& workspace, KnobsPanel& panel) {
  const LessonModel* lesson = workspace.lesson();
  std::pair<std::string, std::size_t> now;
  if (lesson) now = {lesson->lesson.id, lesson->progress.step()};
  if (now == panel.step) return;
  panel.step = now;
  ImGui::SetScrollY(0);
}

bool matches(const Knob& knob, const std::string& search) {
  if (search.empty()) return true;
  const std::string wanted = lowered(search);
  return lowered(knob.name + " " + knob.help + " " + knob.pytorch).find(wanted) !=
         std::string::npos;
}

std::string group_of(const Knob& knob) {
  const std::size_t dot = knob.name.find('.');
  return dot == std::string::npos ? "run" : knob.name.substr(0, dot);
}

void draw_list(const PanelContext& context, KnobsPanel& panel) {
  const Theme& theme = context.theme;
  std::vector<std::string> groups;
  for (const Knob& knob : program::knobs())
    if (std::find(groups.begin(), groups.end(), group_of(knob)) == groups.end())
      groups.push_back(group_of(knob));
  std::size_t shown = 0;
  for (const std::string& group : groups) {
    bool headed = false;
    for (const Knob& knob : program::knobs()) {
      if (group_of(knob) != group || !matches(knob, panel.search)) continue;
      if (context.workspace.hides_differences() && differs(context.workspace, knob)) continue;
      if (!headed) {
        text(theme.font.strong, theme.size.small, theme.accent, group);
        headed = true;
      }
      knob_row(context, panel, knob, true);
      ++shown;
    }
  }
  if (shown == 0)
    text(theme.font.text, theme.size.small, theme.muted,
         "No parameter is called \"" + panel.search + "\".");
}

// A and B stand above their controls: the columns of the list below, which has a scroll bar.
void side_heads(const Theme& theme, std::size_t sides) {
  if (sides < 2) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float all = ImGui::GetContentRegionAvail().x;
  const float column = (all - ImGui::GetStyle().ScrollbarSize + theme.px(16)) / 2;
  for (std::size_t i = 0; i < 2; ++i)
    draw_side_mark(ImGui::GetWindowDrawList(), theme,
                   {at.x + column * static_cast<float>(i), at.y + theme.px(10)}, i == 0 ? 'A' : 'B',
                   i == 0);
  ImGui::Dummy({all, theme.px(20)});
}

}  // namespace

std::vector<const Knob*> shown_knobs(const Workspace& workspace) {
  std::vector<const Knob*> list;
  if (const LessonModel* lesson = workspace.lesson()) {
    for (const std::string& name : lesson->lesson.knobs)
      if (const Knob* knob = program::find_knob_or_null(name)) list.push_back(knob);
  } else {
    for (const Knob& knob : program::knobs()) {
      const bool set = std::any_of(workspace.sides().begin(), workspace.sides().end(),
                                   [&](const SideModel& side) {
                                     return !is_imported(side) && side.config.is_set(knob.name);
                                   });
      if (set || differs(workspace, knob)) list.push_back(&knob);
    }
  }
  // What the program runs on is shown always, but where it is no machine of ours.
  if (std::ranges::all_of(workspace.sides(), [](const SideModel& side) {
        return is_imported(side) || is_replay(side);
      })) {
    // Nor what is replayed.
    std::erase_if(list, [](const Knob* knob) {
      return knob->name == "workload" || knob->name == "replay.trace";
    });
    return list;
  }
  if (workspace.hides_differences())
    std::erase_if(list, [&](const Knob* knob) { return differs(workspace, *knob); });
  const Knob* machine = &program::find_knob("machine");
  const auto at = std::find(list.begin(), list.end(), machine);
  if (at != list.end()) list.erase(at);
  list.push_back(machine);
  if (const LessonModel* lesson = workspace.lesson())
    std::ranges::stable_sort(list, {},
                             [&](const Knob* knob) { return rank_of(lesson->step(), *knob); });
  return list;
}

void draw_knobs(const PanelContext& context, KnobsPanel& panel, const char* name, bool* open) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  PanelOptions options;
  options.open = open;
  options.secondary = workspace.sides().size() == 2 ? "A | B" : "";
  if (workspace.lesson() && !workspace.revealed()) options.secondary = "after the run    A | B";
  if (begin_panel(context, name, options)) {
    begin_step(workspace, panel);
    panel.compact = ImGui::GetWindowHeight() < theme.px(kLowPanel);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(10), theme.px(2)));
    for (const Knob* knob : shown_knobs(workspace)) knob_row(context, panel, *knob);
    if (workspace.hides_differences())
      text(theme.font.text, theme.size.label, theme.muted,
           "In what A and B differ is shown once you have predicted.", true);
    ImGui::PopStyleVar();
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() - theme.px(8));
    const std::string all = fmt::format("All parameters ({})", program::knobs().size());
    if (button(theme, all.c_str(), ButtonKind::kLink)) context.ask("knobs.all");
    if (workspace.knobs_changed()) {
      ImGui::SameLine(0, theme.px(2));
      if (button(theme, "Reset", ButtonKind::kLink)) context.ask("knobs.reset");
    }
  }
  end_panel();
}

void draw_all_parameters(const PanelContext& context, KnobsPanel& panel, bool& open) {
  if (!open) return;
  const Theme& theme = context.theme;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 size{std::min(theme.px(620), viewport->WorkSize.x * 0.9F),
                    viewport->WorkSize.y * 0.8F};
  ImGui::SetNextWindowSize(size, ImGuiCond_Appearing);
  ImGui::SetNextWindowPos({viewport->WorkPos.x + (viewport->WorkSize.x - size.x) / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y * 0.1F},
                          ImGuiCond_Appearing);
  PanelOptions options;
  options.open = &open;
  options.secondary = "A | B";
  options.scrolls = false;
  panel.compact = false;
  if (begin_panel(context, "All parameters", options)) {
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##search", "Search a name or what it does", &panel.search);
    side_heads(theme, context.workspace.sides().size());
    ImGui::BeginChild("##list", {0, 0}, ImGuiChildFlags_NavFlattened);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(10), theme.px(2)));
    draw_list(context, panel);
    ImGui::PopStyleVar();
    ImGui::EndChild();
  }
  end_panel();
}

}  // namespace trainscope::ui
