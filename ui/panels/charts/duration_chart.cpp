#include "ui/panels/charts/duration_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

constexpr std::size_t kBins = 28;

struct Frame {
  Box inside;
  std::size_t bins = 0;
  std::size_t most = 1;  // of one bin

  float each = 0;  // width of a bin

  float x(std::size_t bin) const { return inside.min.x + each * static_cast<float>(bin); }
  float y(std::size_t count) const {
    return inside.max.y - inside.height() * static_cast<float>(count) / static_cast<float>(most);
  }
};

void paint_bins(const Theme& theme, const Frame& frame, const std::vector<std::size_t>& counts,
                std::size_t side) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = side_color(theme, side);
  const float gap = std::min(theme.px(1), (frame.x(1) - frame.x(0)) * 0.2F);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const Box bar{{frame.x(i), std::min(frame.y(counts[i]), frame.inside.max.y - theme.px(2))},
                  {frame.x(i + 1) - gap, frame.inside.max.y}};
    if (side == 0)
      draw->AddRectFilled(bar.min, bar.max, faded(color, 0.55F));
    else
      draw->AddRect({bar.min.x + 0.5F, bar.min.y + 0.5F}, {bar.max.x - 0.5F, bar.max.y}, color, 0,
                    theme.px(1.8F));
  }
}

// The first, the last, and those between that have room.
void paint_bounds(const Theme& theme, const Frame& frame, const std::vector<double>& bounds) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float y = frame.inside.max.y + theme.px(12);
  float free_from = frame.inside.min.x - theme.px(20);
  const auto write = [&](std::size_t i, float least_right) {
    const std::string words = format_nanos(bounds[i]);
    const float width = text_size(theme.font.mono, theme.size.label, words).x;
    const float left = std::clamp(frame.x(i) - width / 2, frame.inside.min.x,
                                  std::max(frame.inside.max.x - width, frame.inside.min.x));
    if (left < free_from || left + width > least_right) return;
    draw_text_middle(draw, theme.font.mono, theme.size.label, left, y, theme.muted, words);
    free_from = left + width + theme.px(14);
  };
  const std::size_t last = bounds.size() - 1;
  const float end = frame.inside.max.x -
                    text_size(theme.font.mono, theme.size.label, format_nanos(bounds[last])).x;
  for (std::size_t i = 0; i < last; ++i) write(i, i == 0 ? 1e9F : end - theme.px(14));
  if (bounds[last] > bounds[0] * 1.0001) write(last, 1e9F);
}

void tell(const Theme& theme, const Frame& frame, const analysis::DurationBins& bins, bool of_two) {
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(frame.inside.min, frame.inside.max))
    return;
  const float share = (ImGui::GetIO().MousePos.x - frame.inside.min.x) / frame.inside.width();
  const auto bin =
      std::min(static_cast<std::size_t>(share * static_cast<float>(frame.bins)), frame.bins - 1);
  const std::string bounds =
      format_nanos(bins.bounds[bin]) + " to " + format_nanos(bins.bounds[bin + 1]);
  if (of_two)
    chart_card(theme, bounds,
               {{"A", std::to_string(bins.a[bin])}, {"B", std::to_string(bins.b[bin])}});
  else
    chart_card(theme, bounds, {{"times", std::to_string(bins.a[bin])}});
}

// Beside the side's mark; of one run without that.
void paint_words(const Theme& theme, ImVec2 at, float room, const analysis::OperationRow& row,
                 std::size_t side, bool of_two) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto& figures = side == 0 ? row.a : row.b;
  const float mark =
      of_two
          ? draw_side_mark(draw, theme, at, static_cast<char>('A' + side), side == 0) + theme.px(8)
          : 0;
  const std::string words = times_words(figures.durations);
  draw_text_middle(draw, theme.font.text, theme.size.label, at.x + mark, at.y, theme.muted,
                   shortened(theme.font.text, theme.size.label, words, room - mark));
}

}  // namespace

std::string times_words(const std::vector<Nanos>& durations) {
  if (durations.empty()) return "not once";
  const std::string least = format_nanos(static_cast<double>(durations.front()));
  const std::string most = format_nanos(static_cast<double>(durations.back()));
  if (durations.size() == 1) return "once, " + most;
  if (least == most) return fmt::format("{} times, each {}", durations.size(), most);
  return fmt::format("{} times, {} to {}", durations.size(), least, most);
}

void paint_durations(const Theme& theme, const Box& box, const analysis::OperationRow& row,
                     bool of_two) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text_middle(draw, theme.font.strong, theme.size.small, box.min.x, box.min.y + theme.px(11),
                   theme.text,
                   shortened(theme.font.strong, theme.size.small, row.shown, box.width()));
  const bool beside = !of_two || box.width() > theme.px(420);
  const float half = of_two && beside ? box.width() / 2 : box.width();
  paint_words(theme, {box.min.x, box.min.y + theme.px(33)}, half, row, 0, of_two);
  if (of_two)
    paint_words(theme, {box.min.x + (beside ? half : 0), box.min.y + theme.px(beside ? 33 : 55)},
                half, row, 1, of_two);
  const analysis::DurationBins bins =
      analysis::duration_bins(row.a.durations, row.b.durations, kBins);
  Frame frame;
  frame.inside = {{box.min.x, box.min.y + theme.px(beside ? 52 : 74)},
                  {box.max.x, box.max.y - theme.px(24)}};
  frame.bins = bins.a.size();
  if (frame.bins == 0 || frame.inside.height() < theme.px(20)) return;
  frame.each = frame.inside.width() / static_cast<float>(frame.bins);
  // All took equally long: a bar as wide as the chart would look like a chart of nothing.
  if (frame.bins == 1) frame.each = std::min(frame.each, theme.px(28));
  for (std::size_t i = 0; i < frame.bins; ++i)
    frame.most = std::max({frame.most, bins.a[i], bins.b[i]});
  paint_bins(theme, frame, bins.a, 0);
  paint_bins(theme, frame, bins.b, 1);
  draw->AddLine({frame.inside.min.x, frame.inside.max.y}, frame.inside.max, theme.line,
                theme.size.border);
  paint_bounds(theme, frame, bins.bounds);
  tell(theme, frame, bins, of_two);
}

}  // namespace trainscope::ui
