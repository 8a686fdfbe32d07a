#include <algorithm>
#include <cmath>

#include "ui/app/views/gpu_map.h"

namespace trainscope::ui {
namespace {

float length_of(ImVec2 a, ImVec2 b) {
  return std::hypot(b.x - a.x, b.y - a.y);
}

float length_of(const std::vector<ImVec2>& line) {
  float length = 0;
  for (std::size_t i = 1; i < line.size(); ++i) length += length_of(line[i - 1], line[i]);
  return length;
}

// The first hub that both GPUs' ways lead to: how far up each way it is.
std::pair<std::size_t, std::size_t> meeting(const std::vector<std::size_t>& a,
                                            const std::vector<std::size_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      if (a[i] == b[j]) return {i, j};
  return {a.empty() ? 0 : a.size() - 1, b.empty() ? 0 : b.size() - 1};
}

}  // namespace

ImVec2 along(const std::vector<ImVec2>& line, float share) {
  float left = std::clamp(share, 0.0F, 1.0F) * length_of(line);
  for (std::size_t i = 1; i < line.size(); ++i) {
    const float here = length_of(line[i - 1], line[i]);
    if (left <= here && here > 0)
      return {line[i - 1].x + (line[i].x - line[i - 1].x) * left / here,
              line[i - 1].y + (line[i].y - line[i - 1].y) * left / here};
    left -= here;
  }
  return line.back();
}

ImVec2 along(const std::vector<ImVec2>& line, float share, float kept) {
  const float length = length_of(line);
  if (length <= 2 * kept) return along(line, 0.5F);
  return along(line, (kept + std::clamp(share, 0.0F, 1.0F) * (length - 2 * kept)) / length);
}

bool has_room(const std::vector<ImVec2>& line, float edge) {
  return length_of(line) >= 1.4F * edge;
}

std::vector<ImVec2> GpuMap::route(int from, int to) const {
  if (!shows_links || from == to) return {};
  const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
  if (!direct_[a][b].empty()) return direct_[a][b];
  const Stop &one = stops_[a], &other = stops_[b];
  if (one.above.empty() || other.above.empty()) return {};
  const auto [up, down] = meeting(one.above, other.above);
  const bool rightwards = one.x < other.x || (one.x == other.x && one.row < other.row);
  const float side = rightwards ? lane_ : -lane_;
  // There on one side of the links and of the bars, back on the other.
  std::vector<ImVec2> points;
  const auto leave = [&](const Stop& stop, std::size_t level, float shift) {
    std::vector<ImVec2> way;
    float x = stop.x + shift;
    const Box& nearest = hubs[stop.above.front()].box;
    const bool inside =
        std::abs(nearest.centre().y - stop.inner) < std::abs(nearest.centre().y - stop.outer);
    way.push_back({x, level == 0 && !inside ? stop.outer : stop.inner});
    for (std::size_t i = 0; i < level; ++i) {
      const Box& hub = hubs[stop.above[i]].box;
      if (inside) {
        way.push_back({x, hubs[stop.above[i]].way});
        x = hub.centre().x + shift;
        way.push_back({x, hubs[stop.above[i]].way});
      }
    }
    way.push_back({x, hubs[stop.above[level]].way - side});
    return way;
  };
  points = leave(one, up, side);
  std::vector<ImVec2> back = leave(other, down, -side);
  std::reverse(back.begin(), back.end());
  points.insert(points.end(), back.begin(), back.end());
  return points;
}

}  // namespace trainscope::ui
