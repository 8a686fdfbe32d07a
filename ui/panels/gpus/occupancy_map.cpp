#include "ui/panels/gpus/occupancy_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "machine/architecture.h"
#include "ui/panels/charts/chart.h"

namespace trainscope::ui {
namespace {

using machine::kMostRegisters;
using machine::kMostThreads;
using machine::kWarp;

constexpr int kLeastRegisters = 16, kRegisterStep = 8;
constexpr std::int64_t kSharedStep = std::int64_t{4} << 10;

bool same_beside(const machine::LaunchShape& a, const machine::LaunchShape& b, MapAxis axis) {
  if (axis == MapAxis::kSharedMemory) return a.registers == b.registers;
  return a.static_shared == b.static_shared && a.dynamic_shared == b.dynamic_shared;
}

machine::LaunchShape shape_at(const OccupancyMap& map, std::size_t row, std::size_t column) {
  machine::LaunchShape shape = map.fixed;
  shape.threads = map.threads[row];
  if (map.axis == MapAxis::kRegisters) {
    shape.registers = static_cast<int>(map.values[column]);
  } else {
    shape.static_shared = 0;
    shape.dynamic_shared = map.values[column];
  }
  return shape;
}

std::string value_words(const OccupancyMap& map, std::int64_t value) {
  return map.axis == MapAxis::kRegisters ? std::to_string(value)
                                         : format_bytes(static_cast<double>(value));
}

// Where a value lies between the columns, 0..columns.
float place_of(const std::vector<std::int64_t>& values, std::int64_t value) {
  const auto after = std::upper_bound(values.begin(), values.end(), value);
  if (after == values.begin()) return 0.5F;
  const auto left = static_cast<std::size_t>(after - values.begin()) - 1;
  const auto width = static_cast<float>(after == values.end() ? 1 : *after - values[left]);
  return static_cast<float>(left) +
         std::min(0.5F + static_cast<float>(value - values[left]) / std::max(width, 1.0F),
                  after == values.end() ? 0.5F : 1.5F);
}

class MapPainter {
 public:
  MapPainter(const Theme& theme, const Box& box, const OccupancyMap& map)
      : theme_(theme), map_(map) {
    body_ = {{box.min.x + theme.px(40), box.min.y}, {box.max.x, box.max.y - theme.px(20)}};
  }
  const Box& body() const { return body_; }

  void paint() const {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    for (std::size_t row = 0; row < map_.threads.size(); ++row)
      for (std::size_t column = 0; column < map_.values.size(); ++column) {
        const Box cell = cell_of(row, column);
        draw->AddRectFilled(cell.min, cell.max, color_of(map_.at(row, column).theoretical));
      }
    label();
  }

  void mark(const OccupancyMark& one, bool solid) const {
    const machine::LaunchShape& shape = one.shape;
    const std::int64_t value = map_.axis == MapAxis::kRegisters
                                   ? shape.registers
                                   : shape.static_shared + shape.dynamic_shared;
    const float columns = static_cast<float>(map_.values.size());
    const float rows = static_cast<float>(map_.threads.size());
    const float x = body_.min.x + place_of(map_.values, value) / columns * body_.width();
    const float row = static_cast<float>(shape.threads) / kWarp - 0.5F;
    const float radius = theme_.px(5), whole = radius + theme_.px(2);
    const float y = std::clamp(body_.max.y - row / rows * body_.height(), body_.min.y + whole,
                               body_.max.y - whole);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddCircleFilled({x, y}, radius + theme_.px(2), theme_.panel);
    if (solid) {
      draw->AddCircleFilled({x, y}, radius, theme_.warn);
    } else {
      draw->AddCircle({x, y}, radius - theme_.px(1), theme_.warn, 0, theme_.px(2));
    }
  }

  void explain(ImVec2 mouse) const {
    const auto along = [](float at, float from, float size, std::size_t count) {
      const float share = std::clamp((at - from) / size, 0.0F, 0.9999F);
      return static_cast<std::size_t>(share * static_cast<float>(count));
    };
    const std::size_t column = along(mouse.x, body_.min.x, body_.width(), map_.values.size());
    const std::size_t row =
        map_.threads.size() - 1 - along(mouse.y, body_.min.y, body_.height(), map_.threads.size());
    const machine::Occupancy& cell = map_.at(row, column);
    CardRows rows{{map_.axis == MapAxis::kRegisters ? "registers per thread" : "shared memory",
                   value_words(map_, map_.values[column])},
                  {"blocks per SM", std::to_string(cell.blocks_per_sm)},
                  {"occupancy", fmt::format("{:.1f} %", 100 * cell.theoretical)},
                  {"limited by", limiter_words(cell)}};
    chart_card(theme_, fmt::format("{} threads per block", map_.threads[row]), rows);
  }

 private:
  Box cell_of(std::size_t row, std::size_t column) const {
    const float wide = body_.width() / static_cast<float>(map_.values.size());
    const float tall = body_.height() / static_cast<float>(map_.threads.size());
    const float x = body_.min.x + wide * static_cast<float>(column);
    const float y = body_.max.y - tall * static_cast<float>(row + 1);
    return {{x, y}, {x + wide + 0.5F, y + tall + 0.5F}};
  }
  Color color_of(double occupancy) const {
    const Color fill = theme_.of(trace::Category::kForward).fill;
    return mixed(theme_.panel, fill, static_cast<float>(0.06 + 0.94 * occupancy));
  }

  void label() const {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float size = theme_.size.label, left = body_.min.x - theme_.px(6);
    const auto row = [&](int threads, float y) {
      draw_text_middle(draw, theme_.font.mono, size, left, y, theme_.muted, std::to_string(threads),
                       1);
    };
    row(map_.threads.back(), body_.min.y + size / 2);
    row(map_.threads.front(), body_.max.y - size / 2);
    if (body_.height() > theme_.px(60)) row(kMostThreads / 2, body_.centre().y);
    const float below = body_.max.y + theme_.px(10);
    const std::string first = value_words(map_, map_.values.front());
    const std::string last = value_words(map_, map_.values.back());
    draw_text_middle(draw, theme_.font.mono, size, body_.min.x, below, theme_.muted, first);
    draw_text_middle(draw, theme_.font.mono, size, body_.max.x, below, theme_.muted, last, 1);
    const char* name =
        map_.axis == MapAxis::kRegisters ? "registers per thread" : "shared memory per block";
    const float room = body_.width() - text_size(theme_.font.mono, size, first + last).x;
    if (text_size(theme_.font.text, size, name).x + theme_.px(16) < room)
      draw_text_middle(draw, theme_.font.text, size, body_.centre().x, below, theme_.muted, name,
                       0.5F);
    legend();
  }

  // In the corner where hardly a block fits, which is dark.
  void legend() const {
    const float size = theme_.size.label, pad = theme_.px(8), line = size * 1.4F;
    const char* kWords[] = {"up: threads per block", "brighter: higher occupancy"};
    if (body_.width() < 2 * text_size(theme_.font.text, size, kWords[1]).x * 0.8F ||
        body_.height() < 6 * line)
      return;
    float y = body_.min.y + pad + size / 2;
    for (const char* words : kWords) {
      draw_text_middle(ImGui::GetWindowDrawList(), theme_.font.text, size, body_.max.x - pad, y,
                       theme_.text, words, 1);
      y += line;
    }
  }

  const Theme& theme_;
  const OccupancyMap& map_;
  Box body_;
};

}  // namespace

void OccupancyMap::follow(const machine::Gpu& which, MapAxis along,
                          const machine::LaunchShape& shape) {
  if (gpu == which.name && axis == along && !cells.empty() && same_beside(fixed, shape, along))
    return;
  gpu = which.name;
  axis = along;
  fixed = shape;
  fixed.blocks = 1;
  threads.clear();
  values.clear();
  cells.clear();
  for (int count = kWarp; count <= kMostThreads; count += kWarp) threads.push_back(count);
  if (axis == MapAxis::kRegisters) {
    for (int count = kLeastRegisters; count < kMostRegisters; count += kRegisterStep)
      values.push_back(count);
    values.push_back(kMostRegisters);
  } else {
    const std::int64_t most = machine::architecture_of(which).most_shared;
    for (std::int64_t bytes = 0; bytes <= most; bytes += kSharedStep) values.push_back(bytes);
  }
  for (std::size_t row = 0; row < threads.size(); ++row)
    for (std::size_t column = 0; column < values.size(); ++column)
      cells.push_back(machine::occupancy(which, shape_at(*this, row, column)));
}

std::string limiter_words(const machine::Occupancy& occupancy) {
  if (occupancy.blocks_per_sm == 0) return "does not fit an SM";
  std::string words;
  for (const machine::Limiter limiter : occupancy.limiters)
    add_to_list(words, machine::name_of(limiter));
  return words;
}

void paint_occupancy_map(const Theme& theme, const char* id, const Box& box,
                         const OccupancyMap& map, const std::vector<OccupancyMark>& marks) {
  const MapPainter painter(theme, box, map);
  const Box& body = painter.body();
  if (body.width() < theme.px(80) || body.height() < theme.px(50)) return;
  painter.paint();
  for (const OccupancyMark& one : marks) painter.mark(one, one.side == 'A');
  ImGui::SetCursorScreenPos(body.min);
  ImGui::InvisibleButton(id, {body.width(), body.height()});
  if (ImGui::IsItemHovered()) painter.explain(ImGui::GetIO().MousePos);
}

}  // namespace trainscope::ui
