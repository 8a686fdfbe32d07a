#include "ui/panels/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/panels/controls.h"
#include "ui/panels/line_flags.h"
#include "ui/panels/running.h"
#include "ui/panels/side_data.h"

namespace trainscope::ui {
namespace {

using analysis::LossCurve;

// A side that has something to draw.
struct Shown {
  std::size_t side;
  const LossCurve* curve;
  std::optional<std::size_t> step;  // at the playhead
};

const LossCurve* curve_of(LossPanel::Read& read, const SideModel& side, const trace::Trace* trace) {
  if (!trace) return nullptr;
  const std::uint32_t steps = trace->steps().size(), tried = trace->evaluations().size();
  if (read.trace.get() != trace || read.steps != steps || read.evaluations != tried) {
    read.trace = side.view->trace;
    read.steps = steps;
    read.evaluations = tried;
    read.curve = analysis::loss_curve(*trace);
  }
  return read.curve.empty() ? nullptr : &read.curve;
}

std::vector<Shown> shown_sides(const Workspace& workspace, LossPanel& panel) {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < workspace.sides().size(); ++i) {
    const LossCurve* curve =
        curve_of(panel.sides[i], workspace.sides()[i], shown_trace(workspace, i, "loss"));
    if (curve) shown.push_back({i, curve, curve->step_at(workspace.playhead_of(i))});
  }
  return shown;
}

std::string loss_words(double loss) {
  return fmt::format("{:.3g}", loss);
}

std::string loss_at(const LossCurve& curve, std::size_t step) {
  if (step >= curve.loss.size()) return "";
  if (!std::isnan(curve.loss[step])) return loss_words(curve.loss[step]);
  const bool after = curve.diverged && std::cmp_greater_equal(step, *curve.diverged);
  return after ? "NaN" : "not computed";
}

bool is_skipped(const LossCurve& curve, std::size_t step) {
  return std::binary_search(curve.skipped.begin(), curve.skipped.end(),
                            static_cast<std::int64_t>(step));
}

// ---- The chart ---------------------------------------------------------------------------------

ChartOptions axes_of(const std::vector<Shown>& shown, bool logarithmic) {
  // Many times the first loss says no more than that it has diverged, and hides the rest.
  constexpr double kFirsts = 3;
  double least = 1e300, most = -1e300, positive = 1e300, first = 0;
  ChartOptions options;
  for (const Shown& one : shown) {
    options.share_right |= !one.curve->accuracy.empty();
    if (!one.curve->computed) continue;
    least = std::min(least, one.curve->least);
    most = std::max(most, one.curve->most);
    first = std::max(first, one.curve->first);
    if (one.curve->least_positive > 0) positive = std::min(positive, one.curve->least_positive);
  }
  if (least > most) least = 0, most = 1;
  options.logarithmic = logarithmic && positive < 1e300 && most > positive;
  if (options.logarithmic) {
    options.y_from = std::pow(10, std::floor(std::log10(positive * 0.999)));
    options.y_to = most * 1.3;
    return options;
  }
  if (first > 0) most = std::min(most, kFirsts * first);
  options.y_from = std::min(least, 0.0);
  options.y_to = most + std::max(most - options.y_from, 1e-9) * 0.12;
  return options;
}

// The last one in words, to its left: it is where the run ends.
std::string accuracy_words(const LossCurve& curve) {
  return fmt::format("{:.1f} %", 100 * curve.accuracy.back().share);
}

void draw_accuracy(const Theme& theme, const Shown& one) {
  ImPlot::SetAxes(ImAxis_X1, ImAxis_Y2);
  ImPlot::PushPlotClipRect(theme.px(8));
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  const float r = theme.px(4.5F);
  ImVec2 last;
  for (std::size_t i = 0; i < one.curve->accuracy.size(); ++i) {
    const auto& tried = one.curve->accuracy[i];
    const ImVec2 at = ImPlot::PlotToPixels(static_cast<double>(tried.step) - 1, 100 * tried.share);
    if (i > 0) draw->AddLine(last, at, faded(theme.good, 0.55F), theme.px(1.2F));
    last = at;
    const ImVec2 corners[] = {
        {at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}};
    draw->AddConvexPolyFilled(corners, 4, one.side == 0 ? theme.good : theme.panel);
    draw->AddPolyline(corners, 4, theme.good, theme.px(1.5F), ImDrawFlags_Closed);
  }
  const std::string words = accuracy_words(*one.curve);
  draw_text_middle(draw, theme.font.text, theme.size.label, last.x - r - theme.px(5), last.y,
                   theme.good, words, 1);
  ImPlot::PopPlotClipRect();
  ImPlot::SetAxes(ImAxis_X1, ImAxis_Y1);
}

constexpr float kWordRow = 20;  // at the chart's top, a row a side

// From where on the loss is no number; hatched when there is nothing else to see.
void draw_divergence(const Theme& theme, const Shown& one, bool pair, bool alone, int row) {
  if (!one.curve->diverged) return;
  const auto from = static_cast<double>(*one.curve->diverged);
  const Box box = chart_box();
  const float left = std::max(ImPlot::PlotToPixels(from, 1).x, box.min.x);
  ImPlot::PushPlotClipRect();
  if (alone && left < box.max.x)
    draw_hatch(ImPlot::GetPlotDrawList(), {{left, box.min.y}, box.max}, faded(theme.bad, 0.22F),
               theme.px(8), theme.px(1));
  ImPlot::PopPlotClipRect();
  const std::string whose = pair ? (one.side == 0 ? "A: " : "B: ") : "";
  draw_upright(theme, from, theme.bad, 1.5F,
               fmt::format("{}the loss is NaN from step {}", whose, *one.curve->diverged),
               theme.px(static_cast<float>(row) * kWordRow));
}

bool rises(const LossCurve& curve, double top) {
  return !curve.diverged && curve.most > top;
}

// A curve that leaves the chart at its top, and does not end: how far it goes.
void draw_rise(const Theme& theme, const Shown& one, bool pair, double top, int row) {
  if (!rises(*one.curve, top)) return;
  const auto& loss = one.curve->loss;
  const auto above =
      std::find_if(loss.begin(), loss.end(), [top](double value) { return value > top; });
  const Box box = chart_box();
  const float x =
      std::max(ImPlot::PlotToPixels(static_cast<double>(above - loss.begin()), 1).x, box.min.x);
  const std::string whose = pair ? (one.side == 0 ? "A " : "B ") : "";
  const float left = x + theme.px(8);
  draw_text_middle(ImPlot::GetPlotDrawList(), theme.font.text, theme.size.label, left,
                   box.min.y + theme.px(9 + kWordRow * static_cast<float>(row)), theme.bad,
                   shortened(theme.font.text, theme.size.label,
                             fmt::format("{}rises to {}: the log scale shows it", whose,
                                         loss_words(one.curve->most)),
                             box.max.x - left));
}

void draw_curve(const Theme& theme, const Shown& one) {
  const Pen pen = side_pen(theme, one.side);
  const bool smooth = one.curve->window > 1;
  if (smooth) {
    Pen thin = pen;
    thin.solid = true;
    thin.thickness = 1;
    thin.color = faded(pen.color, theme.is_dark() ? 0.34F : 0.40F);
    draw_values(theme, one.curve->loss, thin);
  }
  draw_values(theme, smooth ? one.curve->mean : one.curve->loss, pen);
  draw_marks(theme, one.curve->skipped, theme.bad, one.side == 0);
}

// A curve's pieces near x, with what is drawn on them.
void add_curve(const Theme& theme, std::span<const double> values, float x, float reach,
               std::vector<Box>& taken) {
  const float half = theme.px(2);
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  const auto step_at = [&](float pixel) {
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(ImPlot::PixelsToPlot(pixel, 0).x)), 0,
        std::max<std::int64_t>(last, 0));
  };
  for (std::int64_t step = step_at(x - reach); step <= step_at(x + reach) && step < last; ++step) {
    const double value = values[static_cast<std::size_t>(step)],
                 next = values[static_cast<std::size_t>(step) + 1];
    if (std::isnan(value) || std::isnan(next)) continue;
    const ImVec2 a = ImPlot::PlotToPixels(static_cast<double>(step), value),
                 b = ImPlot::PlotToPixels(static_cast<double>(step) + 1, next);
    // Of a long piece only what is near.
    const float from = std::max(a.x, x - reach), to = std::min(b.x, x + reach);
    const auto y = [&](float at) { return a.y + (b.y - a.y) * (at - a.x) / (b.x - a.x); };
    if (to > from)
      taken.push_back(
          {{from, std::min(y(from), y(to)) - half}, {to, std::max(y(from), y(to)) + half}});
  }
}

void add_accuracy(const Theme& theme, const LossCurve& curve, std::vector<Box>& taken) {
  const float half = theme.px(6);
  ImVec2 at;
  for (const auto& tried : curve.accuracy) {
    at = ImPlot::PlotToPixels(static_cast<double>(tried.step) - 1, 100 * tried.share, ImAxis_X1,
                              ImAxis_Y2);
    taken.push_back({{at.x - half, at.y - half}, {at.x + half, at.y + half}});
  }
  if (curve.accuracy.empty()) return;
  const float width = text_size(theme.font.text, theme.size.label, accuracy_words(curve)).x;
  taken.push_back({{at.x - 2 * half - width, at.y - theme.size.label / 2 - theme.px(2)},
                   {at.x, at.y + theme.size.label / 2 + theme.px(2)}});
}

// What the letters of the playheads should not stand on.
std::vector<Box> drawn_near(const Theme& theme, const std::vector<Shown>& shown,
                            const std::vector<float>& lines, float reach, double top) {
  std::vector<Box> taken;
  const Box box = chart_box();
  for (std::size_t row = 0; row < shown.size(); ++row) {
    const LossCurve& curve = *shown[row].curve;
    const float y = box.min.y + theme.px(kWordRow * static_cast<float>(row));
    if (curve.diverged || rises(curve, top))
      taken.push_back({{box.min.x, y}, {box.max.x, y + theme.px(kWordRow)}});
    add_accuracy(theme, curve, taken);
    for (const float x : lines) {
      add_curve(theme, curve.loss, x, reach, taken);
      if (curve.window > 1) add_curve(theme, curve.mean, x, reach, taken);
    }
  }
  return taken;
}

// With letters where the two sides are at different steps.
void draw_playheads(const Theme& theme, const std::vector<Shown>& shown, double top) {
  const bool same = shown.size() < 2 || shown[0].step == shown[1].step;
  const Box box = chart_box();
  std::vector<float> lines;
  std::vector<const char*> letters;
  for (const Shown& one : shown) {
    if (!one.step || (same && !lines.empty())) continue;
    const auto step = static_cast<double>(*one.step);
    draw_upright(theme, step, theme.accent, 1.4F);
    const float x = std::round(ImPlot::PlotToPixels(step, 1).x);
    if (x < box.min.x - 1 || x > box.max.x + 1) continue;
    lines.push_back(x);
    letters.push_back(one.side == 0 ? "A" : "B");
  }
  if (same) return;
  const ImVec2 size{theme.px(16), theme.px(17)};
  const auto flags = place_flags(box, lines, size, drawn_near(theme, shown, lines, size.x, top));
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  for (std::size_t i = 0; i < flags.size(); ++i) {
    draw->AddRectFilled(flags[i].min, flags[i].max, theme.accent, theme.px(2));
    draw_text_middle(draw, theme.font.strong, theme.size.label, flags[i].centre().x,
                     flags[i].centre().y, theme.accent_text, letters[i], 0.5F);
  }
}

// The side's time at a step: that of A, or of the only one that has a loss.
void move_playhead(const PanelContext& context, const std::vector<Shown>& shown, double step) {
  const LossCurve& curve = *shown.front().curve;
  if (curve.time.empty()) return;
  const double last = static_cast<double>(curve.time.size() - 1);
  const auto at = static_cast<std::size_t>(std::clamp(std::round(step), 0.0, last));
  Workspace& workspace = context.workspace;
  workspace.playhead.time = std::clamp<Nanos>(curve.time[at], 0, workspace.playhead_end());
}

void draw_hover(const Theme& theme, const std::vector<Shown>& shown) {
  if (!ImPlot::IsPlotHovered()) return;
  const double x = std::round(ImPlot::GetPlotMousePos().x);
  std::size_t steps = 0;
  for (const Shown& one : shown) steps = std::max(steps, one.curve->loss.size());
  if (x < 0 || x >= static_cast<double>(steps)) return;
  const auto step = static_cast<std::size_t>(x);
  draw_upright(theme, x, theme.grid(3), 1);
  CardRows rows;
  for (const Shown& one : shown) {
    if (step >= one.curve->loss.size()) continue;
    const std::string whose = shown.size() > 1 ? (one.side == 0 ? "A: " : "B: ") : "";
    rows.emplace_back(whose + "loss", loss_at(*one.curve, step));
    if (one.curve->window > 1 && !std::isnan(one.curve->mean[step]))
      rows.emplace_back(fmt::format("{}mean of {}", whose, one.curve->window),
                        loss_words(one.curve->mean[step]));
    if (is_skipped(*one.curve, step)) rows.emplace_back(whose + "update", "skipped: infinity");
    for (const auto& tried : one.curve->accuracy)
      if (tried.step == static_cast<std::int64_t>(step) + 1)
        rows.emplace_back(whose + "accuracy", fmt::format("{:.1f} %", 100 * tried.share));
  }
  chart_card(theme, fmt::format("step {}", step), rows);
}

void draw_chart(const PanelContext& context, LossPanel& panel, const std::vector<Shown>& shown,
                const Box& box) {
  const Theme& theme = context.theme;
  std::size_t steps = 1;
  for (const Shown& one : shown) steps = std::max(steps, one.curve->loss.size());
  panel.stretch.follow(0, std::max(1.0, static_cast<double>(steps) - 1));
  const ChartOptions options = axes_of(shown, panel.logarithmic);
  if (!begin_chart(theme, "##loss", box, panel.stretch, options)) return;
  name_axis(theme, box, "step");
  int row = 0;
  // Where the other side goes on, nothing may cover it.
  const bool alone = std::all_of(shown.begin(), shown.end(),
                                 [](const Shown& one) { return one.curve->diverged.has_value(); });
  for (const Shown& one : shown) draw_divergence(theme, one, shown.size() > 1, alone, row++);
  for (const Shown& one : shown) draw_curve(theme, one);
  row = 0;
  for (const Shown& one : shown) draw_rise(theme, one, shown.size() > 1, options.y_to, row++);
  for (const Shown& one : shown)
    if (!one.curve->accuracy.empty()) draw_accuracy(theme, one);
  draw_playheads(theme, shown, options.y_to);
  draw_hover(theme, shown);
  if (double step = 0; dragged_to(step)) move_playhead(context, shown, step);
  end_chart();
}

// ---- The figures beside it ---------------------------------------------------------------------

struct Figure {
  std::string name, value;
  Color color;
};

std::vector<Figure> figures_of(const Theme& theme, const Shown& one) {
  const LossCurve& curve = *one.curve;
  std::vector<Figure> rows;
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
std::string line_words(const std::vector<Shown>& shown, const Shown& one) {
  if (one.curve->window > 1) return fmt::format("mean of {}", one.curve->window);
  return shown.size() == 1 ? "loss" : "";
}

void draw_figures(const PanelContext& context, const std::vector<Shown>& shown, const Box& box) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float row_height = theme.px(21), head_height = theme.px(34);
  const float share = box.height() / static_cast<float>(shown.size());
  const auto most = static_cast<std::size_t>(std::max(1.0F, (share - head_height) / row_height));
  float y = box.min.y;
  for (const Shown& one : shown) {
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
void draw_figure_line(const PanelContext& context, const std::vector<Shown>& shown,
                      const Box& line) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  float x = line.min.x;
  const float middle = line.centre().y;
  for (const Shown& one : shown) {
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
  toggle_switch(theme, "##log", panel.logarithmic);
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
  const std::vector<Shown> shown = shown_sides(context.workspace, panel);
  const Box room = padded_room(theme, theme.px(8), theme.px(2));
  if (shown.empty()) return draw_coming(context, room);
  if (room.width() < theme.px(120) || room.height() < theme.px(60)) return;
  const bool beside = room.width() > theme.px(620);
  const float line = theme.px(24);
  const float column = beside ? theme.px(206) : 0;
  const Box chart{{room.min.x, room.min.y + (beside ? 0 : line)},
                  {room.max.x - column, room.max.y}};
  draw_chart(context, panel, shown, chart);
  const ImVec2 corner{room.max.x, room.min.y + theme.px(11)};
  draw_switch(theme, panel, corner);
  if (beside)
    draw_figures(context, shown,
                 {{chart.max.x + theme.px(14), room.min.y + theme.px(32)}, room.max});
  else
    draw_figure_line(context, shown,
                     {room.min, {room.max.x - theme.px(126), room.min.y + theme.px(22)}});
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
  const PanelOptions options = chart_panel(beside, open, head_words(context.workspace));
  if (begin_panel(context.theme, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
