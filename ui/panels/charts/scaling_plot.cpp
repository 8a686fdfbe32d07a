#include "ui/panels/charts/scaling_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "base/units.h"
#include "ui/panels/charts/free_place.h"

namespace trainscope::ui {
namespace {

using analysis::ScalingCurve;
using analysis::ScalingPoint;

// GPUs double from place to place along x; y begins at 0.
struct Axes {
  Box inner;
  double most_x = 1;  // log2 of the GPUs
  double most_y = 1;
  ImVec2 at(int gpus, double samples) const {
    const double x = std::log2(static_cast<double>(gpus)) / most_x;
    const double y = samples / most_y;
    return {inner.min.x + inner.width() * static_cast<float>(x),
            inner.max.y - inner.height() * static_cast<float>(y)};
  }
};

void paint_grid(const Theme& theme, const Axes& axes, const ScalingCurve& curve) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  double step = tick_step(axes.most_y, std::max(2.0F, axes.inner.height() / theme.px(34)));
  if (step > axes.most_y) step = tick_step(axes.most_y / 2, 1) / 2;  // one number beside 0
  for (const double value : multiples(step, 0, axes.most_y * 1.001)) {
    const float y = std::round(axes.at(1, value).y) + 0.5F;
    draw->AddLine({axes.inner.min.x - theme.px(8), y}, {axes.inner.max.x + theme.px(8), y},
                  theme.grid(), 1);
    draw_text_middle(draw, theme.font.mono, theme.size.label, axes.inner.min.x - theme.px(14), y,
                     theme.faint, format_count(value), 1);
  }
  float free_from = 0;
  for (const ScalingPoint& point : curve.points) {
    const float x = axes.at(point.gpus, 0).x;
    const std::string words = std::to_string(point.gpus);
    const float half = text_size(theme.font.mono, theme.size.label, words).x / 2;
    if (x - half < free_from) continue;
    free_from = x + half + theme.px(6);
    draw_text_middle(draw, theme.font.mono, theme.size.label, x, axes.inner.max.y + theme.px(12),
                     point.gpus == curve.own ? theme.text : theme.faint, words, 0.5F);
  }
}

void paint_ideal(const Theme& theme, const Axes& axes, const ScalingCurve& curve) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const int from = curve.points[i - 1].gpus, to = curve.points[i].gpus;
    draw_dashed_line(draw, axes.at(from, curve.ideal(from)), axes.at(to, curve.ideal(to)),
                     theme.muted, theme.px(1.4F), theme.px(5), theme.px(4));
  }
}

// Beside the axes: room for the last point's words, which stand clear of the line that leads there.
constexpr float kRight = 36;

float radius_of(const Theme& theme, const ScalingCurve& curve, const ScalingPoint& point) {
  return theme.px(point.gpus == curve.own ? 5.5F : 4.0F);
}

void paint_points(const Theme& theme, const Axes& axes, const ScalingCurve& curve, bool solid) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = theme.of(trace::Category::kForward).line;
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const ScalingPoint &a = curve.points[i - 1], &b = curve.points[i];
    draw->AddLine(axes.at(a.gpus, a.samples_per_s), axes.at(b.gpus, b.samples_per_s), color,
                  theme.px(2));
  }
  for (const ScalingPoint& point : curve.points) {
    const ImVec2 at = axes.at(point.gpus, point.samples_per_s);
    const float radius = radius_of(theme, curve, point);
    draw->AddCircleFilled(at, radius, solid ? color : theme.panel);
    draw->AddCircle(at, radius, color, 0, theme.px(1.8F));
  }
}

// Both curves and their points; words stand above the numbers of the GPUs.
ChartGround ground_of(const Theme& theme, const Axes& axes, const ScalingCurve& curve, float top) {
  ChartGround ground;
  ground.room = {{axes.inner.min.x, top},
                 {axes.inner.max.x + theme.px(kRight - 2), axes.inner.max.y + theme.px(3)}};
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const ScalingPoint& point = curve.points[i];
    const ImVec2 at = axes.at(point.gpus, point.samples_per_s);
    const float radius = radius_of(theme, curve, point);
    ground.taken.push_back({{at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}});
    if (i == 0) continue;
    const ScalingPoint& before = curve.points[i - 1];
    ground.lines.emplace_back(axes.at(before.gpus, before.samples_per_s), at);
    ground.lines.emplace_back(axes.at(before.gpus, curve.ideal(before.gpus)),
                              axes.at(point.gpus, curve.ideal(point.gpus)));
  }
  return ground;
}

// How much of the ideal each reaches, where there is room for it; the run's own in any case.
void paint_efficiencies(const Theme& theme, const Axes& axes, const ScalingCurve& curve,
                        float top) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  ChartGround ground = ground_of(theme, axes, curve, top);
  std::vector<ScalingPoint> points = curve.points;
  std::ranges::stable_partition(points, [&](const auto& one) { return one.gpus == curve.own; });
  for (const ScalingPoint& point : points) {
    if (point.gpus == 1) continue;
    const bool own = point.gpus == curve.own;
    const std::string words = fmt::format("{:.0f} %", 100 * curve.efficiency(point));
    ImVec2 size = text_size(theme.font.mono, theme.size.label, words);
    size.y = theme.size.label;
    const ImVec2 at = axes.at(point.gpus, point.samples_per_s);
    std::optional<Box> place = free_place(ground, at, size, theme.px(7));
    if (!place && !own) continue;
    if (!place) {
      const ImVec2 corner{std::min(at.x + theme.px(7), ground.room.max.x - size.x),
                          std::max(at.y - theme.px(7) - size.y, top)};
      place = {corner, {corner.x + size.x, corner.y + size.y}};
      draw->AddRectFilled(place->min, place->max, faded(theme.panel, 0.85F), theme.px(2));
    }
    ground.taken.push_back(*place);
    draw_text_middle(draw, theme.font.mono, theme.size.label, place->centre().x, place->centre().y,
                     own ? theme.text : theme.muted, words, 0.5F);
  }
}

}  // namespace

void ScalingRange::include(const ScalingCurve& curve) {
  for (const ScalingPoint& point : curve.points) {
    gpus = std::max(gpus, point.gpus);
    samples_per_s = std::max({samples_per_s, curve.ideal(point.gpus), point.samples_per_s});
  }
}

void paint_scaling(const Theme& theme, const Box& box, const ScalingCurve& curve,
                   const ScalingRange& range, bool solid) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float head = theme.px(22), foot = theme.px(38), left = theme.px(62),
              right = theme.px(kRight);
  if (box.height() < head + foot + theme.px(50) || box.width() < left + right + theme.px(80))
    return;
  draw_text_middle(draw, theme.font.text, theme.size.label, box.min.x, box.min.y + head / 2,
                   theme.muted,
                   shortened(theme.font.text, theme.size.label,
                             "samples a second; dashed: as many times one GPU's", box.width()));
  Axes axes;
  axes.inner = {{box.min.x + left, box.min.y + head + theme.px(8)},
                {box.max.x - right, box.max.y - foot}};
  axes.most_x = std::log2(static_cast<double>(range.gpus));
  axes.most_y = range.samples_per_s;
  paint_grid(theme, axes, curve);
  paint_ideal(theme, axes, curve);
  paint_points(theme, axes, curve, solid);
  paint_efficiencies(theme, axes, curve, box.min.y + head);
  draw_text_middle(draw, theme.font.text, theme.size.label, axes.inner.centre().x,
                   box.max.y - theme.px(9), theme.faint, "GPUs", 0.5F);
}

}  // namespace trainscope::ui
