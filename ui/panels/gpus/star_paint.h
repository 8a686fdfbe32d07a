// Paints nn.DataParallel's step: GPU 0 in the middle of all that is sent, what each GPU does, and
// the table of what was sent.
#pragma once

#include <optional>

#include "analysis/views/star_flow.h"
#include "ui/panels/gpus/gpu_cards.h"
#include "ui/panels/gpus/step_strip.h"

namespace trainscope::ui {

void paint_star_cards(const Theme& theme, const GpuPicture& picture, const analysis::StarFlow& flow,
                      Nanos time);
void paint_star_traffic(const Theme& theme, const GpuMap& map, const analysis::StarFlow& flow,
                        Nanos time);

// The stage under way, else the one before, in words: "replicate: 97.5 MiB from GPU 0 to each of
// 7".
std::vector<std::string> star_words(const analysis::StarFlow& flow, Nanos time);

// The stage whose row was clicked.
std::optional<std::size_t> draw_star_table(const Theme& theme, const char* id, const Box& box,
                                           const analysis::StarFlow& flow, Nanos time,
                                           trace::SpanId selected);
float star_table_height(const Theme& theme, const analysis::StarStep& step);

}  // namespace trainscope::ui
