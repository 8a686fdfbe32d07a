#include "ui/app/views/gpu_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/app/views/gpu_bars.h"
#include "ui/app/views/gpu_grid.h"
#include "ui/app/views/gpu_wiring.h"

namespace trainscope::ui {

using machine::PlaceKind;
using machine::Topology;
using machine::WireKind;

namespace {

constexpr std::size_t kMostWithLinks = 16;
// Units: pixels at scale 1. Between cards, and between those that a way goes from side to side.
constexpr float kApart = 10, kApartJoined = 28;
constexpr float kLeastCard = 15;  // its height

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

// To the side: a line that goes down to the right of itself, one that goes right below.
std::vector<ImVec2> moved(std::vector<ImVec2> line, float aside) {
  const ImVec2 from = line.front(), to = line.back();
  const bool upright = std::abs(to.y - from.y) > std::abs(to.x - from.x);
  for (ImVec2& point : line) (upright ? point.x : point.y) += aside;
  return line;
}

}  // namespace

// Puts rows of cards, then what joins them, into the area.
class MapBuilder {
 public:
  MapBuilder(const Topology* topology, const std::vector<int>& ring, const Box& area, float unit,
             Traffic traffic)
      : topology_(topology), wiring_(topology, ring), area_(area), unit_(unit), traffic_(traffic) {
    map_.ring = ring;
    map_.lane_ = 8.5F * unit;
    map_.chip = 8 * unit;
    map_.gpus.resize(ring.size());
    map_.stops_.resize(ring.size());
  }

  GpuMap build() {
    const std::size_t count = map_.ring.size();
    const int nodes = wiring_.nodes();
    const bool fits = count > 1 && count <= kMostWithLinks && nodes <= 2;
    map_.direct_.assign(count, std::vector<std::vector<ImVec2>>(count));
    map_.shows_links = topology_ && fits && with_links(nodes);
    if (!map_.shows_links)
      grid();
    else
      free_words();
    return std::move(map_);
  }

 private:
  // False: there is no room for them.
  bool with_links(int nodes) {
    if (nodes == 2) return two_nodes();
    if (wiring_.has_mesh()) return mesh();
    return wiring_.has(PlaceKind::kNvSwitch) ? nv_switch() : tree();
  }

  // ---- Cards -----------------------------------------------------------------------------------

  GpuMap::Stop& stop(int gpu) { return map_.stops_[static_cast<std::size_t>(gpu)]; }
  Box& box(int gpu) { return map_.gpus[static_cast<std::size_t>(gpu)].box; }

  // A row of cards; `down`: their inner edge is the lower one.
  void put_row(const std::vector<int>& numbers, int columns, float top, float height, int row,
               bool down) {
    // Whole pixels, so that what is drawn in one card is drawn in all.
    top = std::round(top), height = std::floor(height);
    const float each = (area_.width() - left_) / static_cast<float>(columns);
    const float most = std::min(each - apart_ * unit_, 128 * unit_);
    const float wide = std::floor(std::max(most, each * 0.7F));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const int gpu = numbers[i];
      const float x = area_.min.x + left_ + each * (static_cast<float>(i) + 0.5F);
      const float left = std::round(x - wide / 2);
      map_.gpus[static_cast<std::size_t>(gpu)] = {gpu, {{left, top}, {left + wide, top + height}}};
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

  // GPUs without what joins them, node by node.
  void grid() {
    std::vector<std::vector<int>> nodes(1);
    if (topology_) nodes.resize(static_cast<std::size_t>(wiring_.nodes()));
    for (const int gpu : map_.ring)
      nodes[topology_ ? static_cast<std::size_t>(gpu / topology_->gpus_per_node) : 0].push_back(
          gpu);
    std::vector<int> sizes;
    for (const auto& node : nodes) sizes.push_back(static_cast<int>(node.size()));
    const GpuGrid placed = lay_out_nodes(area_, unit_, sizes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const GpuGrid::Node& node = placed.nodes[i];
      for (std::size_t j = 0; j < nodes[i].size(); ++j)
        map_.gpus[static_cast<std::size_t>(nodes[i][j])] = {nodes[i][j], node.gpus[j]};
      if (nodes.size() > 1) map_.nodes.push_back({static_cast<int>(i), node.frame, node.words});
    }
  }

  // ---- Hubs ------------------------------------------------------------------------------------

  // Bars, gaps and cards as the area has room for them; false: not even for the least.
  bool fit(const Stack& stack) {
    const auto bars = bars_for(area_, unit_, stack);
    if (!bars) return false;
    bars_ = *bars;
    left_ = room_for_names(area_, unit_, bars_.names, stack.columns);
    map_.lane_ = bars_.lane;
    map_.chip = bars_.chip;
    return true;
  }

  // `down`: its way is nearer to its upper edge, below the cards that hang on it.
  std::size_t add_hub(std::vector<std::string> names, float left, float right, float top,
                      bool down) {
    const float way = top + (down ? bars_.way : bars_.bar - bars_.way);
    map_.hubs.push_back({std::move(names),
                         {{left, top}, {right, top + bars_.bar}},
                         way,
                         {{left, way}, {left, way}}});
    return map_.hubs.size() - 1;
  }

  // At the left of lines; a row of its own is on the side where no card hangs; else what is left of
  // all that travels.
  void free_words() {
    const float margin = 7 * unit_, aside = bars_.lane + bars_.chip + 2 * unit_;
    for (std::size_t i = 0; i < map_.hubs.size(); ++i) {
      GpuMap::Hub& hub = map_.hubs[i];
      if (bars_.names == BarNames::kNone) continue;
      if (bars_.names == BarNames::kAtLeft) {
        hub.box.min.x = area_.min.x + left_;
        hub.words = {{area_.min.x, hub.box.centre().y - 8 * unit_},
                     {hub.box.min.x - 6 * unit_, hub.box.centre().y + 8 * unit_}};
        continue;
      }
      hub.words = {{hub.box.min.x + margin, hub.box.min.y},
                   {hub.box.max.x - margin, hub.box.max.y}};
      float first = hub.box.max.x, last = hub.box.min.x;
      for (const GpuMap::Stop& stop : map_.stops_)
        if (std::ranges::find(stop.above, i) != stop.above.end())
          first = std::min(first, stop.x), last = std::max(last, stop.x);
      if (static_cast<int>(i) == network_ && first < last)  // crossed where the ring turns
        hub.words.min.x = first + aside, hub.words.max.x = last - aside;
      else if (static_cast<int>(i) == network_)
        hub.words.min.x = last + aside;
      else if (bars_.names == BarNames::kBeside)
        hub.words.max.x = first - aside;
      else if (hub.way < hub.box.centre().y)
        hub.words.min.y = hub.box.max.y - 14 * unit_;
      else
        hub.words.max.y = hub.box.min.y + 14 * unit_;
    }
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

  bool nv_switch() {
    const bool two = map_.ring.size() > 4;
    const int columns = static_cast<int>(two ? (map_.ring.size() + 1) / 2 : map_.ring.size());
    const Stack stack = two ? Stack{2, columns, 1, 2, 0, 0, false, true}
                            : Stack{1, columns, 1, 1, 1, 0, true, false};
    if (!fit(stack)) return false;
    const float tall = std::min(bars_.card, 130 * unit_), bar = bars_.bar, gap = bars_.gap;
    const float rows = two ? 2 : 1;
    const float used = rows * (tall + gap) + bar + (two ? 0 : bars_.rim());
    const float top = area_.min.y + (area_.height() - used) / 2;
    const auto [upper, lower] = two ? two_rows() : std::pair{map_.ring, std::vector<int>{}};
    put_row(upper, columns, top, tall, 0, true);
    put_row(lower, columns, top + tall + 2 * gap + bar, tall, 1, false);
    const std::size_t hub = add_hub({"NVSwitch"}, area_.min.x, area_.max.x, top + tall + gap, true);
    hang(upper, hub, WireKind::kNvlink, wiring_.links_to_switch());
    hang(lower, hub, WireKind::kNvlink, wiring_.links_to_switch());
    return true;
  }

  // ---- NVLinks from GPU to GPU -----------------------------------------------------------------

  bool mesh() {
    const auto [upper, lower] = two_rows();
    const int columns = columns_ = static_cast<int>(upper.size());
    const bool arcs = columns > 2;
    const float bow = arcs ? std::min(30 * unit_, area_.height() * 0.12F) : 0;
    const float gap = std::min(46 * unit_, area_.height() * 0.16F);
    const float room = area_.height() - 2 * bow - (lower.empty() ? 0 : gap);
    const float tall = std::min(room / (lower.empty() ? 1 : 2), 120 * unit_);
    const float all = lower.empty() ? tall : 2 * tall + gap;
    const float top = area_.min.y + (area_.height() - all) / 2;
    if (tall < kLeastCard * unit_) return false;
    apart_ = kApartJoined;
    put_row(upper, columns, top, tall, 0, true);
    put_row(lower, columns, top + tall + gap, tall, 1, false);
    join_pairs(bow);
    join_others_by_pcie(bow);
    return true;
  }

  void join_pairs(float bow) {
    for (const int a : map_.ring)
      for (const int b : map_.ring)
        if (const machine::Wire* wire = a < b ? wiring_.nvlinks_between(a, b) : nullptr)
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
    const float aside = map_.ring.size() == 2 ? map_.lane_ : 0;  // there and back at once
    direct(a, b) = moved(line, aside);
    std::reverse(line.begin(), line.end());
    direct(b, a) = moved(line, -aside);
  }

  // ---- PCIe ------------------------------------------------------------------------------------

  // One level of the tree: what the children hang on, left to right.
  struct Child {
    std::uint32_t place = 0;
    float left = 0, right = 0, x = 0, y = 0;
    std::vector<int> gpus = {};
    std::size_t hub = 0;
  };
  std::vector<Child> level_above(const std::vector<Child>& below, float top) {
    std::vector<Child> level;
    for (const Child& child : below) {
      const std::uint32_t above = wiring_.parent(child.place);
      if (level.empty() || level.back().place != above) level.push_back({above, child.left});
      Child& here = level.back();
      here.right = child.right;
      here.gpus.insert(here.gpus.end(), child.gpus.begin(), child.gpus.end());
      map_.lines.push_back({{{child.x, child.y}, {child.x, top}}, WireKind::kPcie, 1});
    }
    for (Child& here : level) {
      here.hub = add_hub(short_names(topology_->places[here.place].name), here.left, here.right,
                         top, true);
      here.x = (here.left + here.right) / 2;
      here.y = top + bars_.bar;
      for (const int gpu : here.gpus) stop(gpu).above.push_back(here.hub);
    }
    return level;
  }

  bool tree() {
    std::vector<int> numbers = map_.ring;
    std::sort(numbers.begin(), numbers.end());
    const bool switches = topology_->places[wiring_.parent(0)].kind == PlaceKind::kPcieSwitch;
    const int levels = switches ? 2 : 1, columns = static_cast<int>(numbers.size());
    if (!fit({1, columns, levels, levels, 1, 0, true, false})) return false;
    const float each = bars_.bar + bars_.gap, all = static_cast<float>(levels) * each;
    const float tall = std::min(bars_.card, 120 * unit_);
    const float top = area_.min.y + (area_.height() - tall - all - bars_.rim()) / 2;
    put_row(numbers, columns, top, tall, 0, true);
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
    float y = top + tall + bars_.gap;
    for (int i = 0; i < levels; ++i, y += each) level = level_above(level, y);
    join_bridges(level);
    return true;
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

  bool two_nodes() {
    const auto half = static_cast<std::ptrdiff_t>(topology_->gpus_per_node);
    const std::vector<int> first(map_.ring.begin(), map_.ring.begin() + half);
    std::vector<int> second(map_.ring.begin() + half, map_.ring.end());
    std::reverse(second.begin(), second.end());  // the ring comes back under the first row
    const bool switched = wiring_.has(PlaceKind::kNvSwitch),
               meshed = !switched && wiring_.has_mesh();
    const float bow = meshed ? std::min(30 * unit_, area_.height() * 0.1F) : 0;
    columns_ = static_cast<int>(std::max(first.size(), second.size()));
    if (!fit(switched ? Stack{2, columns_, 3, 4, 2, 0, true, true}
                      : Stack{2, 1, 1, 2, 0, 2 * bow, false, true}))
      return false;
    // The network has room for its name between the rows.
    if (!switched && bars_.names != BarNames::kAtLeft) left_ = 0;
    if (meshed) apart_ = kApartJoined;
    const float gap = bars_.gap, network = std::min(bars_.bar, 24 * unit_);
    const float tall = std::min(bars_.card + (bars_.bar - network) / 2, 104 * unit_);
    const float bar = area_.centre().y - network / 2;
    put_row(first, columns_, bar - gap - tall, tall, 0, true);
    put_row(second, columns_, bar + network + gap, tall, 1, false);
    put_network(first, second, bar, network);
    if (switched)
      join_rows_outside(first, second, bar - 2 * gap - tall - bars_.bar,
                        bar + network + 2 * gap + tall);
    if (meshed) join_pairs(bow);
    return true;
  }

  void put_network(const std::vector<int>& first, const std::vector<int>& second, float top,
                   float height) {
    network_ = static_cast<int>(add_hub({"network"}, area_.min.x, area_.max.x, top, true));
    GpuMap::Hub& hub = map_.hubs.back();
    hub.box.max.y = top + height;
    hub.way = hub.box.centre().y;
    hang(first, map_.hubs.size() - 1, WireKind::kNetwork, 1);
    hang(second, map_.hubs.size() - 1, WireKind::kNetwork, 1);
  }

  void join_rows_outside(const std::vector<int>& first, const std::vector<int>& second, float upper,
                         float lower) {
    for (const int node : {0, 1}) {
      const std::string number = std::to_string(node);
      const std::size_t hub =
          add_hub({"NVSwitch of node " + number, "NVSwitch " + number, "node " + number, number},
                  area_.min.x, area_.max.x, node == 0 ? upper : lower, node == 1);
      const Box& at = map_.hubs[hub].box;
      for (const int gpu : node == 0 ? first : second) {
        GpuMap::Stop& one = stop(gpu);
        one.above.insert(one.above.begin(), hub);
        map_.lines.push_back({{{one.x, one.outer}, {one.x, node == 0 ? at.max.y : at.min.y}},
                              WireKind::kNvlink,
                              wiring_.links_to_switch()});
      }
    }
  }

  const Topology* topology_;
  GpuWiring wiring_;
  Box area_;
  float unit_;
  Traffic traffic_;
  int columns_ = 4;
  float apart_ = kApart;
  float left_ = 0;  // of all columns: kept free
  Bars bars_;
  int network_ = -1;  // of the hubs
  GpuMap map_;
};

GpuMap lay_out_gpus(const Topology* topology, const std::vector<int>& ring, const Box& area,
                    float unit, Traffic traffic) {
  return MapBuilder(topology, ring, area, unit, traffic).build();
}

}  // namespace trainscope::ui
