// Where the GPUs of many nodes stand: a frame a node, the GPUs in it in rows. Pure.
#pragma once

#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct GpuGrid {
  struct Node {
    Box frame;
    Box words;              // for the node's name; no height: no room
    std::vector<Box> gpus;  // in their order
  };
  std::vector<Node> nodes;
};

// `sizes`: the GPUs of each node. All GPUs are of one size. A node alone has neither frame nor
// name. `unit` is a pixel at scale 1.
GpuGrid lay_out_nodes(const Box& area, float unit, const std::vector<int>& sizes);

}  // namespace trainscope::ui
