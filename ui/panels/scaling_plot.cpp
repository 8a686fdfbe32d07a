#include "ui/panels/scaling_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "base/units.h"

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
  const double step = tick_step(axes.most_y, std::max(2.0F, axes.inner.height() / theme.px(34)));
  for (double value = 0; value <= axes.most_y * 1.001; value += step) {
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

void paint_points(const Theme& theme, const Axes& axes, const ScalingCurve& curve, bool solid) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = theme.of(trace::Category::kForward).line;
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const ScalingPoint &a = curve.points[i - 1], &b = curve.points[i];
    draw->AddLine(axes.at(a.gpus, a.samples_per_s), axes.at(b.gpus, b.samples_per_s), color,
                  theme.px(2));
  }
  float free_from = 0;
  for (const ScalingPoint& point : curve.points) {
    const ImVec2 at = axes.at(point.gpus, point.samples_per_s);
    const float radius = theme.px(point.gpus == curve.own ? 5.5F : 4.0F);
    draw->AddCircleFilled(at, radius, solid ? color : theme.panel);
    draw->AddCircle(at, radius, color, 0, theme.px(1.8F));
    if (point.gpus == 1) continue;
    const std::string words = fmt::format("{:.0f} %", 100 * curve.efficiency(point));
    const float half = text_size(theme.font.mono, theme.size.label, words).x / 2;
    const float x = std::min(at.x + theme.px(10), axes.inner.max.x + theme.px(kRight - 2) - half);
    if (x - half < free_from) continue;
    free_from = x + half + theme.px(4);
    // Above the point where it would stand on the axis' own numbers.
    const bool low = at.y + theme.px(24) > axes.inner.max.y;
    draw_text_middle(draw, theme.font.mono, theme.size.label, x, at.y + theme.px(low ? -14 : 16),
                     point.gpus == curve.own ? theme.text : theme.muted, words, 0.5F);
  }
}

}  // namespace

void paint_scaling(const Theme& theme, const Box& box, const ScalingCurve& curve, bool solid) {
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
  axes.most_x = std::log2(static_cast<double>(curve.points.back().gpus));
  for (const ScalingPoint& point : curve.points)
    axes.most_y = std::max({axes.most_y, curve.ideal(point.gpus), point.samples_per_s});
  paint_grid(theme, axes, curve);
  paint_ideal(theme, axes, curve);
  paint_points(theme, axes, curve, solid);
  draw_text_middle(draw, theme.font.text, theme.size.label, axes.inner.centre().x,
                   box.max.y - theme.px(9), theme.faint, "GPUs", 0.5F);
}

}  // namespace trainscope::ui
