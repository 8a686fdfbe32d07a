#include "ui/app/gpu_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainscope::ui {

using machine::PlaceKind;
using machine::Topology;
using machine::WireKind;

namespace {

constexpr int kMostInARow = 8;
constexpr std::size_t kMostWithLinks = 16;

float length_of(ImVec2 a, ImVec2 b) {
  return std::hypot(b.x - a.x, b.y - a.y);
}

// A curve over (or under) the cards between its ends.
std::vector<ImVec2> arc(ImVec2 from, ImVec2 to, float high) {
  constexpr int kPieces = 14;
  std::vector<ImVec2> points;
  for (int i = 0; i <= kPieces; ++i) {
    const float t = static_cast<float>(i) / kPieces;
    const float bend = 4 * t * (1 - t);
    points.push_back({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t + bend * high});
  }
  return points;
}

}  // namespace

ImVec2 along(const std::vector<ImVec2>& line, float share) {
  float length = 0;
  for (std::size_t i = 1; i < line.size(); ++i) length += length_of(line[i - 1], line[i]);
  float left = std::clamp(share, 0.0F, 1.0F) * length;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const float here = length_of(line[i - 1], line[i]);
    if (left <= here && here > 0)
      return {line[i - 1].x + (line[i].x - line[i - 1].x) * left / here,
              line[i - 1].y + (line[i].y - line[i - 1].y) * left / here};
    left -= here;
  }
  return line.back();
}

// Puts rows of cards, then what joins them, into the area.
class MapBuilder {
 public:
  MapBuilder(const Topology* topology, const std::vector<int>& ring, const Box& area, float unit,
             Traffic traffic)
      : topology_(topology), area_(area), unit_(unit), traffic_(traffic) {
    map_.ring = ring;
    map_.lane_ = 7.5F * unit;
    map_.gpus.resize(ring.size());
    map_.stops_.resize(ring.size());
  }

  GpuMap build() {
    const std::size_t count = map_.ring.size();
    const int nodes = topology_ ? nodes_used() : 1;
    const bool fits = count > 1 && count <= kMostWithLinks && nodes <= 2;
    if (!topology_ || !fits) {
      grid();
      return std::move(map_);
    }
    map_.shows_links = true;
    map_.direct_.assign(count, std::vector<std::vector<ImVec2>>(count));
    if (nodes == 2)
      two_nodes();
    else if (has_mesh())
      mesh();
    else if (has(PlaceKind::kNvSwitch))
      nv_switch();
    else
      tree();
    return std::move(map_);
  }

 private:
  // ---- What there is ---------------------------------------------------------------------------

  int nodes_used() const {
    const int each = topology_->gpus_per_node, count = static_cast<int>(map_.ring.size());
    return (count + each - 1) / each;
  }
  bool has(PlaceKind kind) const {
    return std::any_of(topology_->places.begin(), topology_->places.end(),
                       [kind](const auto& place) { return place.kind == kind; });
  }
  const machine::Wire* nvlinks_between(int a, int b) const {
    for (const machine::Wire& wire : topology_->wires) {
      const auto from = static_cast<int>(wire.a), to = static_cast<int>(wire.b);
      if (wire.kind == WireKind::kNvlink && ((from == a && to == b) || (from == b && to == a)))
        return &wire;
    }
    return nullptr;
  }
  bool has_mesh() const {
    for (const int a : map_.ring)
      for (const int b : map_.ring)
        if (a < b && nvlinks_between(a, b)) return true;
    return false;
  }
  int links_to_switch() const {
    for (const machine::Wire& wire : topology_->wires)
      if (wire.kind == WireKind::kNvlink && wire.a == 0) return wire.links;
    return 1;
  }

  // ---- Cards -----------------------------------------------------------------------------------

  GpuMap::Stop& stop(int gpu) { return map_.stops_[static_cast<std::size_t>(gpu)]; }
  Box& box(int gpu) { return map_.gpus[static_cast<std::size_t>(gpu)].box; }

  // A row of cards; `down`: their inner edge is the lower one.
  void put_row(const std::vector<int>& numbers, int columns, float top, float height, int row,
               bool down) {
    const float each = area_.width() / static_cast<float>(columns);
    const float most = std::min(each - 16 * unit_, 128 * unit_);
    const float wide = std::max(most, each * 0.6F);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const int gpu = numbers[i];
      const float x = area_.min.x + each * (static_cast<float>(i) + 0.5F);
      map_.gpus[static_cast<std::size_t>(gpu)] = {
          gpu, {{std::round(x - wide / 2), top}, {std::round(x + wide / 2), top + height}}};
      GpuMap::Stop& at = stop(gpu);
      at.x = std::round(x);
      at.inner = down ? top + height : top;
      at.outer = down ? top : top + height;
      at.row = row;
      at.column = static_cast<int>(i);
    }
  }

  // The ring folded into two rows: there and back.
  std::pair<std::vector<int>, std::vector<int>> two_rows() const {
    const std::size_t half = (map_.ring.size() + 1) / 2;
    std::vector<int> upper(map_.ring.begin(),
                           map_.ring.begin() + static_cast<std::ptrdiff_t>(half));
    std::vector<int> lower(map_.ring.rbegin(),
                           map_.ring.rend() - static_cast<std::ptrdiff_t>(half));
    return {upper, lower};
  }

  void grid() {
    const auto count = static_cast<float>(map_.ring.size());
    const float shape = std::max(area_.width() / std::max(area_.height(), 1.0F), 0.2F);
    const int columns = std::clamp(static_cast<int>(std::ceil(std::sqrt(count * shape * 0.8F))), 1,
                                   static_cast<int>(count));
    const int rows = (static_cast<int>(count) + columns - 1) / columns;
    const float each = area_.height() / static_cast<float>(rows);
    const float tall = std::min(each - std::min(10 * unit_, each * 0.2F), 110 * unit_);
    const float all = each * static_cast<float>(rows - 1) + tall;
    const float top = area_.min.y + (area_.height() - all) / 2;
    for (int row = 0; row < rows; ++row) {
      const int from = row * columns, to = std::min(static_cast<int>(count), from + columns);
      const std::vector<int> numbers(map_.ring.begin() + from, map_.ring.begin() + to);
      put_row(numbers, columns, top + each * static_cast<float>(row), tall, row, true);
    }
  }

  // ---- Hubs ------------------------------------------------------------------------------------

  std::size_t add_hub(std::string name, float left, float right, float top, float height) {
    map_.hubs.push_back({std::move(name), {{left, top}, {right, top + height}}});
    return map_.hubs.size() - 1;
  }
  void drop(int gpu, float to, WireKind kind, int links) {
    const GpuMap::Stop& at = stop(gpu);
    map_.lines.push_back({{{at.x, at.inner}, {at.x, to}}, kind, links});
  }
  // Joins a row's cards with a hub that spans them.
  void hang(const std::vector<int>& numbers, std::size_t hub, WireKind kind, int links) {
    for (const int gpu : numbers) {
      stop(gpu).above.push_back(hub);
      const Box& at = map_.hubs[hub].box;
      drop(gpu, at.min.y >= stop(gpu).inner ? at.min.y : at.max.y, kind, links);
    }
  }

  void nv_switch() {
    const bool two = map_.ring.size() > 4;
    const float bar = 26 * unit_, gap = std::min(26 * unit_, area_.height() * 0.09F);
    map_.links_words = fmt::format("{} NVLinks a GPU, through NVSwitch", links_to_switch());
    if (!two) {
      const float tall = std::min(area_.height() - bar - gap, 130 * unit_);
      const float top = area_.min.y + (area_.height() - tall - gap - bar) / 2;
      put_row(map_.ring, static_cast<int>(map_.ring.size()), top, tall, 0, true);
      hang(map_.ring, add_hub("NVSwitch", area_.min.x, area_.max.x, top + tall + gap, bar),
           WireKind::kNvlink, links_to_switch());
      return;
    }
    const float tall = std::min((area_.height() - bar - 2 * gap) / 2, 130 * unit_);
    const float top = area_.min.y + (area_.height() - 2 * tall - 2 * gap - bar) / 2;
    const auto [upper, lower] = two_rows();
    const int columns = static_cast<int>(upper.size());
    put_row(upper, columns, top, tall, 0, true);
    put_row(lower, columns, top + tall + 2 * gap + bar, tall, 1, false);
    const std::size_t hub = add_hub("NVSwitch", area_.min.x, area_.max.x, top + tall + gap, bar);
    hang(upper, hub, WireKind::kNvlink, links_to_switch());
    hang(lower, hub, WireKind::kNvlink, links_to_switch());
  }

  // ---- NVLinks from GPU to GPU -----------------------------------------------------------------

  void mesh() {
    const auto [upper, lower] = two_rows();
    const int columns = columns_ = static_cast<int>(upper.size());
    const bool arcs = columns > 2;
    const float bow = arcs ? std::min(30 * unit_, area_.height() * 0.12F) : 0;
    const float gap = std::min(46 * unit_, area_.height() * 0.16F);
    const float room = area_.height() - 2 * bow - (lower.empty() ? 0 : gap);
    const float tall = std::min(room / (lower.empty() ? 1 : 2), 120 * unit_);
    const float all = lower.empty() ? tall : 2 * tall + gap;
    const float top = area_.min.y + (area_.height() - all) / 2;
    put_row(upper, columns, top, tall, 0, true);
    put_row(lower, columns, top + tall + gap, tall, 1, false);
    join_pairs(bow);
    join_others_by_pcie(bow);
    map_.links_words = "NVLinks from GPU to GPU";
  }

  void join_pairs(float bow) {
    for (const int a : map_.ring)
      for (const int b : map_.ring)
        if (const machine::Wire* wire = a < b ? nvlinks_between(a, b) : nullptr)
          join(a, b, bow, wire->kind, wire->links);
  }

  // Where traffic finds no NVLink for a pair it goes over PCIe.
  void join_others_by_pcie(float bow) {
    const bool star = traffic_ == Traffic::kStar;
    for (std::size_t i = 0; i < map_.ring.size(); ++i) {
      const int a = star ? 0 : map_.ring[i];
      const int b = map_.ring[star ? i : (i + 1) % map_.ring.size()];
      if (a != b && direct(a, b).empty()) join(a, b, bow, WireKind::kPcie, 1);
    }
  }

  std::vector<ImVec2>& direct(int a, int b) {
    return map_.direct_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }

  void join(int a, int b, float bow, WireKind kind, int links) {
    const GpuMap::Stop &from = stop(a), &to = stop(b);
    std::vector<ImVec2> line;
    const int apart = std::abs(from.column - to.column);
    if (from.row != to.row) {
      line = {{from.x, from.inner}, {to.x, to.inner}};
    } else if (apart == 1) {
      const Box &left = box(from.x < to.x ? a : b), &right = box(from.x < to.x ? b : a);
      const float y = left.centre().y;
      line = {{left.max.x, y}, {right.min.x, y}};
      if (from.x > to.x) std::reverse(line.begin(), line.end());
    } else {
      const float share = static_cast<float>(apart) / static_cast<float>(std::max(2, columns_ - 1));
      const float high = bow * (0.55F + 0.45F * std::min(share, 1.0F));
      const float inset = 10 * unit_ * (from.x < to.x ? 1.0F : -1.0F);
      const float up = from.outer < from.inner ? -high : high;
      line = arc({from.x + inset, from.outer}, {to.x - inset, to.outer}, up);
    }
    map_.lines.push_back({line, kind, links});
    direct(a, b) = line;
    std::reverse(line.begin(), line.end());
    direct(b, a) = line;
  }

  // ---- PCIe ------------------------------------------------------------------------------------

  // The switch or host bridge that a place hangs on; its own number where it is the top.
  std::uint32_t parent(std::uint32_t place) const {
    const auto rank = [&](std::uint32_t one) {
      const PlaceKind kind = topology_->places[one].kind;
      return kind == PlaceKind::kGpu ? 0 : kind == PlaceKind::kPcieSwitch ? 1 : 2;
    };
    for (const machine::Wire& wire : topology_->wires) {
      if (wire.kind != WireKind::kPcie || (wire.a != place && wire.b != place)) continue;
      const std::uint32_t other = wire.a == place ? wire.b : wire.a;
      if (topology_->places[other].kind != PlaceKind::kAdapter && rank(other) > rank(place))
        return other;
    }
    return place;
  }

  // One level of the tree: what the children hang on, left to right.
  struct Child {
    std::uint32_t place = 0;
    float left = 0, right = 0, x = 0, y = 0;
    std::vector<int> gpus = {};
    std::size_t hub = 0;
  };
  std::vector<Child> level_above(const std::vector<Child>& below, float top, float height) {
    std::vector<Child> level;
    for (const Child& child : below) {
      const std::uint32_t above = parent(child.place);
      if (level.empty() || level.back().place != above) level.push_back({above, child.left});
      Child& here = level.back();
      here.right = child.right;
      here.gpus.insert(here.gpus.end(), child.gpus.begin(), child.gpus.end());
      map_.lines.push_back({{{child.x, child.y}, {child.x, top}}, WireKind::kPcie, 1});
    }
    for (Child& here : level) {
      here.hub = add_hub(topology_->places[here.place].name, here.left, here.right, top, height);
      here.x = (here.left + here.right) / 2;
      here.y = top + height;
      for (const int gpu : here.gpus) stop(gpu).above.push_back(here.hub);
    }
    return level;
  }

  void tree() {
    std::vector<int> numbers = map_.ring;
    std::sort(numbers.begin(), numbers.end());
    if (numbers.size() > 2 * kMostInARow) return grid();
    const bool switches = topology_->places[parent(0)].kind == PlaceKind::kPcieSwitch;
    const float bar = 24 * unit_, gap = std::min(24 * unit_, area_.height() * 0.08F);
    const float levels = switches ? 2 : 1;
    const float tall = std::min(area_.height() - levels * (bar + gap), 120 * unit_);
    const float top = area_.min.y + (area_.height() - tall - levels * (bar + gap)) / 2;
    put_row(numbers, static_cast<int>(numbers.size()), top, tall, 0, true);
    std::vector<Child> level;
    for (const int gpu : numbers) {
      const Box& card = box(gpu);
      level.push_back({static_cast<std::uint32_t>(gpu),
                       card.min.x,
                       card.max.x,
                       stop(gpu).x,
                       card.max.y,
                       {gpu}});
    }
    float y = top + tall + gap;
    for (int i = 0; i < static_cast<int>(levels); ++i, y += bar + gap)
      level = level_above(level, y, bar);
    join_bridges(level);
    map_.links_words = switches ? "PCIe, through switches" : "PCIe, through the host bridge";
  }

  // Between processors.
  void join_bridges(const std::vector<Child>& bridges) {
    for (std::size_t i = 1; i < bridges.size(); ++i) {
      const Box &a = map_.hubs[bridges[i - 1].hub].box, &b = map_.hubs[bridges[i].hub].box;
      map_.lines.push_back(
          {{{a.max.x, a.centre().y}, {b.min.x, b.centre().y}}, WireKind::kSocket, 1});
    }
  }

  // ---- Two nodes -------------------------------------------------------------------------------

  void two_nodes() {
    const auto half = static_cast<std::ptrdiff_t>(topology_->gpus_per_node);
    const std::vector<int> first(map_.ring.begin(), map_.ring.begin() + half);
    std::vector<int> second(map_.ring.begin() + half, map_.ring.end());
    std::reverse(second.begin(), second.end());  // the ring comes back under the first row
    const bool switched = has(PlaceKind::kNvSwitch), meshed = !switched && has_mesh();
    const float bar = 22 * unit_, gap = std::min(22 * unit_, area_.height() * 0.06F);
    const float bow = meshed ? std::min(30 * unit_, area_.height() * 0.1F) : 0;
    const float outer = switched ? bar + gap : bow;
    const float tall = std::min((area_.height() - bar - 2 * gap - 2 * outer) / 2, 104 * unit_);
    const float top = area_.min.y + (area_.height() - 2 * (tall + outer + gap) - bar) / 2 + outer;
    columns_ = static_cast<int>(std::max(first.size(), second.size()));
    put_row(first, columns_, top, tall, 0, true);
    const float below = top + tall + 2 * gap + bar;
    put_row(second, columns_, below, tall, 1, false);
    const std::size_t net = add_hub("network", area_.min.x, area_.max.x, top + tall + gap, bar);
    hang(first, net, WireKind::kNetwork, 1);
    hang(second, net, WireKind::kNetwork, 1);
    map_.links_words = "the network between two nodes";
    if (switched) join_rows_outside(first, second, top - gap - bar, below + tall + gap, bar);
    if (meshed) join_pairs(bow);
    if (switched) map_.links_words = "NVSwitch in a node, the network between two";
    if (meshed) map_.links_words = "NVLinks in a node, the network between two";
  }

  void join_rows_outside(const std::vector<int>& first, const std::vector<int>& second, float upper,
                         float lower, float bar) {
    for (const bool is_first : {true, false}) {
      const std::size_t hub = add_hub(is_first ? "NVSwitch of node 0" : "NVSwitch of node 1",
                                      area_.min.x, area_.max.x, is_first ? upper : lower, bar);
      const Box& at = map_.hubs[hub].box;
      for (const int gpu : is_first ? first : second) {
        GpuMap::Stop& one = stop(gpu);
        one.above.insert(one.above.begin(), hub);
        map_.lines.push_back({{{one.x, one.outer}, {one.x, is_first ? at.max.y : at.min.y}},
                              WireKind::kNvlink,
                              links_to_switch()});
      }
    }
  }

  const Topology* topology_;
  Box area_;
  float unit_;
  Traffic traffic_;
  int columns_ = 4;
  GpuMap map_;
};

GpuMap lay_out_gpus(const Topology* topology, const std::vector<int>& ring, const Box& area,
                    float unit, Traffic traffic) {
  return MapBuilder(topology, ring, area, unit, traffic).build();
}

namespace {

// The first hub that both GPUs' ways lead to: how far up each way it is.
std::pair<std::size_t, std::size_t> meeting(const std::vector<std::size_t>& a,
                                            const std::vector<std::size_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      if (a[i] == b[j]) return {i, j};
  return {a.empty() ? 0 : a.size() - 1, b.empty() ? 0 : b.size() - 1};
}

}  // namespace

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
        way.push_back({x, hub.centre().y});
        x = hub.centre().x + shift;
        way.push_back({x, hub.centre().y});
      }
    }
    way.push_back({x, hubs[stop.above[level]].box.centre().y - side});
    return way;
  };
  points = leave(one, up, side);
  std::vector<ImVec2> back = leave(other, down, -side);
  std::reverse(back.begin(), back.end());
  points.insert(points.end(), back.begin(), back.end());
  return points;
}

}  // namespace trainscope::ui
