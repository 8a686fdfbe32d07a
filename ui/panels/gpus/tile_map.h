// A matrix product cut into tiles, one block each; of the tiles at the edges, what lies outside.
#pragma once

#include <optional>
#include <string>

#include "machine/gemm_tiles.h"
#include "program/program.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct TileMap {
  std::int64_t m = 0, n = 0;  // of the product
  machine::GemmPlan plan;

  // The share of the tiles' arithmetic that no element of the product needs, 0..1.
  double wasted() const;
  // "1793 x 1793 in 8 x 15 tiles of 256 x 128: 13 % wasted".
  std::string words() const;
};

// Nothing for what is no plain matrix product.
std::optional<TileMap> tile_map_of(const program::Operation& operation, const machine::Gpu& gpu);

void paint_tile_map(const Theme& theme, const Box& box, const TileMap& map);

}  // namespace trainscope::ui
