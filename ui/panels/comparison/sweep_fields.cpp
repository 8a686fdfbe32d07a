#include "ui/panels/comparison/sweep_fields.h"

#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <cctype>

#include "ui/panels/comparison/metric_line.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using program::Knob;

bool contains(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

// The next field stands beside the last one where it has room, else on a line of its own.
void flow(const Theme& theme, float width) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  if (ImGui::GetItemRectMax().x + theme.px(8) + width <= right) ImGui::SameLine(0, theme.px(8));
}

void word(const Theme& theme, const char* words) {
  line_words(theme, theme.font.text, theme.muted, words);
  ImGui::SameLine(0, theme.px(8));
}

// A list of knobs with a line to search in. `none`: what stands for no knob at all, or null.
bool knob_list(const PanelContext& context, SweepPanel& panel, const char* id, float width,
               std::string& knob, const char* none) {
  const Theme& theme = context.theme;
  bool changed = false;
  ImGui::SetNextItemWidth(width);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {theme.px(420), theme.px(380)});
  ImGui::PushFont(theme.font.mono, theme.size.label);
  const std::string shown = knob.empty() && none ? none : knob;
  if (begin_list(theme, id, shown)) {
    if (ImGui::IsWindowAppearing()) {
      panel.search.clear();
      ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##search", "Search", &panel.search);
    const auto line = [&](const char* label, const std::string& value) {
      if (!ImGui::Selectable(label, value == knob)) return;
      knob = value;
      changed = true;
    };
    if (none && panel.search.empty()) line(none, "");
    for (const Knob& one : program::knobs())
      if (contains(one.name + " " + one.help, panel.search)) line(one.name.c_str(), one.name);
    ImGui::EndCombo();
  }
  ImGui::PopFont();
  return changed;
}

// Wide enough for what it holds, as far as a line goes.
float width_for(const Theme& theme, const std::string& values) {
  const float line = ImGui::GetWindowWidth() - theme.px(80);
  const float wanted = text_size(theme.font.mono, theme.size.label, values).x + theme.px(30);
  const float least = theme.px(136);  // for what stands in the empty field
  return std::clamp(wanted, least, std::max(line, least));
}

bool values_field(const Theme& theme, const char* id, float width, std::string& values) {
  ImGui::PushFont(theme.font.mono, theme.size.label);
  ImGui::SetNextItemWidth(width);
  const bool entered = ImGui::InputTextWithHint(id, "1, 2, 4 or 1..64:x2", &values,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip(
        "Values with commas, or a range: 1..64 doubles, 1..64:x4 multiplies by 4, "
        "8..64:+8 adds 8.");
  return entered;
}

// The metrics that the runs have; before there are any, all.
std::vector<const analysis::Metric*> metrics_to_choose(const Workspace& workspace) {
  std::vector<const analysis::Metric*> list;
  if (workspace.sweep.sweep()) list = scenario::metrics_of(*workspace.sweep.sweep());
  if (!list.empty()) return list;
  for (const analysis::Metric& metric : analysis::metrics()) list.push_back(&metric);
  return list;
}

void metric_list(const PanelContext& context, SweepPanel& panel, float width) {
  const Theme& theme = context.theme;
  const auto& sweep = context.workspace.sweep.sweep();
  const analysis::Metric* now = sweep ? metric_of(panel.form, *sweep) : nullptr;
  if (!panel.form.metric.empty()) now = &analysis::find_metric(panel.form.metric);
  ImGui::SetNextItemWidth(width);
  ImGui::PushFont(theme.font.text, theme.size.label);
  if (begin_list(theme, "##metric", now ? now->label : "what tells most")) {
    for (const analysis::Metric* metric : metrics_to_choose(context.workspace))
      if (metric_line(*metric, metric == now)) panel.form.metric = metric->name;
    ImGui::EndCombo();
  }
  ImGui::PopFont();
}

}  // namespace

void line_words(const Theme& theme, ImFont* font, Color color, const std::string& words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text_middle(ImGui::GetWindowDrawList(), font, theme.size.small, at.x,
                   at.y + theme.size.button / 2, color, words);
  ImGui::Dummy({text_size(font, theme.size.small, words).x, theme.size.button});
}

bool draw_sweep_fields(const PanelContext& context, SweepPanel& panel) {
  const Theme& theme = context.theme;
  const float above = (theme.size.button - theme.size.label) / 2;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(theme.px(10), above));
  const float knob = theme.px(188), metric = theme.px(190);
  const auto words = [&](const char* text_of) {
    return text_size(theme.font.text, theme.size.small, text_of).x + theme.px(8);
  };
  bool start = false;
  word(theme, "Vary");
  if (knob_list(context, panel, "##knob", knob, panel.form.knob, nullptr))
    panel.form.values = sweep_form_for(context.workspace, panel.form.knob).values;
  float values = width_for(theme, panel.form.values);
  flow(theme, words("over") + values);
  word(theme, "over");
  start |= values_field(theme, "##values", values, panel.form.values);
  flow(theme, words("and") + knob);
  word(theme, "and");
  if (knob_list(context, panel, "##second", knob, panel.form.second_knob, "nothing else"))
    panel.form.second_values =
        panel.form.second_knob.empty()
            ? ""
            : sweep_form_for(context.workspace, panel.form.second_knob).values;
  if (!panel.form.second_knob.empty()) {
    values = width_for(theme, panel.form.second_values);
    flow(theme, words("over") + values);
    word(theme, "over");
    start |= values_field(theme, "##second values", values, panel.form.second_values);
  }
  flow(theme, words("show") + metric);
  word(theme, "show");
  metric_list(context, panel, metric);
  flow(theme, theme.px(90));
  start |= button(theme, "Sweep", ButtonKind::kPrimary);
  ImGui::PopStyleVar();
  return start && !panel.form.knob.empty();
}

}  // namespace trainscope::ui
