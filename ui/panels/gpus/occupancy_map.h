// The occupancy of every shape that a kernel could be launched in: threads of a block against
// registers of a thread, or against shared memory.
#pragma once

#include <string>
#include <vector>

#include "machine/occupancy.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

enum class MapAxis : std::uint8_t { kRegisters, kSharedMemory };

// One side's kernel on the map.
struct OccupancyMark {
  char side = 'A';
  machine::LaunchShape shape;
};

// The cells of a GPU's map; kept while the GPU, the axis and what is not on an axis are the same.
struct OccupancyMap {
  std::string gpu;
  MapAxis axis = MapAxis::kRegisters;
  machine::LaunchShape fixed;
  std::vector<int> threads;               // by row
  std::vector<std::int64_t> values;       // by column: registers, or bytes
  std::vector<machine::Occupancy> cells;  // rows of columns

  void follow(const machine::Gpu& which, MapAxis along, const machine::LaunchShape& shape);
  const machine::Occupancy& at(std::size_t row, std::size_t column) const {
    return cells[row * values.size() + column];
  }
};

// "registers, shared memory": what keeps more blocks off an SM.
std::string limiter_words(const machine::Occupancy& occupancy);

// Under the mouse: the shape, its occupancy, what limits it.
void paint_occupancy_map(const Theme& theme, const char* id, const Box& box,
                         const OccupancyMap& map, const std::vector<OccupancyMark>& marks);

}  // namespace trainscope::ui
