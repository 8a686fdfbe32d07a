#include "ui/panels/memory/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/ticks.h"
#include "base/units.h"
#include "ui/app/views/names_apart.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

using analysis::MemoryBlock;
using analysis::MemoryHistory;

std::string bytes_words(double bytes) {
  return format_bytes(bytes);
}

// ---- Over time ---------------------------------------------------------------------------------

int format_axis_bytes(double value, char* out, int size, void*) {
  const std::string words = value < 0.5 ? "0" : bytes_words(value);
  const auto end =
      fmt::format_to_n(out, static_cast<std::size_t>(std::max(size - 1, 0)), "{}", words);
  *end.out = '\0';
  return static_cast<int>(end.size);
}

// Round steps of binary units, about `count` of them up to `most`.
std::vector<double> byte_ticks(double most, double count) {
  double step = std::exp2(std::floor(std::log2(std::max(most, 1.0) / count)));
  while (most / step > count) step *= 2;
  return multiples(step, 0, most);
}

// The axis of a chart: time, or changes one after another.
class Axis {
 public:
  Axis(const MemoryHistory& history, const MemoryChart& chart)
      : history_(history), by_change_(chart.by_change), range_(chart.range) {
    if (!by_change_) return;
    first_ = std::max<std::size_t>(history.changes_by(range_.start), 1) - 1;
    last_ = std::max(history.changes_by(range_.end), first_ + 1);
  }

  Stretch stretch() const {
    const double from =
        by_change_ ? static_cast<double>(first_) : static_cast<double>(range_.start);
    const double to = by_change_ ? static_cast<double>(last_) : static_cast<double>(range_.end);
    return {from, to, from, to};
  }
  double x_of(Nanos time) const {
    return by_change_ ? static_cast<double>(history_.changes_by(time)) : static_cast<double>(time);
  }
  Nanos time_at(double x) const {
    if (!by_change_) return static_cast<Nanos>(std::max(x, 0.0));
    const double last = static_cast<double>(history_.moments().size()) - 1;
    return history_.moments()[static_cast<std::size_t>(std::clamp(x, 0.0, last))].time;
  }
  std::vector<const MemoryHistory::Moment*> highest(std::size_t columns) const {
    return by_change_ ? history_.highest_of_changes(first_, last_, columns)
                      : history_.highest(range_.start, range_.end, columns);
  }

 private:
  const MemoryHistory& history_;
  bool by_change_;
  TimeRange range_;
  std::size_t first_ = 0, last_ = 0;
};

// One for each pixel of the chart.
void read_columns(MemoryColumns& columns, const Axis& axis, const MemoryChart& chart) {
  const auto count = static_cast<std::size_t>(std::max(chart_box().width(), 1.0F));
  if (columns.moments.size() == count && columns.range == chart.range &&
      columns.by_change == chart.by_change)
    return;
  columns = {chart.range, chart.by_change, axis.highest(count)};
}

// One column after the other, so that edges are upright; without roles one colour.
void paint_stack(const Theme& theme, const MemoryHistory& history,
                 const std::vector<const MemoryHistory::Moment*>& moments) {
  const Box box = chart_box();
  const std::size_t columns = moments.size();
  const std::vector<std::size_t> order = analysis::stack_order(history.roles());
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  const auto y_of = [](double bytes) { return ImPlot::PlotToPixels(0, bytes).y; };
  // What is the same from one column to the next is one rectangle.
  for (std::size_t from = 0, to = 0; from < columns; from = to) {
    while (to < columns && moments[to] == moments[from]) ++to;
    if (!moments[from]) continue;
    const float left = box.min.x + static_cast<float>(from);
    const float right = box.min.x + static_cast<float>(to);
    double sum = 0;
    const std::vector<double>& roles = moments[from]->by_role;
    if (roles.empty()) {
      draw->AddRectFilled({left, y_of(moments[from]->allocated)}, {right, box.max.y},
                          theme.of(trace::Category::kForward).fill);
      continue;
    }
    for (const std::size_t role : order) {
      if (roles[role] <= 0) continue;
      const float low = y_of(sum);
      sum += roles[role];
      draw->AddRectFilled({left, y_of(sum)}, {right, low},
                          role_style(theme, history.roles()[role]).fill);
    }
  }
}

// What the allocator holds, as a line of steps.
void paint_reserved(const Theme& theme, const MemoryHistory& history,
                    const std::vector<const MemoryHistory::Moment*>& moments) {
  if (history.most_reserved() <= 0) return;
  const Box box = chart_box();
  ImVector<ImVec2> points;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (!moments[i]) continue;
    const float y = ImPlot::PlotToPixels(0, moments[i]->reserved).y;
    const float x = box.min.x + static_cast<float>(i);
    if (!points.empty() && points.back().y == y) continue;
    if (!points.empty()) points.push_back({x, points.back().y});
    points.push_back({x, y});
  }
  if (points.empty()) return;
  points.push_back({box.max.x, points.back().y});
  ImPlot::GetPlotDrawList()->AddPolyline(points.Data, points.Size, theme.muted, theme.px(1.6F));
}

// A level's name, on what else is drawn there: the playhead.
void name_level(const Theme& theme, float left, float middle, const std::string& words,
                Color color) {
  const float wide = text_size(theme.font.text, theme.size.label, words).x, half = theme.px(7);
  ImDrawList* draw = ImPlot::GetPlotDrawList();
  draw->AddRectFilled({left - theme.px(2), middle - half},
                      {left + wide + theme.px(2), middle + half}, theme.panel);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, middle, color, words);
}

// A line right across the chart, and its name at the right end, where there is room for it.
void paint_capacity(const Theme& theme, double capacity, double context) {
  const Box box = chart_box();
  const float y = ImPlot::PlotToPixels(0, capacity).y;
  ImPlot::GetPlotDrawList()->AddLine({box.min.x, y}, {box.max.x, y}, theme.bad, theme.px(1.6F));
  const auto width = [&](const std::string& words) {
    return text_size(theme.font.text, theme.size.label, words).x;
  };
  std::string words = "capacity " + bytes_words(capacity);
  const std::string more = words + " beside CUDA's context of " + bytes_words(context);
  if (context > 0 && width(more) < box.width() - theme.px(12)) words = more;
  const float wide = width(words);
  if (wide > box.width() - theme.px(12)) return;
  name_level(theme, box.max.x - theme.px(6) - wide, std::round(y) - theme.px(9), words, theme.bad);
}

// Where the line is highest, above it; below it where the capacity's line is closer than that. A
// chart that is narrower than the words has none.
void name_reserved(const Theme& theme, const std::vector<const MemoryHistory::Moment*>& moments,
                   double capacity) {
  const ReservedTop top = reserved_top(moments);
  if (top.to == top.from) return;
  const Box box = chart_box();
  const float y = std::round(ImPlot::PlotToPixels(0, top.bytes).y), line = theme.px(18);
  const bool close = capacity > 0 && y - ImPlot::PlotToPixels(0, capacity).y < line;
  const std::string words = "reserved " + bytes_words(top.bytes);
  const float wide = text_size(theme.font.text, theme.size.label, words).x, pad = theme.px(6);
  if (wide > box.width() - 2 * pad) return;
  const float left = box.min.x + static_cast<float>(top.from) + pad;
  name_level(theme, std::min(left, box.max.x - pad - wide), close ? y + line / 2 : y - line / 2,
             words, theme.muted);
}

// Under the chart: what the host was launching.
void paint_phases(const Theme& theme, const Box& strip, const MemoryHistory& history,
                  const Axis& axis, const TimeRange& range) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->PushClipRect(strip.min, strip.max, true);
  const Stretch all = axis.stretch();
  const auto x_of = [&](Nanos time) {
    return strip.min.x + static_cast<float>((axis.x_of(time) - all.from) / (all.to - all.from) *
                                            static_cast<double>(strip.width()));
  };
  float last = -1e9F;
  // One before the first: it may reach into the range.
  const auto& phases = history.phases();
  auto at = std::ranges::lower_bound(phases, range.start, {}, &analysis::HostPhase::start);
  if (at != phases.begin()) --at;
  for (; at != phases.end() && at->start <= range.end; ++at) {
    const analysis::HostPhase& phase = *at;
    const Box box{{x_of(phase.start), strip.min.y}, {x_of(phase.end), strip.max.y}};
    if (box.max.x < strip.min.x || box.max.x - last < 0.5F) continue;
    last = box.max.x;
    const CategoryStyle& style = theme.of(phase.category);
    draw_solid(draw, theme, {box.min, {std::max(box.max.x, box.min.x + 1), box.max.y}}, style);
    const std::string name(trace::name_of(phase.category));
    const float left = std::max(box.min.x, strip.min.x), right = std::min(box.max.x, strip.max.x);
    if (text_size(theme.font.text, theme.size.label, name).x + theme.px(8) < right - left)
      draw_text_middle(draw, theme.font.text, theme.size.label, left + theme.px(5),
                       strip.centre().y, style.text, name);
  }
  draw->PopClipRect();
}

void paint_chart_card(const Theme& theme, const MemoryHistory& history, const Axis& axis) {
  if (!ImPlot::IsPlotHovered()) return;
  const double x = ImPlot::GetPlotMousePos().x;
  const Nanos time = axis.time_at(x);
  const MemoryHistory::Moment* moment = history.at(time);
  if (!moment) return;
  draw_upright(theme, x, theme.grid(3), 1);
  CardRows rows = {{"allocated", bytes_words(moment->allocated)}};
  if (moment->reserved > 0) rows.emplace_back("reserved", bytes_words(moment->reserved));
  for (std::size_t i = moment->by_role.size(); i > 0; --i)
    if (moment->by_role[i - 1] > 0)
      rows.emplace_back(history.roles()[i - 1], bytes_words(moment->by_role[i - 1]));
  chart_card(theme, "at " + format_nanos(static_cast<double>(time)), rows);
}

// ---- The peak ----------------------------------------------------------------------------------

struct PeakRow {
  Color color;
  std::string name;
  double bytes;
  bool strong = false;
};

constexpr float kSwatch = 11, kBesideSwatch = 8;

// For the name of a row: between its colour and its figure.
float room_for_name(const Theme& theme, const Box& box, double bytes) {
  const float wide = text_size(theme.font.mono, theme.size.label, bytes_words(bytes)).x;
  return box.width() - theme.px(kSwatch + kBesideSwatch + 8) - wide;
}

void paint_row(const Theme& theme, const Box& box, const PeakRow& row) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float y = box.centre().y, edge = theme.px(kSwatch), size = theme.size.small;
  const std::string bytes = bytes_words(row.bytes);
  draw->AddRectFilled({box.min.x, y - edge / 2}, {box.min.x + edge, y + edge / 2}, row.color,
                      theme.px(2));
  draw_text_middle(
      draw, theme.font.text, size, box.min.x + edge + theme.px(kBesideSwatch), y,
      row.strong ? theme.text : theme.muted,
      shortened(theme.font.text, size, row.name, room_for_name(theme, box, row.bytes)));
  draw_text_middle(draw, theme.font.mono, theme.size.label, box.max.x, y,
                   row.strong ? theme.text : theme.muted, bytes, 1);
}

std::vector<PeakRow> role_rows(const Theme& theme, const MemoryHistory& history,
                               const MemoryColumns& columns) {
  std::vector<PeakRow> rows;
  for (const std::size_t role : roles_drawn(history, columns)) {
    const std::string& name = history.roles()[role];
    rows.push_back({role_style(theme, name).fill, name, history.peak().by_role[role], true});
  }
  return rows;
}

}  // namespace

const CategoryStyle& role_style(const Theme& theme, const std::string& role) {
  for (std::size_t i = 0; i < program::kRoles; ++i)
    if (program::name_of(static_cast<program::Role>(i)) == role)
      return theme.of(static_cast<program::Role>(i));
  return theme.of(trace::Category::kOther);
}

ReservedTop reserved_top(const std::vector<const MemoryHistory::Moment*>& columns) {
  ReservedTop top;
  const auto reserved = [&](std::size_t i) { return columns[i] ? columns[i]->reserved : 0; };
  for (std::size_t from = 0, to = 0; from < columns.size(); from = to) {
    while (to < columns.size() && reserved(to) == reserved(from)) ++to;
    const double bytes = reserved(from);
    if (bytes > top.bytes || (bytes == top.bytes && bytes > 0 && to - from > top.to - top.from))
      top = {bytes, from, to};
  }
  return top;
}

std::vector<std::size_t> roles_drawn(const MemoryHistory& history, const MemoryColumns& columns) {
  const auto& at_peak = history.peak().by_role;
  std::vector<std::size_t> roles;
  for (std::size_t role = 0; role < at_peak.size(); ++role) {
    const auto has = [role](const MemoryHistory::Moment* moment) {
      return moment && role < moment->by_role.size() && moment->by_role[role] > 0;
    };
    if (at_peak[role] > 0 || std::ranges::any_of(columns.moments, has)) roles.push_back(role);
  }
  const std::vector<std::size_t> order = analysis::stack_order(history.roles());
  std::ranges::sort(roles, std::ranges::greater{}, [&](std::size_t role) {
    return std::ranges::find(order, role) - order.begin();
  });
  return roles;
}

bool paint_memory_chart(const Theme& theme, const char* id, const Box& box,
                        const MemoryHistory& history, const MemoryChart& chart,
                        MemoryColumns& columns, Nanos& dragged) {
  const double held = std::max({history.most_reserved(), history.peak().allocated, chart.highest});
  // A GPU far larger than what is used would leave nothing to see of that.
  const bool near = chart.capacity > 0 && chart.capacity < 3 * held;
  ChartOptions options;
  options.x_format = format_time;
  options.x_numbers = !chart.by_change;  // of changes they would count what nobody counts
  options.y_format = format_axis_bytes;
  options.fixed = true;
  options.y_to = (near ? std::max(chart.capacity, held) : held) * 1.14;
  const Axis axis(history, chart);
  Stretch x = axis.stretch();
  const std::vector<double> ticks =
      byte_ticks(options.y_to, std::clamp<double>(box.height() / theme.px(38), 2, 6));
  options.y_ticks = &ticks;
  const bool phases = !history.phases().empty() && box.height() > theme.px(110);
  const float strip = phases ? theme.px(20) : 0;
  const Box frame{box.min, {box.max.x, box.max.y - strip}};
  if (!begin_chart(theme, id, frame, x, options)) return false;
  if (chart.by_change)
    name_axis_alone(theme, {"allocations and frees, one after another", "allocations and frees"});
  read_columns(columns, axis, chart);
  ImPlot::PushPlotClipRect();
  paint_stack(theme, history, columns.moments);
  paint_reserved(theme, history, columns.moments);
  ImPlot::PopPlotClipRect();
  draw_upright(theme, axis.x_of(chart.playhead), theme.accent, 1.4F);
  name_reserved(theme, columns.moments, near ? chart.capacity : 0);
  if (near) paint_capacity(theme, chart.capacity, chart.context);
  paint_chart_card(theme, history, axis);
  double at = 0;
  const bool moved = dragged_to(at);
  if (moved) dragged = axis.time_at(at);
  const Box inside = chart_box();
  end_chart();
  if (phases)
    paint_phases(theme, {{inside.min.x, box.max.y - theme.px(19)}, {inside.max.x, box.max.y}},
                 history, axis, chart.range);
  return moved;
}

namespace {

// As many of the largest as the box has room for, their names told apart.
std::vector<PeakRow> block_rows(const Theme& theme, const Box& box, float row,
                                const trace::Trace& trace, const std::vector<MemoryBlock>& blocks) {
  std::vector<PeakRow> rows;
  std::vector<std::string> names;
  float room = box.width();
  for (const MemoryBlock& block : blocks) {
    if (static_cast<float>(rows.size() + 1) * row > box.height()) break;
    const std::string role = block.role == trace::kNone ? "" : trace.name(block.role);
    const auto bytes = static_cast<double>(block.bytes);
    names.push_back(block.owner == trace::kNone ? "a tensor" : trace.name(block.owner));
    rows.push_back({role_style(theme, role).fill, "", bytes});
    room = std::min(room, room_for_name(theme, box, bytes));
  }
  const auto cut = [&](auto shorten) -> Cut {
    return [&theme, room, shorten](std::string_view name) {
      return shorten(theme.font.text, theme.size.small, name, room);
    };
  };
  const std::vector<std::string> cut_names =
      cut_apart(names, cut(shortened_middle), cut(shortened));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = cut_names[i];
  return rows;
}

}  // namespace

void paint_peak(const Theme& theme, const Box& box, const MemoryColumns& columns,
                const trace::Trace& trace, const MemoryHistory& history,
                const std::vector<MemoryBlock>& at_peak) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float row = theme.px(21);
  float y = box.min.y;
  const auto heading = [&](const std::string& words) {
    draw_text_middle(draw, theme.font.strong, theme.size.small, box.min.x, y + row / 2, theme.text,
                     shortened(theme.font.strong, theme.size.small, words, box.width()));
    y += row + theme.px(2);
  };
  heading("At the peak, " + bytes_words(history.peak().allocated));
  for (const PeakRow& one : role_rows(theme, history, columns)) {
    if (y + row > box.max.y) return;
    paint_row(theme, {{box.min.x, y}, {box.max.x, y + row}}, one);
    y += row;
  }
  if (at_peak.empty() || y + 3 * row > box.max.y) return;
  y += theme.px(8);
  heading("Largest then");
  for (const PeakRow& one : block_rows(theme, {{box.min.x, y}, box.max}, row, trace, at_peak)) {
    paint_row(theme, {{box.min.x, y}, {box.max.x, y + row}}, one);
    y += row;
  }
}

}  // namespace trainscope::ui
