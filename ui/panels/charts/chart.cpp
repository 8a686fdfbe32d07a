#include "ui/panels/charts/chart.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <implot_internal.h>

#include <algorithm>
#include <cmath>

#include "base/ticks.h"

namespace trainscope::ui {
namespace {

int write(char* out, int size, const std::string& words) {
  const auto end =
      fmt::format_to_n(out, static_cast<std::size_t>(std::max(size - 1, 0)), "{}", words);
  *end.out = '\0';
  return static_cast<int>(end.size);
}

ImVec4 vec(Color color) {
  return ImGui::ColorConvertU32ToFloat4(color);
}

// The steps of a series that are in view, with one more at either end.
std::pair<std::size_t, std::size_t> in_view(std::size_t count, std::span<const Nanos> times) {
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  if (!times.empty()) {
    const auto from = std::ranges::lower_bound(times, static_cast<Nanos>(limits.X.Min));
    const auto to = std::ranges::upper_bound(times, static_cast<Nanos>(limits.X.Max));
    return {static_cast<std::size_t>(std::max(from - times.begin() - 1, std::ptrdiff_t{0})),
            std::min(static_cast<std::size_t>(to - times.begin()) + 1, count)};
  }
  const double last = static_cast<double>(count);
  const double from = std::clamp(std::floor(limits.X.Min) - 1, 0.0, last);
  const double to = std::clamp(std::ceil(limits.X.Max) + 2, from, last);
  return {static_cast<std::size_t>(from), static_cast<std::size_t>(to)};
}

// Points on the screen, one line after another.
class Polyline {
 public:
  Polyline(ImDrawList& draw, const Pen& pen, float scale) : draw_(draw), pen_(pen), scale_(scale) {}

  void add(ImVec2 point) { points_.push_back(point); }
  void finish() {
    if (points_.size() > 1) {
      const int count = points_.Size;
      const float thick = pen_.thickness * scale_;
      draw_.AddPolyline(points_.Data, count, pen_.color, pen_.solid ? thick : thick * 1.8F);
      if (!pen_.solid) draw_.AddPolyline(points_.Data, count, pen_.ground, thick * 0.65F);
    } else if (points_.size() == 1) {
      draw_.AddCircleFilled(points_[0], pen_.thickness * scale_, pen_.color);
    }
    points_.clear();
  }

 private:
  ImDrawList& draw_;
  const Pen& pen_;
  float scale_;
  ImVector<ImVec2> points_;
};

// The least and the most of the steps that fall on one pixel.
void add_pixel(Polyline& line, float x, double least, double most) {
  const float low = ImPlot::PlotToPixels(0, least).y, high = ImPlot::PlotToPixels(0, most).y;
  line.add({x, low});
  if (high < low - 0.5F) line.add({x, high});
}

// A line for each number beside the chart; ImPlot makes them fainter the more there are.
void draw_grid(const Theme& theme) {
  const Box box = chart_box();
  const ImPlotAxis& axis = ImPlot::GetCurrentPlot()->Axes[ImAxis_Y1];
  for (int i = 0; i < axis.Ticker.TickCount(); ++i) {
    const ImPlotTick& tick = axis.Ticker.Ticks[i];
    const float y = std::round(tick.PixelPos);
    if (tick.ShowLabel && y >= box.min.y && y <= box.max.y)
      ImPlot::GetPlotDrawList()->AddLine({box.min.x, y}, {box.max.x, y}, theme.grid());
  }
}

// Left and right of a chart: half a label under an end of the axis.
float side_room(const Theme& theme, const ChartOptions& options) {
  return theme.px(options.x_format == format_time ? 34 : 20);
}

void dress(const Theme& theme, float room) {
  ImGui::PushFont(theme.font.mono, theme.size.label);
  ImPlot::PushStyleVar(ImPlotStyleVar_PlotPadding, ImVec2(room, theme.px(8)));
  ImPlot::PushStyleVar(ImPlotStyleVar_LabelPadding, ImVec2(theme.px(6), theme.px(5)));
  ImPlot::PushStyleVar(ImPlotStyleVar_MajorTickLen, ImVec2(0, 0));
  ImPlot::PushStyleVar(ImPlotStyleVar_MinorTickLen, ImVec2(0, 0));
  ImPlot::PushStyleVar(ImPlotStyleVar_PlotMinSize, ImVec2(20, 20));
  ImPlot::PushStyleColor(ImPlotCol_AxisText, vec(theme.muted));
  const ImVec4 none = vec(faded(theme.panel, 0));
  for (const ImPlotCol color : {ImPlotCol_AxisBg, ImPlotCol_AxisBgHovered, ImPlotCol_AxisBgActive})
    ImPlot::PushStyleColor(color, none);
  // The left button moves the playhead.
  ImPlot::GetInputMap().Pan = ImGuiMouseButton_Right;
}

// Takes back what dress() set.
void undress() {
  ImPlot::PopStyleColor(4);
  ImPlot::PopStyleVar(5);
  ImGui::PopFont();
}

constexpr int kMoved = int{ImPlotAxisFlags_NoMenus} | int{ImPlotAxisFlags_NoSideSwitch} |
                       int{ImPlotAxisFlags_NoHighlight} | int{ImPlotAxisFlags_NoGridLines};
constexpr int kStill = kMoved | int{ImPlotAxisFlags_Lock};

int format_x(double value, char* out, int size, void* data) {
  const ChartOptions& options = *static_cast<const ChartOptions*>(data);
  if (!options.x_numbers) return write(out, size, "");
  return options.x_format(value, out, size, nullptr);
}

void set_axes(Stretch& x, const ChartOptions& options) {
  ImPlot::SetupAxis(ImAxis_X1, nullptr, options.fixed ? kStill : kMoved);
  ImPlot::SetupAxis(ImAxis_Y1, nullptr, kStill);
  // ImPlot asks for the numbers before begin_chart() ends.
  ImPlot::SetupAxisFormat(ImAxis_X1, format_x, const_cast<ChartOptions*>(&options));
  ImPlot::SetupAxisFormat(ImAxis_Y1, options.y_format);
  ImPlot::SetupAxisLinks(ImAxis_X1, &x.from, &x.to);
  ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, x.least, x.most);
  ImPlot::SetupAxisLimits(ImAxis_Y1, options.y_from, options.y_to, ImPlotCond_Always);
  if (options.y_ticks)
    ImPlot::SetupAxisTicks(ImAxis_Y1, options.y_ticks->data(),
                           static_cast<int>(options.y_ticks->size()));
  if (options.logarithmic) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
}

void set_right_axis(int ticks) {
  ImPlot::SetupAxis(ImAxis_Y2, nullptr, kStill | int{ImPlotAxisFlags_Opposite});
  ImPlot::SetupAxisLimits(ImAxis_Y2, 0, 100, ImPlotCond_Always);
  ImPlot::SetupAxisFormat(ImAxis_Y2, "%g %%");
  ImPlot::SetupAxisTicks(ImAxis_Y2, 0, 100, ticks);
}

}  // namespace

int format_step(double value, char* out, int size, void*) {
  std::string digits = fmt::format("{:.0f}", value);
  if (std::abs(value - std::round(value)) > 1e-6) return write(out, size, "");
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-'; at -= 3)
    digits.insert(at - 3, ",");
  return write(out, size, digits);
}

int format_number(double value, char* out, int size, void*) {
  return write(out, size, fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value));
}

int format_power(double value, char* out, int size, void*) {
  if (std::abs(value - std::round(value)) > 1e-6) return write(out, size, "");
  return write(out, size, fmt::format("2^{}", std::lround(value)));
}

int format_time(double value, char* out, int size, void*) {
  return write(out, size, format_tick(value));
}

void Stretch::follow(double from_all, double to_all) {
  const bool whole = from == least && to == most;
  if (whole || from >= to_all || to <= from_all) from = from_all, to = to_all;
  least = from_all;
  most = to_all;
}

bool begin_chart(const Theme& theme, const char* id, const Box& box, Stretch& x,
                 const ChartOptions& options) {
  const float room = side_room(theme, options);
  ImGui::SetCursorScreenPos({box.min.x - room, box.min.y});
  dress(theme, room);
  const bool open = ImPlot::BeginPlot(
      id, {box.width() + room, box.height()},
      int{ImPlotFlags_CanvasOnly} | int{ImPlotFlags_NoFrame} | int{ImPlotFlags_NoBoxSelect});
  if (!open) {
    undress();
    return false;
  }
  set_axes(x, options);
  if (options.share_right) set_right_axis(box.height() > theme.px(150) ? 5 : 3);
  ImPlot::SetupFinish();
  draw_grid(theme);
  return true;
}

void end_chart() {
  ImPlot::EndPlot();
  undress();
}

namespace {

// Half of a number at an end of the axis.
float half_number(const Theme& theme) {
  return text_size(theme.font.mono, theme.size.label, "9,999").x / 2;
}

float numbers_middle(const Theme& theme) {
  return chart_box().max.y + theme.px(5) + theme.size.label / 2;
}

}  // namespace

void name_axis_alone(const Theme& theme, const std::vector<std::string>& ways) {
  const Box inside = chart_box();
  const float size = theme.size.label;
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, inside.centre().x,
                   numbers_middle(theme), theme.muted, fitting(theme, size, ways, inside.width()),
                   0.5F);
}

void name_axis(const Theme& theme, const Box& box, const char* words) {
  const Box inside = chart_box();
  const float size = theme.size.label, gap = theme.px(8);
  const float width = text_size(theme.font.text, size, words).x;
  const float y = numbers_middle(theme);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (width + half_number(theme) < inside.min.x - box.min.x)
    draw_text_middle(draw, theme.font.text, size, box.min.x, y, theme.muted, words);
  else if (width + 3 * gap < box.max.x - inside.max.x)
    draw_text_middle(draw, theme.font.text, size, box.max.x, y, theme.muted, words, 1);
  else  // above the axis' end
    draw_text_middle(draw, theme.font.text, size, inside.max.x - gap, inside.max.y - size,
                     theme.muted, words, 1);
}

float room_for_axis_name(const Theme& theme, const Box& box, const char* words) {
  const float room = text_size(theme.font.text, theme.size.label, words).x + theme.px(26);
  return box.width() > 4 * room ? room : 0;
}

double least_contrast(const Theme& theme) {
  return theme.mode == ThemeMode::kProjector ? 7 : 4.5;
}

std::string fitting(const Theme& theme, float size, const std::vector<std::string>& ways,
                    float width) {
  for (const std::string& words : ways)
    if (text_size(theme.font.text, size, words).x <= width) return words;
  return ways.empty() ? "" : shortened(theme.font.text, size, ways.back(), width);
}

Box chart_box() {
  const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  return {at, {at.x + size.x, at.y + size.y}};
}

Color side_color(const Theme& theme, std::size_t side) {
  return theme.of(side == 0 ? trace::Category::kForward : trace::Category::kCopyH2D).line;
}

Pen side_pen(const Theme& theme, std::size_t side) {
  return {side_color(theme, side), 2, side == 0, theme.panel};
}

void draw_values(const Theme& theme, std::span<const double> values, const Pen& pen, bool stepped,
                 std::span<const Nanos> times) {
  ImPlot::PushPlotClipRect();
  Polyline line(*ImPlot::GetPlotDrawList(), pen, theme.scale);
  const auto [from, to] = in_view(values.size(), times);
  double least = 0, most = 0;
  float pixel = -1e9F, last_y = 0;
  bool any = false, after_one = false;
  const auto flush = [&] {
    if (any) add_pixel(line, pixel, least, most);
    any = false;
  };
  for (std::size_t i = from; i < to; ++i) {
    if (std::isnan(values[i])) {
      flush();
      line.finish();
      after_one = false;
      continue;
    }
    const double x = static_cast<double>(times.empty() ? static_cast<Nanos>(i) : times[i]);
    const ImVec2 at = ImPlot::PlotToPixels(x, values[i]);
    if (stepped && after_one) flush(), line.add({at.x, last_y});
    if (!any || at.x - pixel >= 1) {
      flush();
      pixel = at.x;
      least = most = values[i];
      any = true;
    }
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
    last_y = at.y;
    after_one = true;
  }
  flush();
  line.finish();
  ImPlot::PopPlotClipRect();
}

void draw_marks(const Theme& theme, std::span<const std::int64_t> steps, Color color, bool solid) {
  ImPlot::PushPlotClipRect(theme.px(6));
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  const Box box = chart_box();
  const float half = theme.px(5), foot = box.max.y - theme.px(1);
  float last = -1e9F;
  for (const std::int64_t step : steps) {
    const float x = ImPlot::PlotToPixels(static_cast<double>(step), 1).x;
    if (x < box.min.x - half || x > box.max.x + half || x - last < theme.px(2)) continue;
    last = x;
    const ImVec2 left{x - half, foot}, right{x + half, foot}, top{x, foot - 1.8F * half};
    if (solid)
      draw->AddTriangleFilled(left, right, top, color);
    else
      draw->AddTriangle(left, right, top, color, theme.px(1.4F));
  }
  ImPlot::PopPlotClipRect();
}

void draw_upright(const Theme& theme, double x, Color color, float thickness,
                  const std::string& words, float down) {
  const Box box = chart_box();
  const float at = std::round(ImPlot::PlotToPixels(x, 1).x);
  if (at < box.min.x - 1 || at > box.max.x + 1) return;
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  draw->AddLine({at, box.min.y}, {at, box.max.y}, color, theme.px(thickness));
  if (words.empty()) return;
  const float size = theme.size.label, width = text_size(theme.font.text, size, words).x;
  const float pad = theme.px(5);
  const float left = at + width + 2 * pad <= box.max.x ? at + pad : at - width - pad;
  const float y = box.min.y + theme.px(9) + down;
  draw->AddRectFilled({left - theme.px(2), y - size * 0.65F},
                      {left + width + theme.px(2), y + size * 0.65F}, faded(theme.panel, 0.85F),
                      theme.px(3));
  draw_text_middle(draw, theme.font.text, size, left, y, color, words);
}

bool dragged_to(double& x) {
  const ImGuiID id = ImGui::GetID("drag");
  ImGuiStorage* storage = ImGui::GetStateStorage();
  if (ImPlot::IsPlotHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    storage->SetBool(id, true);
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) storage->SetBool(id, false);
  if (!storage->GetBool(id)) return false;
  x = ImPlot::GetPlotMousePos().x;
  return true;
}

void chart_card(const Theme& theme, const std::string& title, const CardRows& rows) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  if (ImGui::BeginTooltip()) {
    text(theme.font.strong, theme.size.text, theme.text, title);
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(2)));
    if (!rows.empty() && ImGui::BeginTable("##card", 2, ImGuiTableFlags_SizingFixedFit)) {
      for (const auto& [key, value] : rows) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        text(theme.font.text, theme.size.small, theme.muted, key);
        ImGui::TableNextColumn();
        text(theme.font.mono, theme.size.mono, theme.text, value);
      }
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
