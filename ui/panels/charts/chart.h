// What the charts of the panels share: a frame with axes (ImPlot's, in our style), lines over
// steps, marks, cards under the mouse.
#pragma once

#include <implot.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// Writes a label of an axis, as ImPlot asks for it.
using AxisFormat = int (*)(double value, char* out, int size, void* data);
int format_step(double value, char* out, int size, void* data);    // "1,200"
int format_number(double value, char* out, int size, void* data);  // "0.25"
int format_power(double value, char* out, int size, void* data);   // of its log2: "2^16"
int format_time(double value, char* out, int size, void* data);    // nanoseconds: "1.20 ms"

// The part of the x axis that is shown; the wheel and the right button change it.
struct Stretch {
  double from = 0, to = 0;
  double least = 0, most = 0;  // of all there is

  // To the whole where nothing was zoomed, or there is something else to show.
  void follow(double from_all, double to_all);
};

struct ChartOptions {
  AxisFormat x_format = format_step;
  AxisFormat y_format = format_number;
  double y_from = 0, y_to = 1;
  bool logarithmic = false;
  bool fixed = false;                            // x is not for the mouse to move
  bool share_right = false;                      // a second y axis, 0 .. 100 %
  const std::vector<double>* y_ticks = nullptr;  // else ImPlot's
  bool x_numbers = true;                         // below the chart
};

// What is counted along x, beside the numbers under a chart, within the box that it was given.
void name_axis(const Theme& theme, const Box& box, const char* words);
// What a chart in `box` leaves at its right for that name; 0: it is too narrow to leave any.
float room_for_axis_name(const Theme& theme, const Box& box, const char* words);
// What x is, in place of its numbers where these would say nothing: the first of the ways that has
// room.
void name_axis_alone(const Theme& theme, const std::vector<std::string>& ways);
// The first of several ways to say something that has room; the last one cut where none has.
std::string fitting(const Theme& theme, float size, const std::vector<std::string>& ways,
                    float width);

// The contrast that words in a chart have at least: WCAG 2's for text; a beamer in daylight takes
// its share.
double least_contrast(const Theme& theme);

// A chart that fills the box. end_chart() only when this returned true.
bool begin_chart(const Theme& theme, const char* id, const Box& box, Stretch& x,
                 const ChartOptions& options);
void end_chart();
Box chart_box();  // of the plot's inside, between the two

// A and B are told apart by solid and outlined marks and lines.
struct Pen {
  Color color;
  float thickness = 2;
  bool solid = true;
  Color ground;  // inside an outlined line
};
// The colour of a side's line.
Color side_color(const Theme& theme, std::size_t side);
Pen side_pen(const Theme& theme, std::size_t side);

// Values by step, from 0, or at these times; NaN leaves a hole. Where several steps fall on one
// pixel, from their least to their most.
void draw_values(const Theme& theme, std::span<const double> values, const Pen& pen,
                 bool stepped = false, std::span<const Nanos> times = {});
// Small triangles at the foot of the chart.
void draw_marks(const Theme& theme, std::span<const std::int64_t> steps, Color color, bool solid);
// A vertical line from top to bottom, and words at its top that stay within the chart.
void draw_upright(const Theme& theme, double x, Color color, float thickness,
                  const std::string& words = "", float down = 0);

// The mouse drags the playhead: the x it is at, while the left button is down on the chart.
bool dragged_to(double& x);

using CardRows = std::vector<std::pair<std::string, std::string>>;
void chart_card(const Theme& theme, const std::string& title, const CardRows& rows);

}  // namespace trainscope::ui
