#include "ui/panels/comparison/sweep_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/ticks.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

using analysis::Metric;
using scenario::is_ordered;
using scenario::Sweep;
using scenario::SweepAxis;
using scenario::SweepPoint;

constexpr double kManyTimes = 30;  // from here on a linear scale hides the small ones

std::optional<double> value_at(const SweepPoint& point, std::size_t side, const Metric& metric) {
  const auto value = analysis::value_of(point.sides[side].metrics, metric.name);
  // A run that ended early has no whole step to be put beside others'.
  const bool counts = value && std::isfinite(*value) && point.sides[side].ending.empty();
  return counts ? value : std::nullopt;
}

// The numbers that stand at the vertical axis, and how a value comes to its height.
struct Scale {
  double least = 0, most = 1;
  bool logarithmic = false;
  std::vector<double> ticks;

  double share(double value) const {
    if (logarithmic) return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }
};

// Bytes go by powers of two.
double step_of(double range, const Metric& metric) {
  constexpr double kMost = 5;
  return metric.unit == "B" ? std::exp2(std::ceil(std::log2(range / kMost)))
                            : tick_step(range, kMost);
}

Scale scale_of(const std::vector<double>& values, const Metric& metric) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Scale scale;
  scale.logarithmic = *low > 0 && *high > kManyTimes * *low;
  if (scale.logarithmic) {
    const double base = metric.unit == "B" ? 16 : 10;
    const double first = std::floor(std::log(*low) / std::log(base));
    const double last = std::ceil(std::log(*high) / std::log(base));
    scale.least = std::pow(base, first);
    scale.most = std::pow(base, last);
    for (double power = first; power <= last; ++power) scale.ticks.push_back(std::pow(base, power));
    return scale;
  }
  scale.least = std::min(0.0, *low);
  const double range = std::max(*high - scale.least, 1e-12);
  const double step = step_of(range, metric);
  const auto steps = static_cast<int>(std::ceil(range / step * (1 - 1e-9)));
  scale.most = scale.least + step * steps;
  for (int i = 0; i <= steps; ++i) scale.ticks.push_back(scale.least + step * i);
  return scale;
}

std::string shown_value(const SweepAxis& axis, std::size_t i) {
  return program::show(*axis.knob, axis.values[i]);
}

float widest_value(const Theme& theme, const SweepAxis& axis) {
  float widest = 0;
  for (std::size_t i = 0; i < axis.values.size(); ++i)
    widest = std::max(widest, text_size(theme.font.mono, theme.size.label, shown_value(axis, i)).x);
  return widest;
}

// Labels below, at equal distances; as many of them as have room.
void draw_values_below(const Theme& theme, const Box& inside, const SweepAxis& axis, bool cells) {
  const auto count = static_cast<float>(axis.values.size());
  const float step = inside.width() / (cells ? count : std::max(count - 1, 1.0F));
  const float room = widest_value(theme, axis) + theme.px(10);
  const auto every = static_cast<std::size_t>(std::max(1.0F, std::ceil(room / step)));
  ImDrawList* draw = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < axis.values.size(); i += every)
    draw_text_middle(draw, theme.font.mono, theme.size.label,
                     inside.min.x + step * (static_cast<float>(i) + (cells ? 0.5F : 0)),
                     inside.max.y + theme.px(14), theme.muted, shown_value(axis, i), 0.5F);
}

void draw_name_below(const Theme& theme, const Box& inside, const SweepAxis& axis) {
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, inside.max.x,
                   inside.max.y + theme.px(36), theme.muted, axis.knob->name, 1);
}

// The chart's name above, room for the marks of A and B, and its inside.
Box framed(const Theme& theme, const Box& box, const std::string& title, float left,
           const SweepLook& look) {
  float top = theme.px(look.present.empty() ? 10 : 26);
  if (look.titled) {
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.strong, theme.size.text, box.min.x,
                     box.min.y + theme.px(10), theme.text, title);
    top += theme.px(24);
  }
  return {{box.min.x + left, box.min.y + top},
          {box.max.x - theme.px(24), box.max.y - theme.px(48)}};
}

// A line at each tick, and labels at as many of them, from the lowest up, as have room.
void draw_scale(const Theme& theme, const Box& inside, const Scale& scale, const Metric& metric) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float step =
      inside.height() / static_cast<float>(std::max<std::size_t>(scale.ticks.size(), 2) - 1);
  const auto every =
      static_cast<std::size_t>(std::ceil(theme.size.label * 1.4F / std::max(step, 1.0F)));
  for (std::size_t i = 0; i < scale.ticks.size(); ++i) {
    const double tick = scale.ticks[i];
    const float y =
        std::round(inside.max.y - static_cast<float>(scale.share(tick)) * inside.height());
    draw->AddLine({inside.min.x, y}, {inside.max.x, y}, theme.grid());
    if (i % every != 0) continue;
    draw_text_middle(draw, theme.font.mono, theme.size.label, inside.min.x - theme.px(10), y,
                     theme.muted, tick == 0 ? "0" : analysis::show(metric, tick), 1);
  }
}

// Here a run ended early, or could not begin.
void draw_cross(const Theme& theme, ImVec2 at) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float r = theme.px(4);
  draw->AddLine({at.x - r, at.y - r}, {at.x + r, at.y + r}, theme.bad, theme.px(1.5F));
  draw->AddLine({at.x - r, at.y + r}, {at.x + r, at.y - r}, theme.bad, theme.px(1.5F));
}

// A point that is to be read with care: larger than others, and hollow.
void draw_ring(const Theme& theme, ImVec2 at) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddCircleFilled(at, theme.px(5.5F), theme.panel);
  draw->AddCircle(at, theme.px(5.5F), theme.warn, 0, theme.px(1.6F));
}

// The same of a cell of a map.
void draw_failure_hatch(const Theme& theme, const Box& box) {
  draw_hatch(ImGui::GetWindowDrawList(), box, theme.bad, theme.px(7), theme.px(1));
}

// One side's values; where one is missing, the line has a hole and a cross says so.
void draw_line(const Theme& theme, const Box& inside, const Sweep& sweep, const Metric& metric,
               std::size_t side, const Scale& scale) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = side_color(theme, side);
  const std::size_t count = sweep.points.size();
  const float step = inside.width() / static_cast<float>(std::max<std::size_t>(count - 1, 1));
  std::optional<ImVec2> before;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = value_at(sweep.points[i], side, metric);
    const float x = inside.min.x + step * static_cast<float>(i);
    if (!value) {
      if (sweep.points[i].sides[side].over) draw_cross(theme, {x, inside.max.y - theme.px(9)});
      before.reset();
      continue;
    }
    const ImVec2 at{x, inside.max.y - static_cast<float>(scale.share(*value)) * inside.height()};
    if (before) draw->AddLine(*before, at, color, theme.px(2));
    before = at;
    if (!sweep.points[i].sides[side].caveat.empty()) {
      draw_ring(theme, at);
      continue;
    }
    draw->AddCircleFilled(at, theme.px(4), color);
    if (side > 0) draw->AddCircleFilled(at, theme.px(2.4F), theme.panel);
  }
}

// Words have no order along which a line would go: bars, the sides' beside one another.
void draw_bars(const Theme& theme, const Box& inside, const Sweep& sweep, const Metric& metric,
               std::size_t side, const Scale& scale) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto sides = static_cast<float>(sweep.points.front().sides.size());
  const float step = inside.width() / static_cast<float>(sweep.points.size());
  const float wide = std::min(step * 0.6F, theme.px(110)) / sides;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto value = value_at(sweep.points[i], side, metric);
    const float middle = inside.min.x + step * (static_cast<float>(i) + 0.5F);
    const float x = middle + wide * (static_cast<float>(side) - sides / 2);
    if (!value) {
      if (sweep.points[i].sides[side].over)
        draw_cross(theme, {x + wide / 2, inside.max.y - theme.px(9)});
      continue;
    }
    const float top = inside.max.y - static_cast<float>(scale.share(*value)) * inside.height();
    const Color color = side_color(theme, side);
    const ImVec2 low{x + wide - theme.px(2), inside.max.y};
    if (sweep.points[i].sides[side].caveat.empty())
      draw->AddRectFilled({x, top}, low, color, theme.size.bar_corner, ImDrawFlags_RoundCornersTop);
    else
      draw->AddRect({x, top}, low, color, theme.size.bar_corner, theme.px(1.6F),
                    ImDrawFlags_RoundCornersTop);
    const std::string words = analysis::show(metric, *value);
    if (text_size(theme.font.mono, theme.size.label, words).x < step / sides)
      draw_text_middle(draw, theme.font.mono, theme.size.label, x + wide / 2, top - theme.px(10),
                       theme.text, words, 0.5F);
  }
}

// The letters of the sides above the chart, where each stands now. `cells`: values stand in the
// middle of columns.
void draw_present(const Theme& theme, const Box& inside, const SweepAxis& axis,
                  const SweepLook& look, bool cells) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(axis.values.size());
  const float step = inside.width() / (cells ? count : std::max(count - 1, 1.0F));
  const float mark = theme.px(24);
  float free_from = 0;
  std::vector<PresentSide> present = look.present;
  std::stable_sort(present.begin(), present.end(), [](const PresentSide& a, const PresentSide& b) {
    return a.places[0] < b.places[0];
  });
  for (const PresentSide& side : present) {
    const float place = static_cast<float>(side.places[0]) + (cells ? 0.5F : 0);
    const float x = std::round(inside.min.x + step * place) + 0.5F;
    if (!cells)  // a column has its values there
      draw_dashed_line(draw, {x, inside.min.y - theme.px(4)}, {x, inside.max.y}, theme.muted,
                       theme.size.border, theme.px(4), theme.px(4));
    // Two that stand together are beside one another, within the panel.
    const bool together =
        present.size() == 2 &&
        step * static_cast<float>(present[1].places[0] - present[0].places[0]) < mark + theme.px(3);
    const float most = inside.max.x + theme.px(21) - 2 * mark;
    const float own = together ? std::min(x - mark / 2, most) : x - mark / 2;
    const float left = std::max(own, free_from);
    draw_side_mark(draw, theme, {left, inside.min.y - theme.px(14)}, side.letter,
                   side.letter == 'A');
    free_from = left + mark + theme.px(3);
  }
}

SweepColumns columns_of(const Box& inside, std::size_t count, bool cells) {
  const auto all = static_cast<float>(count);
  const float step = inside.width() / (cells ? all : std::max(all - 1, 1.0F));
  SweepColumns columns;
  for (std::size_t i = 0; i < count; ++i) {
    const float middle = inside.min.x + step * (static_cast<float>(i) + (cells ? 0.5F : 0));
    columns.push_back({{std::max(middle - step / 2, inside.min.x - 12), inside.min.y},
                       {std::min(middle + step / 2, inside.max.x + 12), inside.max.y}});
  }
  return columns;
}

std::string title_of(const Metric& metric) {
  return fmt::format("{} ({})", metric.label, metric.name);
}

// The cells of a heat map and what they are measured by.
class HeatMap {
 public:
  HeatMap(const Theme& theme, const Sweep& sweep, const Metric& metric, std::size_t side)
      : theme_(theme), sweep_(sweep), metric_(metric), side_(side) {
    for (const SweepPoint& point : sweep.points)
      if (const auto value = value_at(point, side, metric)) {
        least_ = std::min(least_, *value);
        most_ = std::max(most_, *value);
      }
  }

  void paint(const Box& inside) const {
    const std::size_t across = sweep_.axes[1].values.size();
    const ImVec2 cell{inside.width() / static_cast<float>(across),
                      inside.height() / static_cast<float>(sweep_.axes[0].values.size())};
    for (std::size_t i = 0; i < sweep_.points.size(); ++i) {
      const ImVec2 at{inside.min.x + cell.x * static_cast<float>(i % across),
                      inside.min.y + cell.y * static_cast<float>(i / across)};
      const float gap = theme_.px(1);
      if (sweep_.points[i].sides[side_].over)
        paint_cell({at, {at.x + cell.x - gap, at.y + cell.y - gap}}, sweep_.points[i]);
      if (i % across == 0)
        draw_text_middle(ImGui::GetWindowDrawList(), theme_.font.mono, theme_.size.label,
                         at.x - theme_.px(8), at.y + cell.y / 2, theme_.muted,
                         shown_value(sweep_.axes[0], i / across), 1);
    }
  }

  SweepColumns cells(const Box& inside) const {
    const std::size_t across = sweep_.axes[1].values.size();
    const float wide = inside.width() / static_cast<float>(across);
    const float tall = inside.height() / static_cast<float>(sweep_.axes[0].values.size());
    SweepColumns cells;
    for (std::size_t i = 0; i < sweep_.points.size(); ++i) {
      const ImVec2 at{inside.min.x + wide * static_cast<float>(i % across),
                      inside.min.y + tall * static_cast<float>(i / across)};
      cells.push_back({at, {at.x + wide - theme_.px(1), at.y + tall - theme_.px(1)}});
    }
    return cells;
  }

  // What the lightest and the strongest colour stand for, to the left of `right_middle`. Returns
  // where it begins; nothing where all cells are alike, or none has a value.
  float draw_scale(ImVec2 right_middle) const {
    if (!(most_ > least_)) return right_middle.x;
    constexpr int kShades = 24;
    const float size = theme_.size.label, gap = theme_.px(6), tall = theme_.px(10);
    const float shade = std::round(theme_.px(2.5F));
    const std::string least = analysis::show(metric_, least_),
                      most = analysis::show(metric_, most_);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    float x = right_middle.x - text_size(theme_.font.mono, size, most).x;
    draw_text_middle(draw, theme_.font.mono, size, x, right_middle.y, theme_.muted, most);
    x -= gap + shade * kShades;
    for (int i = 0; i < kShades; ++i)
      draw->AddRectFilled({x + shade * static_cast<float>(i), right_middle.y - tall / 2},
                          {x + shade * static_cast<float>(i + 1), right_middle.y + tall / 2},
                          color_of(static_cast<float>(i) / static_cast<float>(kShades - 1)));
    x -= gap + text_size(theme_.font.mono, size, least).x;
    draw_text_middle(draw, theme_.font.mono, size, x, right_middle.y, theme_.muted, least);
    return x;
  }

  // A frame around the cell in which a side stands now, with its letter where it has room.
  void mark(const Box& inside, const SweepLook& look) const {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const SweepColumns all = cells(inside);
    for (const PresentSide& side : look.present) {
      const auto row = static_cast<std::size_t>(std::lround(side.places[0]));
      const auto column = static_cast<std::size_t>(std::lround(side.places[1]));
      const Box& cell = all[row * sweep_.axes[1].values.size() + column];
      draw->AddRect(cell.min, cell.max, theme_.text, 0, theme_.px(2));
      const float left = theme_.px(side.letter == 'A' ? 4 : 32);
      if (cell.height() > theme_.px(44) && cell.width() > left + theme_.px(26))
        draw_side_mark(draw, theme_, {cell.min.x + left, cell.min.y + theme_.px(12)}, side.letter,
                       side.letter == 'A');
    }
  }

 private:
  double share(double value) const {
    if (most_ == least_) return 0;
    if (least_ > 0 && most_ > kManyTimes * least_)
      return std::log(value / least_) / std::log(most_ / least_);
    return (value - least_) / (most_ - least_);
  }

  Color color_of(float tone) const { return mixed(theme_.card, theme_.accent, tone); }

  // On a plate where no ink stands out.
  void write(const Box& here, Color ground, const std::string& words) const {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 size = text_size(theme_.font.mono, theme_.size.label, words);
    // Above and below letters a line has room of its own.
    if (size.x > here.width() - theme_.px(6) || size.y > here.height() + theme_.px(2)) return;
    const MapInk ink = map_ink(theme_, ground);
    const ImVec2 middle = here.centre();
    if (ink.plate)
      draw->AddRectFilled({middle.x - size.x / 2 - theme_.px(3), middle.y - size.y / 2},
                          {middle.x + size.x / 2 + theme_.px(3), middle.y + size.y / 2}, *ink.plate,
                          theme_.px(3));
    draw_text_middle(draw, theme_.font.mono, theme_.size.label, middle.x, middle.y, ink.color,
                     words, 0.5F);
  }

  // What could not run is hatched; what ran, but has no such metric, has a dash.
  void paint_cell(const Box& here, const SweepPoint& point) const {
    const auto value = value_at(point, side_, metric_);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const SweepPoint::Side& side = point.sides[side_];
    const bool failed = !side.refused.empty() || !side.ending.empty();
    if (!value && failed) return draw_failure_hatch(theme_, here);
    if (!value)
      return draw_text_middle(draw, theme_.font.mono, theme_.size.label, here.centre().x,
                              here.centre().y, theme_.muted, "-", 0.5F);
    const Color ground = color_of(static_cast<float>(share(*value)));
    draw->AddRectFilled(here.min, here.max, ground);
    write(here, ground, analysis::show(metric_, *value));
    if (!side.caveat.empty() && here.width() > theme_.px(16))
      draw_ring(theme_, {here.max.x - theme_.px(9), here.min.y + theme_.px(9)});
  }

  const Theme& theme_;
  const Sweep& sweep_;
  const Metric& metric_;
  std::size_t side_;
  double least_ = INFINITY, most_ = -INFINITY;
};

// What stands in rows and in columns, and what the colours mean.
void draw_map_head(const Theme& theme, const Box& box, const Sweep& sweep, const HeatMap& map) {
  const float y = box.min.y + theme.px(8);
  const float right = map.draw_scale({box.max.x, y});
  const std::string &rows = sweep.axes[0].knob->name, &columns = sweep.axes[1].knob->name;
  const std::string words = fitting(theme, theme.size.small,
                                    {fmt::format("rows: {}, columns: {}", rows, columns),
                                     fmt::format("{}, {}", rows, columns), rows},
                                    right - theme.px(12) - box.min.x);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, box.min.x, y,
                   theme.muted, words);
}

}  // namespace

MapInk map_ink(const Theme& theme, Color ground) {
  Color best = theme.text;
  for (const Color ink : {theme.accent_text, theme.panel})
    if (contrast(ink, ground) > contrast(best, ground)) best = ink;
  if (contrast(best, ground) >= least_contrast(theme)) return {best, std::nullopt};
  return {theme.text, theme.panel};
}

float draw_failure_key(const Theme& theme, ImVec2 middle_left, bool map) {
  const float wide = theme.px(map ? 22 : 10);
  if (map)
    draw_failure_hatch(theme, {{middle_left.x, middle_left.y - theme.px(7)},
                               {middle_left.x + wide, middle_left.y + theme.px(7)}});
  else
    draw_cross(theme, {middle_left.x + wide / 2, middle_left.y});
  return wide;
}

float draw_caveat_key(const Theme& theme, ImVec2 middle_left) {
  const float wide = theme.px(12);
  draw_ring(theme, {middle_left.x + wide / 2, middle_left.y});
  return wide;
}

SweepColumns paint_sweep_lines(const Theme& theme, const Box& box, const Sweep& sweep,
                               const Metric& metric, const SweepLook& look) {
  std::vector<double> values;
  for (const SweepPoint& point : sweep.points)
    for (std::size_t side = 0; side < point.sides.size(); ++side)
      if (const auto value = value_at(point, side, metric)) values.push_back(*value);
  Box inside = framed(theme, box, title_of(metric), theme.px(92), look);
  const bool lines = is_ordered(sweep.axes[0]);
  const Box marks = inside;                  // stand above
  if (!lines) inside.min.y += theme.px(16);  // each bar has its value above it
  draw_values_below(theme, inside, sweep.axes[0], !lines);
  draw_name_below(theme, inside, sweep.axes[0]);
  draw_present(theme, marks, sweep.axes[0], look, !lines);
  const Scale scale = values.empty() ? Scale{} : scale_of(values, metric);
  if (!values.empty()) draw_scale(theme, inside, scale, metric);
  for (std::size_t side = 0; side < sweep.points.front().sides.size(); ++side)
    (lines ? draw_line : draw_bars)(theme, inside, sweep, metric, side, scale);
  return columns_of(inside, sweep.points.size(), !lines);
}

SweepColumns paint_sweep_map(const Theme& theme, const Box& box, const Sweep& sweep,
                             const Metric& metric, std::size_t side, const SweepLook& look) {
  const std::vector<SweepPoint::Side>& sides = sweep.points.front().sides;
  const std::string title = title_of(metric) + (sides.size() > 1 ? ", " + sides[side].label : "");
  Box inside = framed(theme, box, title, widest_value(theme, sweep.axes[0]) + theme.px(16), look);
  const HeatMap map(theme, sweep, metric, side);
  draw_map_head(theme, {{box.min.x, inside.min.y}, {inside.max.x, inside.min.y + theme.px(16)}},
                sweep, map);
  inside.min.y += theme.px(20);
  inside.max.y += theme.px(22);  // the columns' knob is named above
  map.paint(inside);
  map.mark(inside, look);
  draw_values_below(theme, inside, sweep.axes[1], true);
  return map.cells(inside);
}

}  // namespace trainscope::ui
