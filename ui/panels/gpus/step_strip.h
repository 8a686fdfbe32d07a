// One step as a few lanes: what a GPU calculates, what is sent beside that, red where it only
// communicates. The mouse moves the playhead along it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/gradient_flow.h"
#include "analysis/views/star_flow.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// Of the whole trace: of the GPU that metrics are about.
struct StepWork {
  analysis::GpuWork kernels;
  analysis::IntervalSet exposed;  // communication, with no kernel
};
StepWork step_work(const trace::Trace& trace, const program::Program* program);

// A part of a bar, and the share of it that is busy.
struct StripShade {
  analysis::Interval time;
  float busy = 1;
};
struct StripBar {
  analysis::Interval time;
  trace::Category category = trace::Category::kOther;
  std::string label;                    // where it fits
  std::vector<StripShade> shades = {};  // by pixel column, where gaps are too short to be seen
  bool is_numbered = false;             // its label is its own, not its category's
  bool speaks_beside = false;           // its label stands beside it where it does not fit
  std::string shorter = {};             // instead, on all numbered ones, where one has no room
};
// All of the bar where it has no shades.
std::vector<StripShade> parts_of(const StripBar& bar);
// Paler the less there is in it, but to be seen.
Color shaded(Color fill, const StripShade& shade);
// What words on a part of a bar are written with.
struct LabelInk {
  Color ink;
  std::optional<Color> ground;  // to be laid under them, where they are not read well on the bar
};
LabelInk label_ink(const Theme& theme, const StripBar& bar, analysis::Interval under);
struct StripLane {
  std::string name;
  std::vector<StripBar> bars;
};
struct StepStrip {
  analysis::Interval shown;
  Nanos axis = 0;  // as long as the longest step beside it, if that is longer than what is shown
  std::vector<StripLane> lanes;
  bool has_ground = false;  // where a lane has no bar, its ground is seen
};

// Intervals closer than `apart` are one bar: a step has thousands of kernels. Where they leave much
// of it free, or are shorter than that, it has shades.
void add_bars(StripLane& lane, const analysis::IntervalSet& set, trace::Category category,
              analysis::Interval shown, Nanos apart);
void add_bars(StripLane& lane, const analysis::GpuWork& work, analysis::Interval shown,
              Nanos apart);

// The step at a time; of a backward that is in none, that.
analysis::Interval shown_step(const analysis::GradientFlow& flow, Nanos time);

// Of the step at a time; `width` in pixels is what it is drawn in.
StepStrip strip_of(const analysis::GradientFlow& flow, const StepWork& work, Nanos time,
                   float width);
StepStrip strip_of(const analysis::StarFlow& flow, const StepWork& work, Nanos time, float width);

// Where the mouse has dragged the playhead.
std::optional<Nanos> draw_step_strip(const Theme& theme, const char* id, const Box& box,
                                     const StepStrip& strip, Nanos time);

}  // namespace trainscope::ui
