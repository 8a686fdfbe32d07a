#include "ui/panels/comparison/runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "program/idle_knobs.h"
#include "program/shown_knob.h"
#include "report/comparison.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/metric_line.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

constexpr std::size_t kMostLanes = 4;  // of one run

struct Shown {
  std::string name;  // "A", "1"
  RunPointer run;
  TraceView view;
  std::optional<std::size_t> kept;  // its number among those
};

std::vector<Shown> shown_runs(const Workspace& workspace) {
  std::vector<Shown> list;
  for (const SideModel& side : workspace.sides())
    if (side.run && side.view) list.push_back({side.label, side.run, side.view, std::nullopt});
  for (std::size_t i = 0; i < workspace.kept.all().size(); ++i) {
    const KeptRun& kept = workspace.kept.all()[i];
    list.push_back({kept.name, kept.run, kept.view, i});
  }
  return list;
}

std::string knob_words(const std::vector<std::string>& names, const program::Config& config) {
  std::string words;
  for (const std::string& name : names)
    add_to_list(words, name + " = " + program::shown_knob(config, name));
  return words;
}

// In which any of them stands otherwise than the first.
std::vector<std::string> knobs_that_differ(const std::vector<Shown>& all) {
  std::vector<std::string> names;
  for (const Shown& one : all) {
    if (!one.run->program) continue;
    for (std::string& name : program::differing_knobs(all.front().run->config, one.run->config))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// The knobs in which it stands otherwise than A; of A those in which others do.
std::string words_of(const Shown& shown, const std::vector<Shown>& all) {
  if (!shown.run->program) return shown.run->trace->origin().subject;
  const program::Config &first = all.front().run->config, &own = shown.run->config;
  if (&shown == &all.front()) return knob_words(knobs_that_differ(all), own);
  std::vector<std::string> names = program::differing_knobs(first, own);
  std::erase_if(names,
                [&](const std::string& name) { return !program::idle_because(own, name).empty(); });
  const std::string words = knob_words(names, own);
  return words.empty() ? "as A" : words;
}

// The few lanes that tell most: the training thread, copies, streams; the busiest of each first.
std::vector<trace::LaneId> lanes_shown(const IndexedTrace& view, std::size_t most) {
  using trace::LaneKind;
  std::vector<trace::LaneId> chosen;
  for (const LaneKind kind : {LaneKind::kHostThread, LaneKind::kStream, LaneKind::kCopyEngine,
                              LaneKind::kStream, LaneKind::kLoader}) {
    const trace::LaneIndex* best = nullptr;
    for (const trace::LaneIndex& lane : view.index.lanes) {
      if (view.trace->lanes()[lane.lane].kind != kind || lane.span_count == 0) continue;
      if (std::find(chosen.begin(), chosen.end(), lane.lane) != chosen.end()) continue;
      if (!best || lane.span_count > best->span_count) best = &lane;
    }
    if (best && chosen.size() < most) chosen.push_back(best->lane);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

TimelineLayout laid_out(const Shown& shown, Nanos end, const Box& box,
                        const std::vector<trace::LaneId>& lanes) {
  const IndexedTrace& view = *shown.view;
  LayoutRequest request;
  request.view_end = end;
  request.width = box.width();
  request.lane_height = request.row_height =
      box.height() / static_cast<float>(std::max<std::size_t>(lanes.size(), 1));
  request.group_height = 0;
  request.min_bar = 1.5F;
  for (std::uint32_t lane = 0; lane < view.trace->lanes().size(); ++lane) {
    if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end())
      request.hidden.push_back(lane);
    else
      request.collapsed.push_back(lane);
  }
  return lay_out(*view.trace, view.index, view.draw, request);
}

void paint_timeline(const Theme& theme, const Shown& shown, Nanos end, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, theme.lane_tone, theme.px(3));
  const auto most = static_cast<std::size_t>(
      std::clamp(box.height() / theme.px(8), 1.0F, static_cast<float>(kMostLanes)));
  const auto lanes = lanes_shown(*shown.view, most);
  const TimelineLayout layout = laid_out(shown, end, box, lanes);
  if (layout.height <= 0) return;
  const float tall = box.height() / layout.height;  // headings have no place here
  draw->PushClipRect(box.min, box.max, true);
  for (const Bar& bar : layout.bars) {
    const float top = box.min.y + bar.y * tall;
    const float bottom = box.min.y + (bar.y + bar.height) * tall;
    draw_solid(draw, theme,
               {{box.min.x + bar.x, top},
                {box.min.x + bar.x + std::max(bar.width, 1.0F), std::max(bottom, top + 1)}},
               theme.of(bar.category));
  }
  draw->PopClipRect();
}

const analysis::Metric& metric_of(const RunsPanel& panel, const std::vector<Shown>& shown) {
  if (!panel.metric.empty()) return analysis::find_metric(panel.metric);
  const bool stepped = std::all_of(shown.begin(), shown.end(), [](const Shown& one) {
    return analysis::value_of(one.run->metrics, "time.step").has_value();
  });
  return analysis::find_metric(stepped ? "time.step" : "time.total");
}

void metric_choice(const Theme& theme, RunsPanel& panel, const std::vector<Shown>& shown,
                   float width) {
  const analysis::Metric& now = metric_of(panel, shown);
  ImGui::PushFont(theme.font.text, theme.size.label);
  ImGui::SetNextItemWidth(width);
  if (begin_list(theme, "##metric", now.label)) {
    for (const analysis::Metric& metric : analysis::metrics()) {
      const bool any = std::any_of(shown.begin(), shown.end(), [&](const Shown& one) {
        return analysis::value_of(one.run->metrics, metric.name).has_value();
      });
      if (any && metric_line(metric, &metric == &now)) panel.metric = metric.name;
    }
    ImGui::EndCombo();
  }
  ImGui::PopFont();
}

struct Places {
  float name, line, line_end, figure, end;  // x, from the left
};

void draw_name(const Theme& theme, const Shown& shown, const std::string& words, float x,
               float right, float middle) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (shown.kept) {
    const float r = theme.px(10);
    draw->AddRect({x, middle - r + theme.px(1)}, {x + 2.4F * r, middle + r - theme.px(1)},
                  theme.muted, theme.px(4), theme.size.border);
    draw_text_middle(draw, theme.font.strong, theme.size.label, x + 1.2F * r, middle, theme.text,
                     shown.name, 0.5F);
  } else {
    draw_side_mark(draw, theme, {x, middle}, shown.name[0], shown.name == "A");
  }
  const float after = x + theme.px(32);
  draw_text_middle(
      draw, theme.font.mono, theme.size.label, after, middle, theme.muted,
      shortened(theme.font.mono, theme.size.label, words, right - after - theme.px(8)));
}

// Click: B takes its knobs. The cross puts it away.
void kept_controls(const PanelContext& context, const Shown& shown, const Box& row, float end) {
  const Theme& theme = context.theme;
  const float size = theme.px(18);
  ImGui::PushID(shown.name.c_str());
  ImGui::SetCursorScreenPos({end - size, row.centre().y - size / 2});
  if (press_area("drop", {size, size})) context.ask(fmt::format("runs-drop {}", *shown.kept));
  const bool lit = ImGui::IsItemHovered();
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) ImGui::SetTooltip("Keep it no longer");
  const ImVec2 middle{end - size / 2, row.centre().y};
  const float arm = theme.px(4);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = lit ? theme.text : theme.faint;
  draw->AddLine({middle.x - arm, middle.y - arm}, {middle.x + arm, middle.y + arm}, color,
                theme.px(1.3F));
  draw->AddLine({middle.x - arm, middle.y + arm}, {middle.x + arm, middle.y - arm}, color,
                theme.px(1.3F));
  ImGui::SetCursorScreenPos(row.min);
  if (press_area("take", {end - size - theme.px(6) - row.min.x, row.height()}) &&
      context.workspace.knobs_free())
    context.ask(fmt::format("runs-take {}", *shown.kept));
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip(context.workspace.sides().size() == 2 ? "Click: B takes its knobs"
                                                            : "Click: take its knobs");
  ImGui::PopID();
}

void draw_axis(const Theme& theme, const Places& places, float y, float bottom, Nanos end) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float width = places.line_end - places.line;
  float free_from = 0;
  for (const Tick& tick : axis_ticks(0, end, width, theme.px(100))) {
    if (!tick.major) continue;
    const float x = places.line + tick.x;
    draw->AddLine({x, y + theme.px(18)}, {x, bottom}, theme.grid());
    const float wide = text_size(theme.font.mono, theme.size.label, tick.label).x;
    if (x < free_from || x + wide > places.line_end) continue;
    draw_text_middle(draw, theme.font.mono, theme.size.label, x, y + theme.px(8), theme.faint,
                     tick.label);
    free_from = x + wide + theme.px(12);
  }
}

void draw_body(const PanelContext& context, RunsPanel& panel) {
  const Theme& theme = context.theme;
  const std::vector<Shown> shown = shown_runs(context.workspace);
  const Box room = padded_room(theme, theme.px(6), theme.px(6));
  if (shown.empty() || room.width() < theme.px(320)) return;
  Places places{};
  places.name = room.min.x;
  places.line = room.min.x + std::clamp(room.width() * 0.26F, theme.px(120), theme.px(420));
  places.end = room.max.x;
  places.figure = places.end - theme.px(26);
  places.line_end = places.figure - theme.px(110);
  ImGui::SetCursorScreenPos({places.line_end + theme.px(10), room.min.y});
  metric_choice(theme, panel, shown, places.end - places.line_end - theme.px(10));
  Nanos end = 1;
  for (const Shown& one : shown) end = std::max(end, one.view->trace->end());
  const float top = room.min.y + theme.px(28);
  const float each = std::min((room.max.y - top) / static_cast<float>(shown.size()), theme.px(64));
  draw_axis(theme, places, room.min.y + theme.px(8), top + each * static_cast<float>(shown.size()),
            end);
  const analysis::Metric& metric = metric_of(panel, shown);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Shown& one = shown[i];
    const float y = top + each * static_cast<float>(i), middle = y + each / 2;
    draw_name(theme, one, words_of(one, shown), places.name, places.line, middle);
    const float gap = std::min(theme.px(3), each * 0.1F);
    paint_timeline(theme, one, end, {{places.line, y + gap}, {places.line_end, y + each - gap}});
    const auto value = analysis::value_of(one.run->metrics, metric.name);
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.mono, theme.size.label, places.figure,
                     middle, theme.text, value ? report::shown(*one.run, metric, *value) : "-", 1);
    if (one.kept)
      kept_controls(context, one, {{places.name, y}, {places.end, y + each}}, places.end);
  }
}

std::string head_words(const Workspace& workspace) {
  if (workspace.kept.all().empty()) return "K keeps B's run, Shift+K A's";
  return fmt::format("{} of {} kept", workspace.kept.all().size(), KeptRuns::kMost);
}

}  // namespace

bool has_runs(const Workspace& workspace) {
  return workspace.revealed() && !workspace.hides("runs") && !workspace.hides("timeline") &&
         !shown_runs(workspace).empty();
}

void draw_runs(const PanelContext& context, RunsPanel& panel, const char* name, const char* beside,
               bool* open) {
  const PanelOptions options = chart_panel(beside, open, head_words(context.workspace));
  if (begin_panel(context, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
