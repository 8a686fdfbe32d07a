#include "ui/app/views/gpu_grid.h"

#include <algorithm>
#include <cmath>

namespace trainscope::ui {
namespace {

enum class Title : std::uint8_t { kNone, kAbove, kLeft };

// Equal places in rows.
struct Places {
  int columns = 1, rows = 1;
  float wide = 0, tall = 0;
  float worth = 0;  // how large they are, less what is left over
};

Places places_in(float width, float height, int count, int columns) {
  Places places;
  places.columns = columns;
  places.rows = (count + columns - 1) / columns;
  places.wide = width / static_cast<float>(columns);
  places.tall = height / static_cast<float>(places.rows);
  const float full = static_cast<float>(count) / static_cast<float>(columns * places.rows);
  places.worth = std::min(places.wide / 1.4F, places.tall) * full * full;
  return places;
}

Places best_places(float width, float height, int count) {
  Places best;
  best.worth = -1;
  for (int columns = 1; columns <= count; ++columns)
    if (const Places places = places_in(width, height, count, columns); places.worth > best.worth)
      best = places;
  return best;
}

// How the nodes stand, and the GPUs in each.
struct Plan {
  Places nodes, gpus;
  Title title = Title::kNone;
};

class GridBuilder {
 public:
  GridBuilder(const Box& area, float unit, const std::vector<int>& sizes)
      : area_(area), unit_(unit), sizes_(sizes), most_(std::ranges::max(sizes)) {}

  GpuGrid build() const {
    const Plan plan = best_plan();
    GpuGrid grid;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const auto column = static_cast<float>(static_cast<int>(i) % plan.nodes.columns);
      const auto row = static_cast<float>(static_cast<int>(i) / plan.nodes.columns);
      const float gap = gap_between(plan.nodes);
      const ImVec2 min{std::round(area_.min.x + column * plan.nodes.wide),
                       std::round(area_.min.y + row * plan.nodes.tall)};
      grid.nodes.push_back(node(
          {min,
           {min.x + std::floor(plan.nodes.wide - gap), min.y + std::floor(plan.nodes.tall - gap)}},
          plan, sizes_[i]));
    }
    return grid;
  }

 private:
  bool alone() const { return sizes_.size() == 1; }
  float title_height() const { return 16 * unit_; }
  float title_width() const { return 46 * unit_; }

  float gap_between(const Places& nodes) const {
    return alone() ? 0 : std::min(8 * unit_, 0.1F * std::min(nodes.wide, nodes.tall));
  }

  // Within a node's frame.
  Box inside(const Box& frame, Title title) const {
    if (alone()) return frame;
    const float pad = std::min(4 * unit_, frame.height() * 0.08F);
    return {{frame.min.x + (title == Title::kLeft ? title_width() : pad),
             frame.min.y + (title == Title::kAbove ? title_height() : pad)},
            {frame.max.x - pad, frame.max.y - pad}};
  }

  Plan plan_of(int columns, Title title) const {
    Plan plan;
    plan.title = title;
    plan.nodes = places_in(area_.width(), area_.height(), static_cast<int>(sizes_.size()), columns);
    const float gap = gap_between(plan.nodes);
    const Box room = inside({{0, 0}, {plan.nodes.wide - gap, plan.nodes.tall - gap}}, title);
    plan.gpus = best_places(room.width(), room.height(), most_);
    return plan;
  }

  // Names are worth smaller GPUs, but not dots.
  Plan best_plan() const {
    Plan best = plan_of(1, Title::kNone), named;
    named.gpus.worth = -1;
    for (int columns = 1; columns <= static_cast<int>(sizes_.size()); ++columns) {
      if (const Plan plan = plan_of(columns, Title::kNone); plan.gpus.worth > best.gpus.worth)
        best = plan;
      for (const Title title : {Title::kAbove, Title::kLeft})
        if (const Plan plan = plan_of(columns, title); plan.gpus.worth > named.gpus.worth)
          named = plan;
    }
    const bool readable = named.gpus.tall >= 18 * unit_ && named.gpus.wide >= 20 * unit_;
    return !alone() && (readable || named.gpus.worth > 0.75F * best.gpus.worth) ? named : best;
  }

  GpuGrid::Node node(const Box& frame, const Plan& plan, int count) const {
    GpuGrid::Node node{frame, {frame.min, frame.min}, {}};
    const float margin = 6 * unit_;
    if (plan.title == Title::kAbove)
      node.words = {{frame.min.x + margin, frame.min.y + unit_},
                    {frame.max.x - margin, frame.min.y + title_height()}};
    if (plan.title == Title::kLeft)
      node.words = {{frame.min.x + margin, frame.min.y},
                    {frame.min.x + title_width(), frame.max.y}};
    const Box room = inside(frame, plan.title);
    const Places& places = plan.gpus;
    const float gap = std::min(10 * unit_, std::min(places.wide, places.tall) * 0.2F);
    const float wide = std::min(places.wide - gap, 128 * unit_),
                tall = std::min(places.tall - gap, 110 * unit_);
    for (int i = 0; i < count; ++i) {
      const float x = room.min.x + places.wide * (static_cast<float>(i % places.columns) + 0.5F),
                  y = room.min.y + places.tall * (static_cast<float>(i / places.columns) + 0.5F);
      const ImVec2 min{std::round(x - wide / 2), std::round(y - tall / 2)};
      node.gpus.push_back({min, {min.x + std::floor(wide), min.y + std::floor(tall)}});
    }
    return node;
  }

  Box area_;
  float unit_;
  const std::vector<int>& sizes_;
  int most_;
};

}  // namespace

GpuGrid lay_out_nodes(const Box& area, float unit, const std::vector<int>& sizes) {
  return sizes.empty() ? GpuGrid{} : GridBuilder(area, unit, sizes).build();
}

}  // namespace trainscope::ui
