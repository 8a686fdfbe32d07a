#include "ui/panels/charts/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "train/settings/loss_target.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/window/controls.h"
#include "ui/panels/window/running.h"

namespace trainscope::ui {
namespace {

using analysis::LossCurve;

// What the side's training is to reach: the finished run's, else what the knobs say.
program::LossTarget target_of(const SideModel& side) {
  const bool finished = side.run && side.run->trace == side.view->trace;
  if (!finished) return train::loss_target(side.config);
  return side.run->program ? side.run->program->target : program::LossTarget{};
}

const LossCurve* curve_of(LossPanel::Read& read, const SideModel& side, const trace::Trace* trace) {
  if (!trace) return nullptr;
  const std::uint32_t steps = trace->steps().size(), tried = trace->evaluations().size();
  const program::LossTarget target = target_of(side);
  if (read.trace.get() != trace || read.steps != steps || read.evaluations != tried ||
      read.target != target) {
    read.trace = side.view->trace;
    read.steps = steps;
    read.evaluations = tried;
    read.target = target;
    read.curve = analysis::loss_curve(*trace, target);
  }
  return read.curve.empty() ? nullptr : &read.curve;
}

std::vector<ShownLoss> shown_sides(const Workspace& workspace, LossPanel& panel) {
  std::vector<ShownLoss> shown;
  for (std::size_t i = 0; i < workspace.sides().size(); ++i) {
    const LossCurve* curve =
        curve_of(panel.sides[i], workspace.sides()[i], shown_trace(workspace, i, "loss"));
    const Nanos playhead = playhead_of(workspace, i);
    if (curve) shown.push_back({i, curve, playhead, curve->step_at(playhead)});
  }
  return shown;
}

// ---- The figures beside it ---------------------------------------------------------------------

struct Figure {
  std::string name, value;
  Color color;
};

// How soon it gets to its target, in time and in steps.
void add_target(const Theme& theme, const LossCurve& curve, std::vector<Figure>& rows) {
  if (curve.target <= 0) return;
  const std::string to = " to " + loss_words(curve.target);
  if (!curve.reached) {
    rows.push_back({"time" + to, "not reached", theme.muted});
    return;
  }
  const auto time = static_cast<double>(curve.reached_after);
  rows.push_back({"time" + to, format_nanos(time), theme.text});
  rows.push_back({"steps" + to, std::to_string(*curve.reached + 1), theme.text});
}

std::vector<Figure> figures_of(const Theme& theme, const ShownLoss& one) {
  const LossCurve& curve = *one.curve;
  std::vector<Figure> rows;
  add_target(theme, curve, rows);
  if (one.step)
    rows.push_back(
        {fmt::format("loss, step {}", *one.step), loss_at(curve, *one.step), theme.text});
  if (!curve.loss.empty() && curve.computed) {
    const std::size_t last = curve.loss.size() - 1;
    const std::string words = loss_at(curve, last);
    rows.push_back({"last loss", words, words == "NaN" ? theme.bad : theme.text});
  }
  if (!curve.accuracy.empty())
    rows.push_back(
        {"accuracy", fmt::format("{:.1f} %", 100 * curve.accuracy.back().share), theme.good});
  if (!curve.skipped.empty())
    rows.push_back(
        {"skipped", fmt::format("{} of {}", curve.skipped.size(), curve.loss.size()), theme.bad});
  return rows;
}

// A short piece of the side's line.
void draw_sample(const Theme& theme, ImVec2 left_middle, std::size_t side) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Pen pen = side_pen(theme, side);
  const float thick = theme.px(pen.thickness);
  const ImVec2 end{left_middle.x + theme.px(26), left_middle.y};
  draw->AddLine(left_middle, end, pen.color, pen.solid ? thick : thick * 1.8F);
  if (!pen.solid) draw->AddLine(left_middle, end, pen.ground, thick * 0.65F);
}

// Of two lines each has its side's title beside it.
std::string line_words(const std::vector<ShownLoss>& shown, const ShownLoss& one) {
  if (one.curve->window > 1) return fmt::format("mean of {}", one.curve->window);
  return shown.size() == 1 ? "loss" : "";
}

void draw_figures(const PanelContext& context, const std::vector<ShownLoss>& shown,
                  const Box& box) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float row_height = theme.px(21), head_height = theme.px(34);
  const float share = box.height() / static_cast<float>(shown.size());
  const auto most = static_cast<std::size_t>(std::max(1.0F, (share - head_height) / row_height));
  float y = box.min.y;
  for (const ShownLoss& one : shown) {
    std::vector<Figure> rows = figures_of(theme, one);
    rows.resize(std::min(rows.size(), most));
    const float head = y + theme.px(11);
    const float x = draw_side_title(theme, context.workspace, one.side, {box.min.x, head});
    draw_sample(theme, {x, head}, one.side);
    draw_text_middle(draw, theme.font.text, theme.size.label, x + theme.px(34), head, theme.muted,
                     shortened(theme.font.text, theme.size.label, line_words(shown, one),
                               box.max.x - x - theme.px(34)));
    y += head_height;
    for (const Figure& row : rows) {
      const float value = text_size(theme.font.mono, theme.size.mono, row.value).x;
      draw_text_middle(draw, theme.font.text, theme.size.small, box.min.x, y, theme.muted,
                       shortened(theme.font.text, theme.size.small, row.name,
                                 box.width() - value - theme.px(8)));
      draw_text_middle(draw, theme.font.mono, theme.size.mono, box.max.x, y, row.color, row.value,
                       1);
      y += row_height;
    }
    y += std::min(theme.px(10), share * 0.05F);
  }
}

// Where there is no room beside the chart: one line above it.
void draw_figure_line(const PanelContext& context, const std::vector<ShownLoss>& shown,
                      const Box& line) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  float x = line.min.x;
  const float middle = line.centre().y;
  for (const ShownLoss& one : shown) {
    x = draw_side_title(theme, context.workspace, one.side, {x, middle});
    draw_sample(theme, {x, middle}, one.side);
    x += theme.px(34);
    for (const Figure& row : figures_of(theme, one)) {
      if (row.name == "last loss") continue;
      const std::string words = row.name + ": " + row.value;
      const float width = text_size(theme.font.text, theme.size.small, words).x;
      if (x + width > line.max.x) break;
      draw_text_middle(draw, theme.font.text, theme.size.small, x, middle, theme.muted, words);
      x += width + theme.px(14);
    }
    x += theme.px(10);
  }
}

// "logarithmic", with its switch, to the right of the line.
void draw_switch(const Theme& theme, LossPanel& panel, ImVec2 right_middle) {
  const char* words = "log scale";
  const float width = text_size(theme.font.text, theme.size.small, words).x;
  ImGui::SetCursorScreenPos({right_middle.x - theme.px(38), right_middle.y - theme.px(10)});
  toggle_switch(theme, "##log", panel.chart.logarithmic);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small,
                   right_middle.x - theme.px(46) - width, right_middle.y, theme.muted, words);
}

// Instead of a chart: whose losses are to come, and how far they are.
void draw_coming(const PanelContext& context, const Box& room) {
  const Theme& theme = context.theme;
  std::string words;
  for (const SideModel& side : context.workspace.sides())
    if (is_training(side))
      words += (words.empty() ? "" : "   ") + side.label + ": " + progress_words(side);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.text, room.centre().x,
                   room.centre().y, theme.muted,
                   shortened(theme.font.text, theme.size.text, words, room.width()), 0.5F);
}

void draw_body(const PanelContext& context, LossPanel& panel) {
  const Theme& theme = context.theme;
  const std::vector<ShownLoss> shown = shown_sides(context.workspace, panel);
  const Box room = padded_room(theme, theme.px(8), theme.px(2));
  if (shown.empty()) return draw_coming(context, room);
  if (room.width() < theme.px(120) || room.height() < theme.px(60)) return;
  const bool beside = room.width() > theme.px(620);
  const float line = theme.px(24);
  const float column = beside ? theme.px(206) : 0;
  const Box chart{{room.min.x, room.min.y + (beside ? 0 : line)},
                  {room.max.x - column, room.max.y}};
  draw_loss_chart(context, panel.chart, shown, chart);
  const ImVec2 corner{room.max.x, room.min.y + theme.px(11)};
  draw_switch(theme, panel, corner);
  if (beside)
    draw_figures(context, shown,
                 {{chart.max.x + theme.px(14), room.min.y + theme.px(32)}, room.max});
  else
    draw_figure_line(context, shown,
                     {room.min, {room.max.x - theme.px(126), room.min.y + theme.px(22)}});
}

// What is along x, in the panel's head.
float axis_width(const Theme& theme) {
  return theme.px(136);
}

void draw_axis_choice(const PanelContext& context, LossPanel& panel) {
  static const std::vector<std::string> kWords = {"steps", "time"};
  const Theme& theme = context.theme;
  const std::vector<ShownLoss> shown = shown_sides(context.workspace, panel);
  if (shown.empty()) return;
  const ImVec2 at = ImGui::GetWindowPos();
  const float width = axis_width(theme) - theme.px(16);
  ImGui::SetCursorScreenPos({at.x + ImGui::GetWindowWidth() - theme.px(38) - width,
                             at.y + (theme.size.head - theme.px(22)) / 2});
  std::string chosen = kWords[panel.chart.is_over_time(shown) ? 1 : 0];
  if (segments(theme, "##axis", width, kWords, kWords, chosen))
    panel.chart.over_time = chosen == kWords[1];
}

// What the chart says of the two in a few words, for the panel's head.
std::string head_words(const Workspace& workspace) {
  const SideModel& side = workspace.sides().front();
  if (workspace.sides().size() > 1 || !side.config.is_set("model.name")) return "";
  return side.config.word("model.name") + ", " + side.config.word("optimizer.name");
}

}  // namespace

void draw_loss(const PanelContext& context, LossPanel& panel, const char* name, const char* beside,
               bool* open) {
  PanelOptions options = chart_panel(beside, open, head_words(context.workspace));
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  const bool roomy = window && window->Size.x > 2.6F * axis_width(context.theme);
  options.kept_free = roomy ? axis_width(context.theme) : 0;
  if (begin_panel(context, name, options)) draw_body(context, panel);
  ImGui::EndChild();
  if (roomy) draw_axis_choice(context, panel);
  ImGui::End();
}

}  // namespace trainscope::ui
