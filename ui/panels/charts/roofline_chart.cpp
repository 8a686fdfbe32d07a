#include "ui/panels/charts/roofline_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/views/on_roofline.h"
#include "base/text.h"
#include "base/units.h"
#include "trace/short_name.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/charts/roof_names.h"

namespace trainscope::ui {
namespace {

using analysis::RooflineKernel;
using machine::Math;

// Both ends as powers of ten.
struct Decades {
  double from = 0, to = 1;

  void include(double value) {
    if (value <= 0) return;
    from = std::min(from, std::log10(value));
    to = std::max(to, std::log10(value));
  }
  double share(double value) const { return (std::log10(value) - from) / (to - from); }
};

Nanos time_of(const analysis::Roofline& roofline) {
  Nanos all = 0;
  for (const RooflineKernel& kernel : roofline.kernels) all += kernel.time;
  return all;
}

// The units whose roofs are drawn: those that calculate for a hundredth of the time at least.
std::set<Math> units_of(const analysis::Roofline& roofline) {
  std::map<Math, Nanos> times;
  Nanos all = 0;
  for (const RooflineKernel& kernel : roofline.kernels)
    if (kernel.has_point()) times[kernel.work.math] += kernel.time, all += kernel.time;
  std::set<Math> units;
  for (const auto& [math, time] : times)
    if (100 * time >= all) units.insert(math);
  return units;
}

class Painter {
 public:
  Painter(const Theme& theme, const Box& box, const std::vector<RooflineSide>& sides)
      : theme_(theme), sides_(sides), draw_(ImGui::GetWindowDrawList()) {
    body_ = {{box.min.x + theme.px(86), box.min.y + theme.px(6)},
             {box.max.x - theme.px(10), box.max.y - theme.px(36)}};
    labels_ = LineLabels({{body_.min.x, body_.min.y - theme.px(4)}, {body_.max.x + 1, body_.max.y}},
                         theme.px(8), theme.px(8));
    for (const RooflineSide& one : sides) all_[one.side] = time_of(*one.roofline);
    find_ranges();
  }

  bool has_room() const { return body_.width() > theme_.px(120) && body_.height() > theme_.px(60); }
  const Box& body() const { return body_; }

  void paint() {
    paint_axes();
    draw_->PushClipRect(body_.min, body_.max, true);
    for (const RooflineSide& one : sides_)
      if (one.gpu && !same_gpu_before(one)) paint_roofs(one);
    for (const RooflineSide& one : sides_) paint_points(one);
    draw_->PopClipRect();
    name_roofs();
  }

  void explain(ImVec2 mouse) const {
    const RooflineKernel* nearest = nullptr;
    const RooflineSide* of = nullptr;
    float least = theme_.px(9);
    for (const RooflineSide& one : sides_)
      for (const RooflineKernel& kernel : one.roofline->kernels) {
        if (!kernel.has_point()) continue;
        const ImVec2 at = place(one, kernel);
        const float away = std::hypot(mouse.x - at.x, mouse.y - at.y) - radius(one, kernel);
        if (away < least) least = away, nearest = &kernel, of = &one;
      }
    if (nearest) explain(*of, *nearest);
  }

 private:
  bool same_gpu_before(const RooflineSide& one) const {
    const RooflineSide& first = sides_.front();
    return &first != &one && first.gpu && one.gpu && first.gpu->id == one.gpu->id &&
           first.gpu->clock_share == one.gpu->clock_share &&
           units_of(*first.roofline) == units_of(*one.roofline);
  }

  void find_ranges() {
    x_ = {1e9, -1e9};
    y_ = {1e9, -1e9};
    double least_ridge = 1e9;
    for (const RooflineSide& one : sides_) {
      const Nanos all = all_[one.side];
      for (const RooflineKernel& kernel : one.roofline->kernels)
        if (analysis::is_of_account(kernel, all))
          x_.include(kernel.work.intensity()), y_.include(kernel.achieved());
      if (!one.gpu) continue;
      for (const Math math : units_of(*one.roofline)) {
        x_.include(*machine::ridge(*one.gpu, math));
        y_.include(*machine::peak_flops_per_s(*one.gpu, math));
        least_ridge = std::min(least_ridge, first_ridge(*one.gpu, math));
      }
    }
    if (x_.from > x_.to) x_ = {0, 1};  // nothing is on the axis, and there are no roofs
    if (y_.from > y_.to) y_ = {8, 10};
    constexpr double kRoom = 0.45;  // decades beside the outermost point or roof
    // Left of the first ridge the slopes have room for what they are called.
    const double words = theme_.px(110) / std::max(body_.width(), 1.0F);
    const double most = words / (1 - words) * (x_.to + 1.6 * kRoom - std::log10(least_ridge));
    x_ = {std::min(x_.from - kRoom, std::log10(least_ridge) - std::clamp(most, kRoom, 2.0)),
          x_.to + 1.6 * kRoom};
    y_ = {y_.from - kRoom, y_.to};
    if (y_.to - y_.from < 2) y_.from = y_.to - 2;
    // Above the highest roof there is room for what it is called, and the other side's.
    const double head = std::min(theme_.px(sides_.size() > 1 && different_roofs() ? 34 : 20) /
                                     std::max(body_.height(), 1.0F),
                                 0.4F);
    y_.to += std::max(kRoom, head / (1 - head) * (y_.to - y_.from));
  }

  // Where a unit's roof begins: at the slope of the fastest memory.
  static double first_ridge(const machine::Gpu& gpu, Math math) {
    return *machine::peak_flops_per_s(gpu, math) /
           std::max(gpu.memory_bytes_per_s, gpu.l2_bytes_per_s);
  }

  float x_of(double intensity) const {
    return body_.min.x + static_cast<float>(x_.share(intensity)) * body_.width();
  }
  float y_of(double rate) const {
    return body_.max.y - static_cast<float>(y_.share(rate)) * body_.height();
  }
  // The whole point is within the chart.
  ImVec2 place(const RooflineSide& side, const RooflineKernel& kernel) const {
    const float edge = radius(side, kernel) + theme_.px(2);
    return {std::clamp(x_of(kernel.work.intensity()), body_.min.x + edge, body_.max.x - edge),
            std::clamp(y_of(kernel.achieved()), body_.min.y + edge, body_.max.y - edge)};
  }

  // The area is the share of the time of all kernels of the side.
  float radius(const RooflineSide& side, const RooflineKernel& kernel) const {
    const double share = static_cast<double>(kernel.time) / static_cast<double>(all_[side.side]);
    return std::max(theme_.px(3), theme_.px(24) * static_cast<float>(std::sqrt(share)));
  }

  // ---- Axes ------------------------------------------------------------------------------------

  void paint_axes() {
    const float size = theme_.size.label;
    const int every_x = every(x_, body_.width(), theme_.px(58));
    for (int power = first(x_); power <= x_.to; ++power) {
      const float x = x_of(std::pow(10.0, power));
      draw_->AddLine({x, body_.min.y}, {x, body_.max.y}, theme_.grid());
      if (power % every_x != 0) continue;
      draw_text_middle(draw_, theme_.font.mono, size, x, body_.max.y + theme_.px(10), theme_.muted,
                       power_words(power), 0.5F);
    }
    const int every_y = every(y_, body_.height(), theme_.px(20));
    for (int power = first(y_); power <= y_.to; ++power) {
      const float y = y_of(std::pow(10.0, power));
      draw_->AddLine({body_.min.x, y}, {body_.max.x, y}, theme_.grid());
      if (power % every_y != 0) continue;
      draw_text_middle(draw_, theme_.font.mono, size, body_.min.x - theme_.px(6), y, theme_.muted,
                       format_value(std::pow(10.0, power), "FLOP/s"), 1);
    }
    const char* title = "operations a byte of memory traffic";
    draw_text_middle(draw_, theme_.font.text, size, body_.max.x, body_.max.y + theme_.px(26),
                     theme_.muted, title, 1);
    const float used = text_size(theme_.font.text, size, title).x + theme_.px(16);
    paint_note(body_.width() - used);
  }

  // Counted are the operations of a plain convolution (machine/convolution.h).
  void paint_note(float room) {
    const bool above = std::ranges::any_of(sides_, [](const RooflineSide& one) {
      return one.gpu && std::ranges::any_of(one.roofline->kernels, [&](const auto& kernel) {
               const auto peak = machine::peak_flops_per_s(*one.gpu, kernel.work.math);
               return kernel.name.find("winograd") != std::string::npos && peak &&
                      kernel.achieved() > *peak;
             });
    });
    if (!above) return;
    const std::string words =
        shortened(theme_.font.text, theme_.size.label,
                  "above the roof: Winograd multiplies less than is counted", room);
    draw_text_middle(draw_, theme_.font.text, theme_.size.label, body_.min.x,
                     body_.max.y + theme_.px(26), theme_.muted, words);
  }

  // "0.01", "1", "1k".
  static std::string power_words(int power) {
    if (power < 3) return fmt::format("{:g}", std::pow(10.0, power));
    std::string words = format_count(std::pow(10.0, power));
    std::erase(words, ' ');
    return words;
  }

  static int first(const Decades& axis) { return static_cast<int>(std::ceil(axis.from)); }
  static int every(const Decades& axis, float room, float each) {
    return std::max(1, static_cast<int>(std::ceil((axis.to - axis.from) * each / room)));
  }

  // ---- Roofs -----------------------------------------------------------------------------------

  // Of which the words will have to keep clear.
  std::size_t line(const RooflineSide& side, ImVec2 from, ImVec2 to, float thickness) {
    if (side.side == 0)
      draw_->AddLine(from, to, theme_.muted, theme_.px(thickness));
    else
      draw_dashed_line(draw_, from, to, theme_.muted, theme_.px(thickness), theme_.px(7),
                       theme_.px(5));
    return labels_.add_line(from, to);
  }

  std::size_t slope(const RooflineSide& side, double bytes_per_s, double peak, float thickness) {
    const double low = std::pow(10.0, x_.from);
    return line(side, {x_of(low), y_of(low * bytes_per_s)}, {x_of(peak / bytes_per_s), y_of(peak)},
                thickness);
  }

  // By their peaks: units of one peak have one roof, and one name.
  static std::map<double, std::string> roofs_of(const RooflineSide& side) {
    std::map<double, std::string> roofs;
    for (const Math math : units_of(*side.roofline))
      add_to_list(roofs[*machine::peak_flops_per_s(*side.gpu, math)], machine::name_of(math));
    return roofs;
  }

  void paint_roofs(const RooflineSide& side) {
    const std::string mark =
        sides_.size() > 1 && different_roofs() ? side.side == 0 ? "A: " : "B: " : "";
    double highest = 0;
    for (const auto& [peak, units] : roofs_of(side)) {
      const double fastest = std::max(side.gpu->memory_bytes_per_s, side.gpu->l2_bytes_per_s);
      highest = std::max(highest, peak);
      const ImVec2 ridge{x_of(peak / fastest), y_of(peak)}, end{body_.max.x, ridge.y};
      const std::size_t drawn = line(side, ridge, end, 1.6F);
      // Of two sides the lower roof is named below it, away from the other.
      add_name({drawn,
                {ridge, end, mark.empty() || !is_lower(units, peak, side)},
                mark,
                units + "  " + format_value(peak, "FLOP/s")});
    }
    add_slope(side, side.gpu->memory_bytes_per_s, highest, 1.6F, mark, "memory  ");
    if (side.gpu->l2_bytes_per_s > 0)
      add_slope(side, side.gpu->l2_bytes_per_s, highest, 0.9F, mark, "L2  ");
  }

  void add_slope(const RooflineSide& side, double bytes_per_s, double peak, float thickness,
                 const std::string& mark, const std::string& what) {
    const std::size_t drawn = slope(side, bytes_per_s, peak, thickness);
    const double low = std::pow(10.0, y_.from);
    add_name({drawn,
              {{x_of(low / bytes_per_s), y_of(low)},
               {x_of(peak / bytes_per_s), y_of(peak)},
               bytes_per_s > least_rate()},
              mark,
              what + format_rate(bytes_per_s)});
  }

  // The same units reach more on the other side.
  bool is_lower(const std::string& units, double peak, const RooflineSide& side) const {
    for (const RooflineSide& one : sides_)
      if (one.side != side.side && one.gpu)
        for (const auto& [other, names] : roofs_of(one))
          if (names == units && other > peak) return true;
    return false;
  }

  // What a roof is called.
  struct Name {
    std::size_t line = 0;
    Roof roof;
    std::string mark, words;  // "A: ", and what it is
  };

  // What both sides have is named once, for both.
  void add_name(Name name) {
    for (Name& other : names_)
      if (other.words == name.words && other.mark != name.mark) {
        other.mark.clear();
        return;
      }
    names_.push_back(std::move(name));
  }

  // Below the lowest slope there is room, above the others.
  double least_rate() const {
    double least = INFINITY;
    for (const RooflineSide& one : sides_)
      if (one.gpu) least = std::min(least, one.gpu->memory_bytes_per_s);
    return least;
  }

  void name_roofs() {
    for (const RooflineSide& one : sides_)
      for (const RooflineKernel& kernel : one.roofline->kernels)
        if (kernel.has_point()) labels_.add_point(place(one, kernel), radius(one, kernel));
    // Slopes have more places to choose from.
    std::ranges::stable_partition(names_,
                                  [](const Name& one) { return one.roof.from.y == one.roof.to.y; });
    std::vector<LineLabels::Words> all;
    for (const Name& name : names_)
      all.push_back(
          {name.line, places_of(name.roof, size_of(name.mark + name.words), theme_.px(1))});
    const auto places = labels_.place(all);
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (places[i] && !(is_low() && places[i]->struck)) paint_name(names_[i], *places[i]);
  }

  // Too low for all names: those that could only stand on lines hide more than they tell.
  bool is_low() const { return body_.height() < 8 * theme_.size.label; }

  void paint_name(const Name& name, const LineLabels::Place& place) const {
    const Box& box = place.box;
    if (place.led) lead(place);
    draw_->AddRectFilled(box.min, box.max, faded(theme_.panel, 0.75F), theme_.px(2));
    draw_text_middle(draw_, theme_.font.text, theme_.size.label, box.min.x, box.centre().y,
                     theme_.text, name.mark + name.words);
  }

  // From where the words belong to where they have room.
  void lead(const LineLabels::Place& place) const {
    draw_->AddLine(place.foot, end_of_lead(place), faded(theme_.text, 0.6F), theme_.px(1));
    draw_->AddCircleFilled(place.foot, theme_.px(2.5F), theme_.text);
  }

  // Of a line of text the letters fill the middle.
  ImVec2 size_of(const std::string& words) const {
    return {text_size(theme_.font.text, theme_.size.label, words).x, theme_.size.label * 0.8F};
  }

  bool different_roofs() const { return !same_gpu_before(sides_.back()); }

  // ---- Points ----------------------------------------------------------------------------------

  void paint_points(const RooflineSide& side) const {
    for (const RooflineKernel& kernel : side.roofline->kernels) {  // the largest first
      if (!kernel.has_point()) continue;
      const ImVec2 at = place(side, kernel);
      const float round = radius(side, kernel);
      const Color color = side.gpu ? bound_color(theme_, kernel.regime.bound) : theme_.muted;
      if (side.side == 0) draw_->AddCircleFilled(at, round, faded(color, 0.55F));
      draw_->AddCircle(at, round, color, 0, theme_.px(side.side == 0 ? 1.0F : 2.0F));
      if (x_of(kernel.work.intensity()) < body_.min.x) point_left(at, round, color);
    }
  }

  // The point lies further out than the axis goes.
  void point_left(ImVec2 at, float round, Color color) const {
    const float high = theme_.px(4), x = at.x + round + theme_.px(3);
    draw_->AddTriangleFilled({x, at.y}, {x + 1.5F * high, at.y - high},
                             {x + 1.5F * high, at.y + high}, color);
  }

  void explain(const RooflineSide& side, const RooflineKernel& kernel) const {
    const Nanos all = all_[side.side];
    const machine::KernelWork& work = kernel.work;
    CardRows rows{{"intensity", format_value(work.intensity(), "FLOP/B")},
                  {"achieved", format_value(kernel.achieved(), "FLOP/s")},
                  {"takes", fmt::format("{} x {}", kernel.launches, format_nanos(kernel.nanos))},
                  {"of all kernels",
                   format_value(static_cast<double>(kernel.time) / static_cast<double>(all), "%")}};
    if (side.gpu) {
      rows.emplace_back("is", std::string(machine::name_of(kernel.regime.bound)));
      rows.emplace_back("arithmetic alone", format_value(kernel.regime.arithmetic, "%"));
      rows.emplace_back("memory alone", format_value(kernel.regime.memory, "%"));
      if (kernel.regime.l2 > 0) rows.emplace_back("L2 alone", format_value(kernel.regime.l2, "%"));
      if (kernel.regime.latency > 0)
        rows.emplace_back("latency alone", format_value(kernel.regime.latency, "%"));
      if (kernel.nanos > 0 && work.device_bytes > 0)
        rows.emplace_back("device memory", format_rate(work.device_bytes / kernel.nanos * 1e9));
    }
    const std::string mark = sides_.size() > 1 ? side.side == 0 ? "A  " : "B  " : "";
    chart_card(theme_, mark + trace::short_name(kernel.name), rows);
  }

  const Theme& theme_;
  const std::vector<RooflineSide>& sides_;
  ImDrawList* draw_;
  Box body_;
  Decades x_, y_;
  Nanos all_[2] = {};  // time of all kernels of a side
  LineLabels labels_{Box{}};
  std::vector<Name> names_;
};

}  // namespace

Color bound_color(const Theme& theme, machine::Bound bound) {
  switch (bound) {
    case machine::Bound::kCompute:
      return theme.of(trace::Category::kForward).line;
    case machine::Bound::kMemory:
      return theme.of(trace::Category::kCopyH2D).line;
    case machine::Bound::kLatency:
      return theme.of(trace::Category::kCollective).line;
    case machine::Bound::kOverhead:
      return theme.bad;
  }
  return theme.muted;
}

void paint_roofline(const Theme& theme, const char* id, const Box& box,
                    const std::vector<RooflineSide>& sides) {
  Painter painter(theme, box, sides);
  if (!painter.has_room()) return;
  painter.paint();
  const Box& body = painter.body();
  ImGui::SetCursorScreenPos(body.min);
  ImGui::InvisibleButton(id, {body.width(), body.height()});
  if (ImGui::IsItemHovered()) painter.explain(ImGui::GetIO().MousePos);
}

}  // namespace trainscope::ui
