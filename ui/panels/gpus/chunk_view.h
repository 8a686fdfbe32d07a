// A collective chunk by chunk: the GPUs on their links with the chunks on their way, and a table of
// what each GPU holds of each chunk, in numbers that are really added.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/collective_walk.h"
#include "machine/topology.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

struct WalkView {
  const Theme& theme;
  const analysis::CollectiveWalk& walk;
  const machine::Topology* topology = nullptr;  // may be null
  const std::vector<int>& ring;
  Nanos time = 0;
};

// "all-reduce, 8 GPUs of 8 x H100 SXM: ring, Simple"; the longest way to say it first.
std::vector<std::string> walk_title(const WalkView& view, const std::string& machine);

// What the step under way does: "step 3 of 14: each GPU adds what comes to its own".
std::vector<std::string> step_words(const WalkView& view);

// Beside each other where there is room, else one of the two: the numbers, or the GPUs.
void draw_walk(const WalkView& view, const Box& box, bool numbers);

}  // namespace trainscope::ui
