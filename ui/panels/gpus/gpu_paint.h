// Paints the GPUs of a gradient flow: cards with the cells of their gradients, and what travels on
// the links between them while an all-reduce runs.
#pragma once

#include "analysis/views/gradient_flow.h"
#include "sim/collectives/chunk_schedule.h"
#include "ui/app/views/gradient_cells.h"
#include "ui/panels/gpus/gpu_cards.h"

namespace trainscope::ui {

// A small card is as full as the bucket that is spoken of.
void paint_cards(const Theme& theme, const GpuPicture& picture, const analysis::GradientFlow& flow,
                 Nanos time);
// Over the links, under nothing: parts on their way at that time.
void paint_traffic(const Theme& theme, const GpuMap& map, const analysis::GradientFlow& flow,
                   Nanos time);

// Chunks on their way in one step of a collective, `within` of it over (0..1).
void paint_sends(const Theme& theme, const GpuMap& map, const std::vector<sim::ChunkSend>& sends,
                 double within);

// What the colours of the cells mean, in a line, and how wide that is.
void paint_cell_legend(const Theme& theme, ImVec2 left_middle);
float cell_legend_width(const Theme& theme);

}  // namespace trainscope::ui
