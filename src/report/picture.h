// The timelines as a drawing (SVG) that needs no script: all runs on one axis.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// What of the runs is drawn; of the lists one entry a run, or none.
struct PictureView {
  Nanos start = 0;  // of the axis that the runs share; start == end: all of it
  Nanos end = 0;
  std::vector<std::vector<trace::LaneId>> hidden;  // lanes left out
  std::vector<Nanos> offsets;                      // added to a run's own times
  // Whether totals and gaps are told in words: a drawing to work on has bars and names alone.
  bool told = true;
  double width = 1200;  // in units of the drawing: letters are 12 high
};

// A drawing without its frame, in its own units.
struct Drawing {
  double width = 0;
  double height = 0;
  std::string body;
  std::vector<std::string> notes;  // those whose numbers stand in it: "2  B, stream 7: look here"
};
Drawing drawn_timelines(const std::vector<RunView>& views, const PictureView& view,
                        const Speech& speech = {});

// As a part of a page; in a narrower drawing letters are larger.
std::string picture_svg(const std::vector<RunView>& views, const Speech& speech = {},
                        const PictureView& view = {});

}  // namespace trainscope::report
