#include "ui/panels/charts/loss_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/units.h"
#include "ui/panels/charts/free_place.h"
#include "ui/panels/charts/line_flags.h"

namespace trainscope::ui {
namespace {

using analysis::LossCurve;

bool is_skipped(const LossCurve& curve, std::size_t step) {
  return std::binary_search(curve.skipped.begin(), curve.skipped.end(),
                            static_cast<std::int64_t>(step));
}

// Where a step is along x: by its number, or when its loss was computed.
double x_of(const LossCurve& curve, std::size_t step, bool over_time) {
  if (!over_time || curve.time.empty()) return static_cast<double>(step);
  return static_cast<double>(curve.time[std::min(step, curve.time.size() - 1)]);
}

double x_of(const LossCurve::Accuracy& tried, bool over_time) {
  return static_cast<double>(over_time ? tried.time : tried.step - 1);
}

double x_of_playhead(const ShownLoss& one, bool over_time) {
  return over_time ? static_cast<double>(one.playhead) : static_cast<double>(*one.step);
}

ChartOptions axes_of(const std::vector<ShownLoss>& shown, bool logarithmic) {
  // Many times the first loss says no more than that it has diverged, and hides the rest.
  constexpr double kFirsts = 3;
  double least = 1e300, most = -1e300, positive = 1e300, first = 0;
  ChartOptions options;
  for (const ShownLoss& one : shown) {
    options.share_right |= !one.curve->accuracy.empty();
    if (!one.curve->computed) continue;
    least = std::min(least, one.curve->least);
    most = std::max(most, one.curve->most);
    first = std::max(first, one.curve->first);
    if (one.curve->least_positive > 0) positive = std::min(positive, one.curve->least_positive);
    if (one.curve->target > 0) {
      most = std::max(most, one.curve->target);
      positive = std::min(positive, one.curve->target);
    }
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

void draw_accuracy(const Theme& theme, const ShownLoss& one, bool over_time) {
  ImPlot::SetAxes(ImAxis_X1, ImAxis_Y2);
  ImPlot::PushPlotClipRect(theme.px(8));
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  const float r = theme.px(4.5F);
  ImVec2 last;
  for (std::size_t i = 0; i < one.curve->accuracy.size(); ++i) {
    const auto& tried = one.curve->accuracy[i];
    const ImVec2 at = ImPlot::PlotToPixels(x_of(tried, over_time), 100 * tried.share);
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
void draw_divergence(const Theme& theme, const ShownLoss& one, bool over_time, bool pair,
                     bool alone, int row) {
  if (!one.curve->diverged) return;
  const double from = x_of(*one.curve, static_cast<std::size_t>(*one.curve->diverged), over_time);
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
void draw_rise(const Theme& theme, const ShownLoss& one, bool over_time, bool pair, double top,
               int row) {
  if (!rises(*one.curve, top)) return;
  const auto& loss = one.curve->loss;
  const auto above =
      std::find_if(loss.begin(), loss.end(), [top](double value) { return value > top; });
  const Box box = chart_box();
  const double from = x_of(*one.curve, static_cast<std::size_t>(above - loss.begin()), over_time);
  const float x = std::max(ImPlot::PlotToPixels(from, 1).x, box.min.x);
  const std::string whose = pair ? (one.side == 0 ? "A " : "B ") : "";
  const float left = x + theme.px(8);
  draw_text_middle(ImPlot::GetPlotDrawList(), theme.font.text, theme.size.label, left,
                   box.min.y + theme.px(9 + kWordRow * static_cast<float>(row)), theme.bad,
                   shortened(theme.font.text, theme.size.label,
                             fmt::format("{}rises to {}: the log scale shows it", whose,
                                         loss_words(one.curve->most)),
                             box.max.x - left));
}

void draw_curve(const Theme& theme, const ShownLoss& one, bool over_time) {
  const Pen pen = side_pen(theme, one.side);
  const LossCurve& curve = *one.curve;
  const std::span<const Nanos> times = over_time ? std::span(curve.time) : std::span<const Nanos>();
  const bool smooth = curve.window > 1;
  if (smooth) {
    Pen thin = pen;
    thin.solid = true;
    thin.thickness = 1;
    thin.color = faded(pen.color, theme.is_dark() ? 0.34F : 0.40F);
    draw_values(theme, curve.loss, thin, false, times);
  }
  draw_values(theme, smooth ? curve.mean : curve.loss, pen, false, times);
  std::vector<std::int64_t> skipped = curve.skipped;
  if (over_time)
    for (std::int64_t& step : skipped) step = curve.time[static_cast<std::size_t>(step)];
  draw_marks(theme, skipped, theme.bad, one.side == 0);
}

// The step at a pixel of the x axis.
std::size_t step_at(const LossCurve& curve, float pixel, bool over_time) {
  const double x = ImPlot::PixelsToPlot(pixel, 0).x;
  if (over_time) return curve.step_at(static_cast<Nanos>(x)).value_or(0);
  return static_cast<std::size_t>(std::max(std::floor(x), 0.0));
}

// A curve's pieces near x, with what is drawn on them.
void add_curve(const Theme& theme, const LossCurve& curve, std::span<const double> values,
               bool over_time, float x, float reach, std::vector<Box>& taken) {
  const float half = theme.px(2);
  const std::size_t end = std::min(step_at(curve, x + reach, over_time) + 2, values.size());
  for (std::size_t step = step_at(curve, x - reach, over_time); step + 1 < end; ++step) {
    const double value = values[step], next = values[step + 1];
    if (std::isnan(value) || std::isnan(next)) continue;
    const ImVec2 a = ImPlot::PlotToPixels(x_of(curve, step, over_time), value),
                 b = ImPlot::PlotToPixels(x_of(curve, step + 1, over_time), next);
    // Of a long piece only what is near.
    const float from = std::max(a.x, x - reach), to = std::min(b.x, x + reach);
    const auto y = [&](float at) { return a.y + (b.y - a.y) * (at - a.x) / (b.x - a.x); };
    if (to > from)
      taken.push_back(
          {{from, std::min(y(from), y(to)) - half}, {to, std::max(y(from), y(to)) + half}});
  }
}

void add_curves(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time, float x,
                float reach, std::vector<Box>& taken) {
  for (const ShownLoss& one : shown) {
    add_curve(theme, *one.curve, one.curve->loss, over_time, x, reach, taken);
    if (one.curve->window > 1)
      add_curve(theme, *one.curve, one.curve->mean, over_time, x, reach, taken);
  }
}

void add_accuracy(const Theme& theme, const LossCurve& curve, bool over_time,
                  std::vector<Box>& taken) {
  const float half = theme.px(6);
  ImVec2 at;
  for (const auto& tried : curve.accuracy) {
    at = ImPlot::PlotToPixels(x_of(tried, over_time), 100 * tried.share, ImAxis_X1, ImAxis_Y2);
    taken.push_back({{at.x - half, at.y - half}, {at.x + half, at.y + half}});
  }
  if (curve.accuracy.empty()) return;
  const float width = text_size(theme.font.text, theme.size.label, accuracy_words(curve)).x;
  taken.push_back({{at.x - 2 * half - width, at.y - theme.size.label / 2 - theme.px(2)},
                   {at.x, at.y + theme.size.label / 2 + theme.px(2)}});
}

// What the letters of the playheads should not stand on.
std::vector<Box> drawn_near(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time,
                            const std::vector<float>& lines, float reach, double top) {
  std::vector<Box> taken;
  const Box box = chart_box();
  for (std::size_t row = 0; row < shown.size(); ++row) {
    const LossCurve& curve = *shown[row].curve;
    const float y = box.min.y + theme.px(kWordRow * static_cast<float>(row));
    if (curve.diverged || rises(curve, top))
      taken.push_back({{box.min.x, y}, {box.max.x, y + theme.px(kWordRow)}});
    add_accuracy(theme, curve, over_time, taken);
  }
  for (const float x : lines) add_curves(theme, shown, over_time, x, reach, taken);
  return taken;
}

// With letters where the two sides are at different places.
void draw_playheads(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time,
                    double top) {
  const bool same = shown.size() < 2 || (over_time ? shown[0].playhead == shown[1].playhead
                                                   : shown[0].step == shown[1].step);
  const Box box = chart_box();
  std::vector<float> lines;
  std::vector<const char*> letters;
  for (const ShownLoss& one : shown) {
    if (!one.step || (same && !lines.empty())) continue;
    const double at = x_of_playhead(one, over_time);
    draw_upright(theme, at, theme.accent, 1.4F);
    const float x = std::round(ImPlot::PlotToPixels(at, 1).x);
    if (x < box.min.x - 1 || x > box.max.x + 1) continue;
    lines.push_back(x);
    letters.push_back(one.side == 0 ? "A" : "B");
  }
  if (same) return;
  const ImVec2 size{theme.px(16), theme.px(17)};
  const auto flags =
      place_flags(box, lines, size, drawn_near(theme, shown, over_time, lines, size.x, top));
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  for (std::size_t i = 0; i < flags.size(); ++i) {
    draw->AddRectFilled(flags[i].min, flags[i].max, theme.accent, theme.px(2));
    draw_text_middle(draw, theme.font.strong, theme.size.label, flags[i].centre().x,
                     flags[i].centre().y, theme.accent_text, letters[i], 0.5F);
  }
}

// The side's time at a step: that of A, or of the only one that has a loss.
void move_playhead(const PanelContext& context, const std::vector<ShownLoss>& shown, bool over_time,
                   double x) {
  const LossCurve& curve = *shown.front().curve;
  if (curve.time.empty()) return;
  const double last = static_cast<double>(curve.time.size() - 1);
  Workspace& workspace = context.workspace;
  const Nanos time =
      over_time ? static_cast<Nanos>(std::max(x, 0.0))
                : curve.time[static_cast<std::size_t>(std::clamp(std::round(x), 0.0, last))];
  workspace.playhead.time = std::clamp<Nanos>(time, 0, playhead_end(workspace));
}

// ---- The target ---------------------------------------------------------------------------------

// A dashed line, with words below its left end, where no curve is before it gets there. A target
// that both sides have is one line.
void draw_target(const Theme& theme, const std::vector<ShownLoss>& shown) {
  const Box box = chart_box();
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  double last = 0;
  for (const ShownLoss& one : shown) {
    const double target = one.curve->target;
    if (target <= 0 || target == last) continue;
    last = target;
    const float y = std::round(ImPlot::PlotToPixels(0, target).y);
    const float dash = theme.px(6), size = theme.size.label;
    // The name of the x axis stands at the right end of its line.
    const float end = box.max.x - (y + 2 * size > box.max.y ? 4 * size : 0);
    for (float x = box.min.x; x < end; x += 2 * dash)
      draw->AddLine({x, y}, {std::min(x + dash, end), y}, theme.muted, theme.px(1.2F));
    const bool below = y + 1.5F * size < box.max.y;
    draw_text_middle(draw, theme.font.text, size, box.min.x + theme.px(6),
                     y + (below ? 0.8F : -0.8F) * size, theme.muted,
                     "target " + loss_words(target));
  }
}

std::string reached_words(const ShownLoss& one, bool over_time, bool pair) {
  const std::string whose = pair ? (one.side == 0 ? "A: " : "B: ") : "";
  if (over_time) return whose + format_nanos(static_cast<double>(one.curve->reached_after));
  return whose + counted(*one.curve->reached + 1, "step");
}

// Where a side gets there: a ring on its line, and when, beside it, where there is room.
void draw_reached(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time) {
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  const float r = theme.px(4.5F);
  ChartGround ground;
  ground.room = chart_box();
  std::vector<ImVec2> points;
  for (const ShownLoss& one : shown) {
    points.emplace_back();
    if (!one.curve->reached) continue;
    const std::size_t step = *one.curve->reached;
    const ImVec2 at =
        ImPlot::PlotToPixels(x_of(*one.curve, step, over_time), one.curve->mean[step]);
    points.back() = at;
    ground.taken.push_back({{at.x - r, at.y - r}, {at.x + r, at.y + r}});
    add_curves(theme, shown, over_time, at.x, theme.px(150), ground.taken);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ShownLoss& one = shown[i];
    const Box& room = ground.room;
    if (!one.curve->reached || points[i].x < room.min.x || points[i].x > room.max.x) continue;
    const Color color = side_color(theme, one.side);
    draw->AddCircleFilled(points[i], r, theme.panel);
    draw->AddCircle(points[i], r, color, 0, theme.px(2));
    const std::string words = reached_words(one, over_time, shown.size() > 1);
    const ImVec2 size{text_size(theme.font.strong, theme.size.label, words).x, theme.size.label};
    const auto place = free_place(ground, points[i], size, theme.px(12));
    if (!place) continue;
    ground.taken.push_back(*place);
    draw_text_middle(draw, theme.font.strong, theme.size.label, place->min.x, place->centre().y,
                     color, words);
  }
}

// ---- Under the mouse ----------------------------------------------------------------------------

void add_rows(const ShownLoss& one, std::size_t step, const std::string& whose, CardRows& rows) {
  rows.emplace_back(whose + "loss", loss_at(*one.curve, step));
  if (one.curve->window > 1 && !std::isnan(one.curve->mean[step]))
    rows.emplace_back(fmt::format("{}mean of {}", whose, one.curve->window),
                      loss_words(one.curve->mean[step]));
  if (is_skipped(*one.curve, step)) rows.emplace_back(whose + "update", "skipped: infinity");
  for (const auto& tried : one.curve->accuracy)
    if (tried.step == static_cast<std::int64_t>(step) + 1)
      rows.emplace_back(whose + "accuracy", fmt::format("{:.1f} %", 100 * tried.share));
}

void draw_hover(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time) {
  if (!ImPlot::IsPlotHovered()) return;
  const double at = ImPlot::GetPlotMousePos().x, x = over_time ? at : std::round(at);
  CardRows rows;
  for (const ShownLoss& one : shown) {
    const std::string whose = shown.size() > 1 ? (one.side == 0 ? "A: " : "B: ") : "";
    const auto step = over_time ? one.curve->step_at(static_cast<Nanos>(x))
                                : std::optional(static_cast<std::size_t>(std::max(x, 0.0)));
    if (x < 0 || !step || *step >= one.curve->loss.size()) continue;
    if (over_time) rows.emplace_back(whose + "step", std::to_string(*step));
    add_rows(one, *step, whose, rows);
  }
  if (rows.empty()) return;
  draw_upright(theme, x, theme.grid(3), 1);
  chart_card(theme, over_time ? format_nanos(x) : fmt::format("step {}", x), rows);
}

double end_of(const std::vector<ShownLoss>& shown, bool over_time) {
  double end = 1;
  for (const ShownLoss& one : shown)
    if (!one.curve->loss.empty())
      end = std::max(end, x_of(*one.curve, one.curve->loss.size() - 1, over_time));
  for (const ShownLoss& one : shown)
    if (over_time && !one.curve->accuracy.empty())
      end = std::max(end, static_cast<double>(one.curve->accuracy.back().time));
  return end;
}

// The curves with what stands on them, lowest first.
void draw_curves(const Theme& theme, const std::vector<ShownLoss>& shown, bool over_time,
                 const ChartOptions& options) {
  const bool pair = shown.size() > 1;
  int row = 0;
  // Where the other side goes on, nothing may cover it.
  const bool alone = std::ranges::all_of(
      shown, [](const ShownLoss& one) { return one.curve->diverged.has_value(); });
  for (const ShownLoss& one : shown) draw_divergence(theme, one, over_time, pair, alone, row++);
  draw_target(theme, shown);
  for (const ShownLoss& one : shown) draw_curve(theme, one, over_time);
  row = 0;
  for (const ShownLoss& one : shown) draw_rise(theme, one, over_time, pair, options.y_to, row++);
  for (const ShownLoss& one : shown)
    if (!one.curve->accuracy.empty()) draw_accuracy(theme, one, over_time);
  draw_reached(theme, shown, over_time);
  draw_playheads(theme, shown, over_time, options.y_to);
}

}  // namespace

std::string loss_words(double loss) {
  return format_count(loss);
}

std::string loss_at(const LossCurve& curve, std::size_t step) {
  if (step >= curve.loss.size()) return "";
  if (!std::isnan(curve.loss[step])) return loss_words(curve.loss[step]);
  const bool after = curve.diverged && std::cmp_greater_equal(step, *curve.diverged);
  return after ? "NaN" : "not computed";
}

void draw_loss_chart(const PanelContext& context, LossChart& chart,
                     const std::vector<ShownLoss>& shown, const Box& box) {
  const Theme& theme = context.theme;
  const bool over_time = chart.is_over_time(shown);
  Stretch& stretch = over_time ? chart.times : chart.steps;
  stretch.follow(0, end_of(shown, over_time));
  ChartOptions options = axes_of(shown, chart.logarithmic);
  if (over_time) options.x_format = format_time;
  if (!begin_chart(theme, "##loss", box, stretch, options)) return;
  name_axis(theme, box, over_time ? "time" : "step");
  draw_curves(theme, shown, over_time, options);
  draw_hover(theme, shown, over_time);
  if (double x = 0; dragged_to(x)) move_playhead(context, shown, over_time, x);
  end_chart();
}

bool LossChart::is_over_time(const std::vector<ShownLoss>& shown) const {
  return over_time.value_or(
      std::ranges::any_of(shown, [](const ShownLoss& one) { return one.curve->target > 0; }));
}

}  // namespace trainscope::ui
