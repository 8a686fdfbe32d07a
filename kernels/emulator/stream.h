// What a launch hands a grid to: nobody, and it is run at once; or a queue that somebody keeps.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/emulator/grid.h"

namespace trainscope::emulator {

struct Stream {
  std::uint64_t seed = 0;  // of the order in which blocks and threads run (grid.h)

  // Null: the launch runs the grid. Else it hands it over here, with `thread`, which has copies of
  // the kernel's arguments; whoever has it calls run() when it is its turn.
  void (*put)(void* queue, const Grid& grid, std::function<void()> thread) = nullptr;
  void* queue = nullptr;
};

}  // namespace trainscope::emulator
