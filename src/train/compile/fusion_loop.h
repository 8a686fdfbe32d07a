// The loop that a kernel of an operation runs: what Inductor compares before it fuses.
#pragma once

#include <cstdint>
#include <optional>

#include "program/function.h"

namespace trainscope::train {

struct FusionLoop {
  std::int64_t elements = 0;
  std::int64_t results = 0;  // of a reduction; 0: it is none
  bool inner = false;        // a reduction over neighbours in memory: rows
  // It reads, or writes, at other places than the one it loops over: windows, rows of a table.
  bool gathers = false;
  bool scatters = false;
};

// Nothing for what is called from a library: matrix products, convolutions, attention; and for what
// is no part of a model's forward or backward.
std::optional<FusionLoop> fusion_loop(const program::Function& function);

}  // namespace trainscope::train
