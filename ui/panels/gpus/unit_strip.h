// FSDP's units over a step: a row a unit, from where its parameters are gathered to where they are
// freed, and in it its forward and its backward.
#pragma once

#include <string>

#include "analysis/causes/unit_times.h"
#include "ui/panels/gpus/step_strip.h"

namespace trainscope::ui {

// Of the step at a time.
StepStrip strip_of(const analysis::UnitTimes& times, Nanos time);

// "whole: 2 of 25 units now"
std::string unit_words(const analysis::UnitTimes& times, Nanos time);

// The colours and what they mean, and what is whole at the time; as much of it as fits.
void draw_unit_legend(const Theme& theme, const Box& box, const analysis::UnitTimes& times,
                      Nanos time);

}  // namespace trainscope::ui
