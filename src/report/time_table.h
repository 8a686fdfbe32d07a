// A table whose rows have bars on one axis of time beside their figures: plain HTML that needs no
// script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/intervals.h"
#include "base/speech.h"

namespace trainscope::report {

struct TimeBar {
  analysis::Interval time;
  std::string_view kind;  // its class: its colour
};

struct TimeRow {
  std::string name;
  std::vector<std::string> cells;  // one a head
  std::vector<TimeBar> bars;       // later ones on top of earlier ones
};

struct TimeTable {
  std::string title;               // above the names
  std::vector<std::string> heads;  // above the figures
  Nanos start = 0;                 // of the axis, which counts from there
  Nanos length = 1;
  std::vector<TimeRow> rows;
};

// Bars beyond the axis are left out, those that reach over its ends are cut there.
std::string time_table_html(const TimeTable& table, const Speech& speech);

// Of a set, what lies in a range, as at most `most` bars: intervals so close that a gap would not
// be seen are one.
std::vector<analysis::Interval> joined(const analysis::IntervalSet& set, analysis::Interval range,
                                       std::size_t most);

}  // namespace trainscope::report
