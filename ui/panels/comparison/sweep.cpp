#include "ui/panels/comparison/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/comparison/sweep_chart.h"
#include "ui/panels/comparison/sweep_fields.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using scenario::Sweep;
using scenario::SweepPoint;

void try_start(Workspace& workspace, SweepPanel& panel) {
  panel.error.clear();
  try {
    start_sweep(workspace, panel.form);
  } catch (const Error& error) {
    panel.error = error.what();
  }
}

// The form follows what was started elsewhere: by the lesson, by a knob.
void follow(const Workspace& workspace, const Attention& attention, SweepPanel& panel) {
  const auto& form = workspace.sweep_form;
  if (form && !panel.asked) {
    panel.form = *form;
    panel.begun = true;
    const LessonModel* lesson = workspace.lesson();
    const bool of_lesson =
        lesson && lesson->lesson.sweep && form->knob == lesson->lesson.sweep->axis.knob->name;
    panel.editing = !of_lesson;
  }
  panel.asked = form.has_value();
  if (panel.begun) return;
  panel.form = sweep_form_for(workspace, knob_to_sweep(workspace, attention));
  panel.editing = panel.begun = true;
}

// ---- What is said ------------------------------------------------------------------------------

std::string progress_of(const SweepModel& model) {
  if (model.busy()) return fmt::format("{} of {} runs", model.over(), model.runs());
  if (model.cancelled())
    return fmt::format("cancelled after {} of {} runs", model.over(), model.runs());
  return "";
}

// A bar and a count while it runs, with the button that ends it.
void draw_progress(const PanelContext& context, const SweepModel& model) {
  const Theme& theme = context.theme;
  const std::string words = progress_of(model);
  if (words.empty()) return;
  line_words(theme, theme.font.text, theme.muted, words);
  if (!model.busy()) return;
  ImGui::SameLine(0, theme.px(10));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = theme.px(110), height = theme.px(6);
  const float y = at.y + (theme.size.button - height) / 2;
  const float share = static_cast<float>(model.over()) / static_cast<float>(model.runs());
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled({at.x, y}, {at.x + width, y + height}, theme.line, height / 2);
  draw->AddRectFilled({at.x, y}, {at.x + std::max(width * share, height), y + height}, theme.accent,
                      height / 2);
  ImGui::Dummy({width, theme.size.button});
  ImGui::SameLine(0, theme.px(10));
  if (button(theme, "Cancel", ButtonKind::kQuiet)) context.ask("sweep.cancel");
}

// The line above the chart while the fields are folded away.
void draw_summary_line(const PanelContext& context, SweepPanel& panel) {
  const Theme& theme = context.theme;
  const auto& sweep = context.workspace.sweep.sweep();
  const analysis::Metric* metric = sweep ? metric_of(panel.form, *sweep) : nullptr;
  const std::string title = sweep ? sweep_title(*sweep, metric) : "";
  const float kept = theme.px(80);
  line_words(theme, theme.font.strong, theme.text,
             shortened(theme.font.strong, theme.size.small, title,
                       ImGui::GetContentRegionAvail().x - kept));
  ImGui::SameLine(0, theme.px(4));
  if (button(theme, "Change", ButtonKind::kLink)) panel.editing = true;
}

// One line; all of it under the pointer.
void draw_note(const Theme& theme, const std::string& words, Color color) {
  if (words.empty()) return;
  const float room = ImGui::GetContentRegionAvail().x;
  text(theme.font.text, theme.size.small, color,
       shortened(theme.font.text, theme.size.small, words, room));
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) ImGui::SetTooltip("%s", words.c_str());
}

void draw_notes(const PanelContext& context, SweepPanel& panel) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const SweepModel& model = workspace.sweep;
  if (!panel.error.empty()) text(theme.font.text, theme.size.small, theme.bad, panel.error, true);
  if (!model.error().empty())
    text(theme.font.text, theme.size.small, theme.bad, model.error(), true);
  if (!model.sweep()) return;
  if (is_stale(*model.sweep(), model.sides(), labelled_configs(workspace))) {
    line_words(theme, theme.font.text, theme.warn, "Other knobs were turned since.");
    ImGui::SameLine(0, theme.px(4));
    if (button(theme, "Sweep again", ButtonKind::kLink)) try_start(workspace, panel);
  }
  draw_note(theme, words_of_failures(*model.sweep()), theme.bad);
  draw_note(theme, words_of_caveats(*model.sweep()), theme.warn);
}

// ---- The chart ---------------------------------------------------------------------------------

// All sides' values at a point, and what a click does.
void draw_card(const PanelContext& context, const analysis::Metric& metric, std::size_t point) {
  const Theme& theme = context.theme;
  const Sweep& sweep = *context.workspace.sweep.sweep();
  const bool pair = context.workspace.sides_with_knobs().size() == 2;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + theme.px(360));
    text(theme.font.strong, theme.size.text, theme.text, point_title(sweep, point));
    for (const SweepPoint::Side& side : sweep.points[point].sides) {
      const std::string mark = pair ? side.label + ": " : "";
      const auto value = analysis::value_of(side.metrics, metric.name);
      if (!side.over)
        text(theme.font.text, theme.size.small, theme.muted, mark + "not there yet");
      else if (const std::string failure = failure_of(side); !failure.empty())
        text(theme.font.text, theme.size.small, theme.bad, mark + failure, true);
      else
        text(theme.font.mono, theme.size.mono, theme.text,
             mark + (value ? analysis::show(metric, *value) : "no " + metric.label));
      if (!side.caveat.empty())
        text(theme.font.text, theme.size.small, theme.warn, mark + side.caveat, true);
    }
    text(theme.font.text, theme.size.label, theme.faint,
         pair ? "Click: for B.  Shift and click: for A." : "Click: run it with this value.");
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

// One item over each point: hovered it tells, clicked it is taken.
void point_items(const PanelContext& context, const analysis::Metric& metric,
                 const SweepColumns& columns) {
  const Theme& theme = context.theme;
  const std::vector<std::size_t> sides = context.workspace.sides_with_knobs();
  if (sides.empty()) return;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Box& box = columns[i];
    if (box.width() < 1 || box.height() < 1) continue;
    ImGui::SetCursorScreenPos(box.min);
    if (press_area(fmt::format("point {}", i).c_str(), {box.width(), box.height()}))
      context.ask(fmt::format("sweep-take {} {}",
                              ImGui::GetIO().KeyShift ? sides.front() : sides.back(), i));
    if (!ImGui::IsItemHovered()) continue;
    ImGui::GetWindowDrawList()->AddRectFilled(box.min, box.max, faded(theme.accent, 0.12F),
                                              theme.px(3));
    if (ImGui::IsItemHovered()) draw_card(context, metric, i);
  }
}

std::vector<program::Config> present_configs(const Workspace& workspace) {
  std::vector<program::Config> configs;
  if (labelled_configs(workspace).size() < 2) return configs;  // one run needs no letter
  for (const auto& [label, config] : labelled_configs(workspace)) configs.push_back(config);
  return configs;
}

// Which curve is whose, where there are two.
void draw_legend(const Theme& theme, const SweepModel& model, const Box& box) {
  if (model.sides().size() < 2) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  float x = box.min.x + theme.px(92);  // below the chart: the knob's name stands to the right
  const float y = box.max.y - theme.px(12);
  for (std::size_t i = 0; i < model.sides().size(); ++i) {
    const Color color = side_color(theme, i);
    draw->AddLine({x, y}, {x + theme.px(26), y}, color, theme.px(2));
    draw->AddCircleFilled({x + theme.px(13), y}, theme.px(4), color);
    if (i > 0) draw->AddCircleFilled({x + theme.px(13), y}, theme.px(2.4F), theme.panel);
    x += theme.px(34);
    x += draw_side_mark(draw, theme, {x, y}, static_cast<char>('A' + i), i == 0) + theme.px(18);
  }
}

void draw_chart(const PanelContext& context, const SweepPanel& panel, const Box& box) {
  const Theme& theme = context.theme;
  const SweepModel& model = context.workspace.sweep;
  const Sweep& sweep = *model.sweep();
  const analysis::Metric* metric = metric_of(panel.form, sweep);
  if (!metric || box.height() < theme.px(86) || box.width() < theme.px(200)) {
    ImGui::Dummy({box.width(), std::max(box.height(), 1.0F)});
    return;
  }
  SweepLook look;
  look.titled = false;
  look.present = present_sides(sweep, present_configs(context.workspace));
  if (sweep.axes.size() == 1) {
    point_items(context, *metric, paint_sweep_lines(theme, box, sweep, *metric, look));
    return draw_legend(theme, model, box);
  }
  const std::size_t count = model.sides().size();
  const float gap = theme.px(16);
  const float wide = (box.width() + gap) / static_cast<float>(count) - gap;
  for (std::size_t side = 0; side < count; ++side) {
    const float left = box.min.x + static_cast<float>(side) * (wide + gap);
    SweepLook own = look;
    own.titled = count > 1;
    if (count > 1)
      std::erase_if(own.present, [&](const PresentSide& one) {
        return one.letter != static_cast<char>('A' + side);
      });
    ImGui::PushID(static_cast<int>(side));
    point_items(context, *metric,
                paint_sweep_map(theme, {{left, box.min.y}, {left + wide, box.max.y}}, sweep,
                                *metric, side, own));
    ImGui::PopID();
  }
}

void draw_empty(const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  if (room.y < theme.px(30)) return;
  const char* words = "Each value is one run, on all cores; points appear as they come.";
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, at.x + room.x / 2,
                   at.y + room.y / 2, theme.faint,
                   shortened(theme.font.text, theme.size.small, words, room.x), 0.5F);
}

void draw_body(const PanelContext& context, SweepPanel& panel) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const SweepModel& model = workspace.sweep;
  if (panel.editing) {
    if (draw_sweep_fields(context, panel)) try_start(workspace, panel);
  } else {
    draw_summary_line(context, panel);
  }
  draw_progress(context, model);
  draw_notes(context, panel);
  if (!model.sweep()) return draw_empty(theme);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  draw_chart(context, panel, {at, {at.x + room.x, at.y + room.y}});
}

}  // namespace

SweepForm sweep_form_for(const Workspace& workspace, const std::string& name) {
  SweepForm form;
  const program::Knob* knob = program::find_knob_or_null(name);
  if (!knob) return form;
  std::vector<program::Value> now;
  for (const SideModel& side : workspace.sides()) now.push_back(side.config.value(name));
  form.knob = name;
  form.values = suggested_values(*knob, now);
  return form;
}

std::string knob_to_sweep(const Workspace& workspace, const Attention& attention) {
  if (!attention.pointed_knob.empty()) return attention.pointed_knob;
  if (!attention.lit_knob.empty()) return attention.lit_knob;
  if (const LessonModel* lesson = workspace.lesson()) {
    if (lesson->lesson.sweep) return lesson->lesson.sweep->axis.knob->name;
    if (!lesson->lesson.knobs.empty()) return lesson->lesson.knobs.front();
  }
  const auto& sides = workspace.sides();
  if (sides.size() == 2) {
    const auto differing = program::differing_knobs(sides[0].config, sides[1].config);
    if (!differing.empty()) return differing.front();
  }
  return "batch_size";
}

void begin_sweep(Workspace& workspace, SweepPanel& panel, const std::string& knob) {
  panel.form = sweep_form_for(workspace, knob);
  panel.begun = panel.editing = panel.asked = true;
  try_start(workspace, panel);
}

void draw_sweep_panel(const PanelContext& context, SweepPanel& panel, const char* name,
                      const char* beside, bool* open) {
  const Theme& theme = context.theme;
  follow(context.workspace, context.attention, panel);
  PanelOptions options = chart_panel(beside, open, progress_of(context.workspace.sweep));
  if (begin_panel(context, name, options)) {
    ImGui::SetCursorPos({theme.size.pad, theme.px(8)});
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), theme.px(5)));
    ImGui::BeginChild("##sweep", {room.x - theme.size.pad, room.y}, ImGuiChildFlags_NavFlattened);
    draw_body(context, panel);
    ImGui::EndChild();
    ImGui::PopStyleVar();
  }
  end_panel();
}

}  // namespace trainscope::ui
