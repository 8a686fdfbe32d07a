#include "report/loss_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/loss_curve.h"
#include "base/ticks.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

// In units of the drawing.
constexpr double kWidth = 1200, kHeight = 260;
constexpr double kLeft = 64, kRight = 1150, kTop = 14, kBottom = 226;
constexpr std::size_t kColumns = 500;  // of a curve: beyond, the mean of neighbouring steps

struct Curve {
  std::size_t run = 0;  // of the views
  analysis::LossCurve loss;
};

// Least and most of what is drawn; a loss that has grown to many times the first hides the rest.
struct Axes {
  double steps = 1, least = 0, most = 1;
  double x(double step) const { return kLeft + step / steps * (kRight - kLeft); }
  double y(double loss) const {
    const double share = (std::min(loss, most) - least) / (most - least);
    return kBottom - share * (kBottom - kTop);
  }
};

std::vector<Curve> curves_of(const std::vector<RunView>& views) {
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < views.size(); ++run) {
    analysis::LossCurve loss = analysis::loss_curve(*views[run].run->trace);
    if (loss.computed) curves.push_back({run, std::move(loss)});
  }
  return curves;
}

Axes axes_of(const std::vector<Curve>& curves) {
  constexpr double kFirsts = 3;
  Axes axes;
  double most = 0, first = 0;
  for (const Curve& curve : curves) {
    axes.steps = std::max(axes.steps, static_cast<double>(curve.loss.loss.size()) - 1);
    axes.least = std::min(axes.least, curve.loss.least);
    most = std::max(most, curve.loss.most);
    first = std::max(first, curve.loss.first);
  }
  if (first > 0) most = std::min(most, kFirsts * first);
  axes.most = std::max(most * 1.08, axes.least + 1e-9);
  return axes;
}

std::string grid(const Axes& axes, const Speech& speech) {
  std::string out;
  const double loss_tick = tick_step(axes.most - axes.least, 5);
  for (double loss = std::ceil(axes.least / loss_tick) * loss_tick; loss <= axes.most;
       loss += loss_tick)
    out += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text x=\"{}\" y=\"{:.1f}\" class=\"axis\" "
        "text-anchor=\"end\">{}</text>\n",
        kLeft, axes.y(loss), kRight, kLeft - 8, axes.y(loss) + 4,
        speech.number(fmt::format("{:.4g}", loss)));
  const double step_tick = std::max(1.0, tick_step(axes.steps, 10));
  for (double step = 0; step <= axes.steps; step += step_tick)
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{}\" class=\"axis\" text-anchor=\"middle\">{:.0f}</text>\n",
        axes.x(step), kBottom + 18, step);
  return out + text_svg(kRight, kBottom + 32, "axis", "end", speech.say("step"));
}

// One line; a loss that is no number interrupts it.
std::string path(const Curve& curve, const Axes& axes) {
  const std::vector<double>& loss = curve.loss.loss;
  const std::size_t width = (loss.size() + kColumns - 1) / kColumns;
  std::string points;
  bool drawing = false;
  for (std::size_t first = 0; first < loss.size(); first += width) {
    const std::size_t last = std::min(loss.size(), first + width);
    double sum = 0, count = 0;
    for (std::size_t step = first; step < last; ++step)
      if (!std::isnan(loss[step])) sum += loss[step], ++count;
    if (count == 0) {
      drawing = false;
      continue;
    }
    fmt::format_to(std::back_inserter(points), "{}{:.1f} {:.1f}", drawing ? "L" : "M",
                   axes.x(static_cast<double>(first + last - 1) / 2), axes.y(sum / count));
    drawing = true;
  }
  return fmt::format("<path class=\"loss side-{}\" d=\"{}\"/>\n", curve.run, points);
}

std::string marks(const Curve& curve, const Axes& axes) {
  std::string out;
  for (const std::int64_t step : curve.loss.skipped)
    out += fmt::format("<path class=\"skipped\" d=\"M{0:.1f} {1}v8\"/>",
                       axes.x(static_cast<double>(step)), kBottom);
  if (curve.loss.diverged)
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"halo\" text-anchor=\"middle\">NaN</text>",
                    axes.x(static_cast<double>(*curve.loss.diverged)), kTop + 12);
  return out.empty() ? out : out + "\n";
}

std::string words(const std::vector<RunView>& views, const Curve& curve, const Speech& speech) {
  const analysis::LossCurve& loss = curve.loss;
  const auto number = [&](double value) { return speech.number(fmt::format("{:.4g}", value)); };
  const auto last = std::find_if(loss.loss.rbegin(), loss.loss.rend(),
                                 [](double value) { return !std::isnan(value); });
  std::string text = told(speech, "loss {} at first", number(loss.first));
  if (last != loss.loss.rend()) text += ", " + told(speech, "{} at last", number(*last));
  if (loss.diverged) text += "; " + told(speech, "no number from step {} on", *loss.diverged);
  if (!loss.skipped.empty())
    text += "; " + told(speech, "{} updates skipped (red marks)", loss.skipped.size());
  if (!loss.accuracy.empty())
    text += "; " + told(speech, "{} of the test set right after {} steps",
                        share_words(speech, loss.accuracy.back().share), loss.accuracy.back().step);
  return "<p>" + side_mark(views, curve.run) + " " +
         fmt::format("<span class=\"line side-{}\"></span> ", curve.run) + html_text(text) +
         "</p>\n";
}

}  // namespace

std::string loss_html(const std::vector<RunView>& views, const Speech& speech) {
  const std::vector<Curve> curves = curves_of(views);
  if (curves.empty()) return "";
  const Axes axes = axes_of(curves);
  std::string svg = grid(axes, speech), paragraphs;
  for (const Curve& curve : curves) {
    svg += path(curve, axes) + marks(curve, axes);
    paragraphs += words(views, curve, speech);
  }
  return "<section class=\"panel losses\" aria-labelledby=\"loss-title\">\n<div class=\"head\">"
         "<h2 id=\"loss-title\">" +
         html_text(speech.say("Loss")) + "</h2></div>\n<div class=\"body\">\n" +
         drawing_html(kWidth, kHeight, speech.say("Loss over steps"), svg) + paragraphs +
         "</div>\n</section>";
}

}  // namespace trainscope::report
