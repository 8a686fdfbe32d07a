#include "ui/panels/gpus/tile_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/products.h"

namespace trainscope::ui {
namespace {

// Of the last tile along a side of `length`, the share inside the product.
float inside(std::int64_t length, int tile) {
  const std::int64_t last = length % tile;
  return last == 0 ? 1.0F : static_cast<float>(last) / static_cast<float>(tile);
}

}  // namespace

double TileMap::wasted() const {
  const auto covered = static_cast<double>(plan.tiles_m * plan.tile_m) *
                       static_cast<double>(plan.tiles_n * plan.tile_n);
  return 1 - static_cast<double>(m) * static_cast<double>(n) / covered;
}

std::string TileMap::words() const {
  return fmt::format("{} x {} in {} x {} tiles of {} x {}: {:.{}f} % wasted", m, n, plan.tiles_m,
                     plan.tiles_n, plan.tile_m, plan.tile_n, 100 * wasted(),
                     wasted() > 0 && wasted() < 0.1 ? 1 : 0);
}

std::optional<TileMap> tile_map_of(const program::Operation& operation, const machine::Gpu& gpu) {
  auto tiles = program::tiles_of(operation, gpu);
  if (!tiles) return std::nullopt;
  return TileMap{operation.m, operation.n, std::move(*tiles)};
}

// To scale while there is room: an element of the product is as high as it is wide.
void paint_tile_map(const Theme& theme, const Box& box, const TileMap& map) {
  const auto rows = static_cast<float>(map.plan.tiles_m);
  const auto columns = static_cast<float>(map.plan.tiles_n);
  const float down = rows * static_cast<float>(map.plan.tile_m);
  const float across = columns * static_cast<float>(map.plan.tile_n);
  const float scale = std::min(box.width() / across, box.height() / down);
  const float wide = std::max(across * scale, theme.px(24)) / columns;
  const float tall = std::max(down * scale, theme.px(24)) / rows;
  const float edge = std::min(wide, tall) > theme.px(4) ? theme.px(1) : 0;
  const float last_row = inside(map.m, map.plan.tile_m),
              last_column = inside(map.n, map.plan.tile_n);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color fill = theme.of(trace::Category::kHostWork).fill;
  for (std::int64_t row = 0; row < map.plan.tiles_m; ++row)
    for (std::int64_t column = 0; column < map.plan.tiles_n; ++column) {
      const ImVec2 from{box.min.x + static_cast<float>(column) * wide,
                        box.min.y + static_cast<float>(row) * tall};
      const Box tile{from, {from.x + wide - edge, from.y + tall - edge}};
      const float share_x = column + 1 == map.plan.tiles_n ? last_column : 1;
      const float share_y = row + 1 == map.plan.tiles_m ? last_row : 1;
      if (share_x < 1 || share_y < 1) {
        draw->AddRectFilled(tile.min, tile.max, mixed(theme.panel, theme.bad, 0.10F));
        draw_hatch(draw, tile, faded(theme.bad, 0.5F), theme.px(5), theme.px(1));
        if (edge > 0) draw->AddRect(tile.min, tile.max, faded(theme.bad, 0.8F));
      }
      draw->AddRectFilled(
          tile.min, {tile.min.x + tile.width() * share_x, tile.min.y + tile.height() * share_y},
          fill);
    }
}

}  // namespace trainscope::ui
