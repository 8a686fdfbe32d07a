// Below the timelines, while one measures: what to click next, or from where to where the ruler
// goes.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// 0 while one does not measure.
float measure_bar_height(const PanelContext& context);
void draw_measure_bar(const PanelContext& context, const TimelineInput& input, float height);

// "A stream 7: end of gemm".
std::string place_words(const TimelineInput& input, const Edge& edge);

}  // namespace trainscope::ui
