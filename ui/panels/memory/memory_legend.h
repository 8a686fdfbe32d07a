// What the colours of memory charts mean, where there is no room to list the peak beside each.
#pragma once

#include <string>
#include <vector>

#include "ui/panels/memory/memory_chart.h"

namespace trainscope::ui {

// The roles that a chart draws and that are not among `roles` yet, behind those.
void add_drawn_roles(const analysis::MemoryHistory& history, const MemoryColumns& columns,
                     std::vector<std::string>& roles);

// Of the lines that the roles take in that width.
float memory_legend_height(const Theme& theme, float width, const std::vector<std::string>& roles);

void paint_memory_legend(const Theme& theme, const Box& box, const std::vector<std::string>& roles);

}  // namespace trainscope::ui
