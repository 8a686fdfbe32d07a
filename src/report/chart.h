// What the drawn views of a page have in common: the panel with its badges, axes, tables. Words are
// taken as text and escaped here, but where a parameter is called `html` or `svg`.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// Where values stand along an axis. Those beyond its ends stand at them.
struct Scale {
  double from = 0, to = 1;    // values
  double start = 0, end = 1;  // their places, in units of the drawing; either may be the larger
  double at(double value) const;
};

// Widths of drawings, whose letters are 12 high: as wide as the page, and with a table beside it.
inline constexpr double kWideChart = 1200, kNarrowChart = 940;

// A panel of the page: `id` is its own among all.
struct ViewPanel {
  std::string_view id;
  std::string title;
  std::string badges_html;
  std::string body_html;
};
std::string view_html(const ViewPanel& panel);

// `label` is what is read out for it.
std::string drawing_html(double width, double height, const std::string& label,
                         const std::string& svg);

// One line of text; `kind` is its class, `anchor` is "start", "middle" or "end".
std::string text_svg(double x, double y, std::string_view kind, std::string_view anchor,
                     const std::string& words);
std::string rect_svg(double x, double y, double width, double height, std::string_view kind);
// From one edge to another, whichever is the larger.
std::string span_svg(double left, double right, double y, double height, std::string_view kind);

// Round times below a chart, with lines up to `top`.
std::string time_axis_svg(const Scale& x, double top, double bottom, const Speech& speech);
// A line across the chart and what it stands for, left of it.
std::string level_svg(double left, double right, double y, const std::string& words);

// A cell where a run has nothing is "".
struct FigureRow {
  std::string name;
  std::vector<std::string> values;  // a run each
  std::string swatch = {};          // class of the colour that it has in the drawing
};
// The heads that stand above the values of these runs; of one run alone it is empty.
std::vector<std::string> heads_of(const std::vector<RunView>& views,
                                  const std::vector<std::size_t>& runs);
std::string figures_html(const std::string& title, const std::vector<std::string>& heads,
                         const std::vector<FigureRow>& rows);

// Small and grey: what was left out, how a drawing is read.
std::string remark_html(const std::string& words);

// A paragraph that begins with the mark of its run.
std::string run_words_html(const std::vector<RunView>& views, std::size_t run,
                           const std::string& words);

using trainscope::told;

std::string time_words(const Speech& speech, double nanos);
std::string bytes_words(const Speech& speech, double bytes);
std::string share_words(const Speech& speech, double share);  // "12.5 %"

}  // namespace trainscope::report
