#include "report/loss_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/metrics/loss_curve.h"
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
// Along x are steps or, where there is a target, time: that asks when.
struct Axes {
  bool over_time = false;
  double end = 1, least = 0, most = 1;
  double x(double at) const { return kLeft + at / end * (kRight - kLeft); }
  double x(const analysis::LossCurve& curve, std::size_t step) const {
    if (!over_time) return x(static_cast<double>(step));
    return x(static_cast<double>(curve.time[std::min(step, curve.time.size() - 1)]));
  }
  double y(double loss) const {
    const double share = (std::min(loss, most) - least) / (most - least);
    return kBottom - share * (kBottom - kTop);
  }
};

std::vector<Curve> curves_of(const std::vector<RunView>& views) {
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < views.size(); ++run) {
    const analysis::Run& of = *views[run].run;
    analysis::LossCurve loss =
        analysis::loss_curve(*of.trace, of.program ? of.program->target : program::LossTarget{});
    if (loss.computed) curves.push_back({run, std::move(loss)});
  }
  return curves;
}

Axes axes_of(const std::vector<Curve>& curves) {
  constexpr double kFirsts = 3;
  Axes axes;
  double most = 0, first = 0;
  for (const Curve& curve : curves) axes.over_time |= curve.loss.target > 0;
  for (const Curve& curve : curves) {
    const double steps = static_cast<double>(curve.loss.loss.size()) - 1;
    axes.end =
        std::max(axes.end, axes.over_time ? static_cast<double>(curve.loss.time.back()) : steps);
    axes.least = std::min(axes.least, curve.loss.least);
    most = std::max({most, curve.loss.most, curve.loss.target});
    first = std::max(first, curve.loss.first);
  }
  if (first > 0) most = std::min(most, kFirsts * first);
  axes.most = std::max(most * 1.08, axes.least + 1e-9);
  return axes;
}

std::string number_below(double x, const std::string& words) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{}\" class=\"axis\" text-anchor=\"middle\">{}</text>\n", x,
      kBottom + 18, words);
}

std::string steps(const Axes& axes, const Speech& speech) {
  std::string out;
  const double tick = std::max(1.0, tick_step(axes.end, 10));
  for (const double step : multiples(tick, 0, axes.end))
    out += number_below(axes.x(step), fmt::format("{:.0f}", step));
  return out + text_svg(kRight, kBottom + 32, "axis", "end", speech.say("step"));
}

std::string times(const Axes& axes, const Speech& speech) {
  std::string out;
  const double tick = tick_step(axes.end, 10);
  for (const double time : multiples(tick, 0, axes.end))
    out += number_below(axes.x(time), speech.number(format_tick(time)));
  return out + text_svg(kRight, kBottom + 32, "axis", "end", speech.say("time"));
}

std::string grid(const Axes& axes, const Speech& speech) {
  std::string out;
  const double loss_tick = tick_step(axes.most - axes.least, 5);
  for (const double loss : multiples(loss_tick, axes.least, axes.most))
    out += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text x=\"{}\" y=\"{:.1f}\" class=\"axis\" "
        "text-anchor=\"end\">{}</text>\n",
        kLeft, axes.y(loss), kRight, kLeft - 8, axes.y(loss) + 4,
        speech.number(fmt::format("{:.4g}", loss)));
  return out + (axes.over_time ? times(axes, speech) : steps(axes, speech));
}

// One line; a loss that is no number interrupts it. Where the curve gets to its target, the line
// has that very point: the ring is on it.
std::string path(const Curve& curve, const std::vector<double>& loss, const char* look,
                 const Axes& axes) {
  const std::size_t width = (loss.size() + kColumns - 1) / kColumns;
  const std::size_t reached = curve.loss.reached.value_or(loss.size());
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
    const bool reaches = first <= reached && reached < last;
    fmt::format_to(std::back_inserter(points), "{}{:.1f} {:.1f}", drawing ? "L" : "M",
                   axes.x(curve.loss, reaches ? reached : (first + last - 1) / 2),
                   axes.y(reaches ? loss[reached] : sum / count));
    drawing = true;
  }
  return fmt::format("<path class=\"{} side-{}\" d=\"{}\"/>\n", look, curve.run, points);
}

// What has a target is judged by the mean: that is the line, and each step's loss is faint.
bool draws_mean(const Curve& curve) {
  return curve.loss.target > 0 && curve.loss.window > 1;
}

std::string lines(const std::vector<Curve>& curves, const Axes& axes) {
  std::string out;
  for (const Curve& curve : curves)
    if (draws_mean(curve)) out += path(curve, curve.loss.loss, "loss faint", axes);
  for (const Curve& curve : curves)
    out += path(curve, draws_mean(curve) ? curve.loss.mean : curve.loss.loss, "loss", axes);
  return out;
}

std::string marks(const Curve& curve, const Axes& axes) {
  std::string out;
  for (const std::int64_t step : curve.loss.skipped)
    out += fmt::format("<path class=\"skipped\" d=\"M{0:.1f} {1}v8\"/>",
                       axes.x(curve.loss, static_cast<std::size_t>(step)), kBottom);
  if (curve.loss.diverged)
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"halo\" text-anchor=\"middle\">NaN</text>",
                    axes.x(curve.loss, static_cast<std::size_t>(*curve.loss.diverged)), kTop + 12);
  return out.empty() ? out : out + "\n";
}

// The line to be reached, which both sides may share, and a ring where a side gets there.
std::string target(const std::vector<Curve>& curves, const Axes& axes, const Speech& speech) {
  std::string out;
  double last = 0;
  for (const Curve& curve : curves) {
    const analysis::LossCurve& loss = curve.loss;
    if (loss.target > 0 && loss.target != last) {
      const double y = axes.y(loss.target);
      out += fmt::format("<path class=\"target\" d=\"M{} {:.1f}H{}\"/>", kLeft, y, kRight) +
             text_svg(kLeft + 6, y + 13, "axis halo", "start",
                      told(speech, "target {}", speech.number(fmt::format("{:.4g}", loss.target))));
      last = loss.target;
    }
    if (loss.reached)
      out +=
          fmt::format("<circle class=\"reached side-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n",
                      curve.run, axes.x(loss, *loss.reached), axes.y(loss.mean[*loss.reached]));
  }
  return out;
}

std::string target_words(const analysis::LossCurve& loss, const Speech& speech) {
  const std::string target = speech.number(fmt::format("{:.4g}", loss.target));
  const std::string what = loss.window == 1 ? speech.say("the loss of a step")
                                            : told(speech, "the mean of {} steps", loss.window);
  if (!loss.reached) return told(speech, "{} does not get to {}", what, target);
  const std::string time = time_words(speech, static_cast<double>(loss.reached_after));
  if (*loss.reached == 0)
    return told(speech, "{} gets to {} after {}, in 1 step", what, target, time);
  return told(speech, "{} gets to {} after {}, in {} steps", what, target, time, *loss.reached + 1);
}

std::string skipped_words(std::size_t updates, const Speech& speech) {
  return updates == 1 ? speech.say("1 update skipped (red mark)")
                      : told(speech, "{} updates skipped (red marks)", updates);
}

std::string accuracy_words(const analysis::LossCurve::Accuracy& tried, const Speech& speech) {
  const std::string share = share_words(speech, tried.share);
  return tried.step == 1
             ? told(speech, "{} of the test set right after 1 step", share)
             : told(speech, "{} of the test set right after {} steps", share, tried.step);
}

std::string words(const analysis::LossCurve& loss, const Speech& speech) {
  const auto number = [&](double value) { return speech.number(fmt::format("{:.4g}", value)); };
  const auto last = std::find_if(loss.loss.rbegin(), loss.loss.rend(),
                                 [](double value) { return !std::isnan(value); });
  std::string text = told(speech, "loss {} at first", number(loss.first));
  if (last != loss.loss.rend()) text += ", " + told(speech, "{} at last", number(*last));
  if (loss.target > 0) text += "; " + target_words(loss, speech);
  if (loss.diverged) text += "; " + told(speech, "no number from step {} on", *loss.diverged);
  if (!loss.skipped.empty()) text += "; " + skipped_words(loss.skipped.size(), speech);
  if (!loss.accuracy.empty()) text += "; " + accuracy_words(loss.accuracy.back(), speech);
  return text;
}

std::string paragraph(const std::vector<RunView>& views, const Curve& curve,
                      const std::string& text) {
  return "<p>" + side_mark(views, curve.run) + " " +
         fmt::format("<span class=\"line side-{}\"></span> ", curve.run) + html_text(text) +
         "</p>\n";
}

}  // namespace

std::string loss_html(const std::vector<RunView>& views, const Speech& speech, bool told) {
  const std::vector<Curve> curves = curves_of(views);
  if (curves.empty()) return "";
  const Axes axes = axes_of(curves);
  std::string svg = grid(axes, speech) + lines(curves, axes), paragraphs;
  for (const Curve& curve : curves) {
    svg += marks(curve, axes);
    paragraphs += paragraph(views, curve, told ? words(curve.loss, speech) : std::string());
  }
  if (told) svg += target(curves, axes, speech);
  return "<section class=\"panel losses\" aria-labelledby=\"loss-title\">\n<div class=\"head\">"
         "<h2 id=\"loss-title\">" +
         html_text(speech.say("Loss")) + "</h2></div>\n<div class=\"body\">\n" +
         drawing_html(kWidth, kHeight,
                      speech.say(axes.over_time ? "Loss over time" : "Loss over steps"), svg) +
         paragraphs + "</div>\n</section>";
}

}  // namespace trainscope::report
