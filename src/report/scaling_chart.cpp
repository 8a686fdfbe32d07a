#include "report/scaling_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "analysis/metrics/number_types.h"
#include "analysis/views/loss_scaling.h"
#include "base/ticks.h"
#include "base/units.h"
#include "report/chart.h"
#include "report/sections.h"

namespace trainscope::report {
namespace {

using analysis::NumberLine;
using analysis::Region;
using analysis::ScalingState;
using analysis::Spectrum;
using trace::Magnitudes;

// In units of the drawing: gradients at the left, the scale at the right; alone it is as wide as
// all.
constexpr double kTall = 190, kTitle = 26, kAxis = 34;
constexpr double kLeft = 12, kMiddle = 610, kScaleLeft = 710, kAloneLeft = 84,
                 kRight = kWideChart - 20;
constexpr double kZeros = 52, kZeroBar = 30;  // room for gradients that are zero, and their bar
constexpr double kHeads = 22;                 // above the bars, for the names of the zones
constexpr double kLeastShare = 0.0005;        // of gradients, that widens the number line

struct Side {
  std::size_t run = 0;  // of the views
  analysis::ScaleHistory history;
  std::optional<ScalingState> state;  // none: no gradients are known
  bool bf16 = false;
};

// Of the step at which scaling matters most.
std::optional<ScalingState> state_of(const trace::Trace& trace) {
  const auto step = analysis::step_that_loses_most(trace);
  return step ? analysis::scaling_at(trace, trace.steps()[*step].time) : std::nullopt;
}

bool changes(const analysis::ScaleHistory& history) {
  return history.least != history.most || !history.skipped.empty();
}

std::vector<Side> sides_of(const std::vector<RunView>& views) {
  std::vector<Side> sides;
  for (std::size_t run = 0; run < views.size(); ++run) {
    const trace::Trace& trace = *views[run].run->trace;
    if (trace.steps().empty()) continue;
    Side side{run, analysis::scale_history(trace), state_of(trace),
              analysis::is_bf16(views[run].run->config)};
    const bool scaled = !side.history.empty() && (changes(side.history) || side.state);
    const bool narrow = analysis::trains_narrow(views[run].run->config) && side.state;
    if (scaled || narrow) sides.push_back(std::move(side));
  }
  return sides;
}

// ---- Gradients on the number line --------------------------------------------------------------

// The powers of two that all runs are drawn on: all of FP16's, and what there is beyond.
struct Powers {
  int from = -34, to = 20;
};

Powers powers_of(const std::vector<Side>& sides) {
  Powers powers;
  for (const Side& side : sides)
    for (int power = Magnitudes::kLeast; side.state && power <= Magnitudes::kMost; ++power) {
      const double before = side.state->before.share_at(power);
      const double after = side.state->after.share_at(power);
      if (std::max(before, after) < kLeastShare) continue;
      powers.from = std::min(powers.from, power);
      powers.to = std::max(powers.to, power + 1);
    }
  return powers;
}

double most_share(const std::vector<Side>& sides) {
  double most = 1e-9;
  for (const Side& side : sides)
    if (side.state)
      for (const Spectrum* one : {&side.state->before, &side.state->after})
        most = std::max(most, *std::ranges::max_element(one->bins));
  return most;
}

bool is_moved(const ScalingState& state) {
  return state.scaled && state.scale != 1;
}

class NumberLineChart {
 public:
  NumberLineChart(const ScalingState& state, const Scale& x, const Scale& y, const Speech& speech)
      : state_(state), x_(x), y_(y), speech_(speech) {}

  std::string svg() const {
    std::string svg = zones() + axis() + zeros();
    if (is_moved(state_)) svg += heap(state_.before, "before");
    return svg + heap(state_.after, is_moved(state_) ? "after" : "before");
  }

 private:
  double top() const { return y_.end - kHeads; }

  std::string zone(Region region, double from, double to) const {
    static constexpr std::string_view kKinds[] = {"zone-lost", "zone-subnormal", "zone-normal",
                                                  "zone-lost"};
    const double left = x_.at(from), right = x_.at(to);
    const bool narrow = region == Region::kInfinity;
    return rect_svg(left, top(), right - left, y_.start - top(),
                    kKinds[static_cast<std::size_t>(region)]) +
           text_svg(narrow ? (left + right) / 2 : left + 5, top() + 14, "plain",
                    narrow ? "middle" : "start",
                    speech_.say(narrow ? "inf" : analysis::name_of(region)));
  }

  std::string zones() const {
    const NumberLine line = analysis::number_line(program::ElementType::kFp16);
    return zone(Region::kZero, x_.from, line.zero_below) +
           zone(Region::kSubnormal, line.zero_below, line.smallest_normal) +
           zone(Region::kNormal, line.smallest_normal, line.infinite_from) +
           zone(Region::kInfinity, line.infinite_from, x_.to);
  }

  std::string axis() const {
    constexpr int kApart = 8;
    std::string svg;
    for (int power = -64; power <= 32; power += kApart)
      if (power > x_.from + 1 && power < x_.to - 1)
        svg += text_svg(x_.at(power), y_.start + 15, "axis", "middle", fmt::format("2^{}", power));
    return svg;
  }

  // Beside the line, where it stands alone: all of the height is all gradients.
  std::string zeros() const {
    if (x_.start < kLeft + kZeros) return "";
    const double middle = kLeft + kZeroBar / 2, tall = state_.zeros * (y_.start - y_.end);
    return fmt::format("<path class=\"heap {}\" d=\"M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z\"/>\n",
                       is_moved(state_) ? "after" : "before", kLeft, y_.start - tall, kZeroBar,
                       tall, -kZeroBar) +
           text_svg(middle, y_.start - tall - 5, "plain", "middle",
                    speech_.number(fmt::format("{:.0f} %", 100 * state_.zeros))) +
           text_svg(middle, y_.start + 15, "axis", "middle", "0");
  }

  // A bar a power of two.
  std::string heap(const Spectrum& spectrum, std::string_view kind) const {
    std::string path;
    for (int power = Magnitudes::kLeast; power <= Magnitudes::kMost; ++power) {
      const double share = spectrum.share_at(power);
      if (share <= 0 || power < x_.from || power >= x_.to) continue;
      const double left = x_.at(power) + 1, width = x_.at(power + 1) - left;
      const double tall = std::max(y_.start - y_.at(share), 1.0);
      fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", left,
                     y_.start - tall, width, tall, -width);
    }
    return fmt::format("<path class=\"heap {}\" d=\"{}\"/>\n", kind, path);
  }

  const ScalingState& state_;
  const Scale &x_, &y_;
  const Speech& speech_;
};

// ---- The scale over the steps ------------------------------------------------------------------

class ScaleChart {
 public:
  ScaleChart(const analysis::ScaleHistory& history, const Scale& x, const Scale& y,
             std::size_t columns)
      : history_(history),
        x_(x),
        y_(y),
        width_((history.scale.size() + columns - 1) / std::max<std::size_t>(columns, 1)) {}

  std::string svg() const { return levels() + line() + skipped() + axis(); }
  // Of how many steps a point is the least.
  std::size_t steps_a_point() const { return width_; }

 private:
  std::string levels() const {
    const double every = std::max(1.0, std::ceil((y_.to - y_.from) / 6));
    std::string svg;
    for (const double power : multiples(every, y_.from, y_.to))
      svg += level_svg(x_.start, kRight, y_.at(power), fmt::format("2^{}", std::lround(power)));
    return svg;
  }

  // The least of the steps from one on; nothing where none had a scale.
  std::optional<double> least_from(std::size_t first) const {
    std::optional<double> least;
    const std::size_t last = std::min(first + width_, history_.scale.size());
    for (std::size_t step = first; step < last; ++step)
      if (std::isfinite(history_.scale[step]) && history_.scale[step] > 0)
        least = std::min(least.value_or(history_.scale[step]), history_.scale[step]);
    return least;
  }

  std::string line() const {
    std::string path;
    std::optional<double> last;
    for (std::size_t step = 0; step < history_.scale.size(); step += width_) {
      const auto scale = least_from(step);
      if (!scale || scale == last) continue;
      const double x = x_.at(static_cast<double>(step)), y = y_.at(std::log2(*scale));
      path += last ? fmt::format("H{:.1f}V{:.1f}", x, y) : fmt::format("M{:.1f} {:.1f}", x, y);
      last = scale;
    }
    return fmt::format("<path class=\"scale\" d=\"{}H{:.1f}\"/>\n", path,
                       x_.at(static_cast<double>(history_.scale.size()) - 1));
  }

  // Triangles on the axis; several in one place are one.
  std::string skipped() const {
    std::string path;
    double last = -1;
    for (const std::int64_t step : history_.skipped) {
      const double x = x_.at(static_cast<double>(step));
      if (x - last < 1) continue;
      fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}l-4 8h8z", x, y_.start);
      last = x;
    }
    return path.empty() ? path : "<path class=\"skips\" d=\"" + path + "\"/>\n";
  }

  std::string axis() const {
    const double tick = std::max(1.0, tick_step(std::max(x_.to, 1.0), 6));
    std::string svg;
    for (const double step : multiples(tick, 0, x_.to))
      svg += text_svg(x_.at(step), y_.start + 22, "axis", "middle", fmt::format("{:.0f}", step));
    return svg;
  }

  const analysis::ScaleHistory& history_;
  const Scale &x_, &y_;
  std::size_t width_;
};

// ---- All runs ----------------------------------------------------------------------------------

// What all runs are drawn to.
struct Axes {
  Powers powers;
  double most_share = 1;
  double steps = 1;
  double least = 0, most = 1;  // powers of two, of scales
  double scale_left = kAloneLeft;
  double line_left = kLeft;  // of the number lines, beside a bar of zeros
};

Axes axes_of(const std::vector<Side>& sides) {
  Axes axes{powers_of(sides), most_share(sides), 1, 1e9, -1e9};
  for (const Side& side : sides) {
    if (side.state) axes.scale_left = kScaleLeft;
    if (side.state && side.state->zeros > 0) axes.line_left = kLeft + kZeros;
    if (side.history.empty()) continue;
    axes.steps = std::max(axes.steps, static_cast<double>(side.history.scale.size()) - 1);
    axes.least = std::min(axes.least, std::floor(std::log2(side.history.least)));
    axes.most = std::max(axes.most, std::ceil(std::log2(side.history.most)));
  }
  axes.least -= 1;
  axes.most += 1;
  return axes;
}

// "0.02 %", never "0 %" of something, never "100 %" of less than all.
std::string lost_words(const Speech& speech, double share) {
  if (share <= 0) return "0 %";
  if (share < 0.0001) return told(speech, "under {}", speech.number("0.01 %"));
  if (share < 1 && share > 0.9999) return told(speech, "over {}", speech.number("99.99 %"));
  return speech.number(fmt::format("{:.{}f} %", 100 * share, share < 0.01 ? 2 : 1));
}

std::string gradient_words(const Side& side, const Speech& speech) {
  if (!side.state) return "";
  const ScalingState& state = *side.state;
  const NumberLine fp16 = analysis::number_line(program::ElementType::kFp16);
  const std::string before = lost_words(speech, state.before.lost(fp16));
  std::string words = told(speech, "gradients of step {}", state.step) + ": ";
  if (side.bf16)
    words += told(
        speech, "{} would be lost in FP16, {} in BF16", before,
        lost_words(speech, state.after.lost(analysis::number_line(program::ElementType::kBf16))));
  else if (is_moved(state))
    words +=
        told(speech, "without scaling {} would be lost in FP16, times {} it is {}", before,
             speech.number(format_factor(state.scale)), lost_words(speech, state.after.lost(fp16)));
  else
    words += told(speech, "not scaled, {} of them lost in FP16", before);
  if (state.rounded > 0)
    words += "; " + told(speech, "of the numbers that backward rounded {} became 0",
                         lost_words(speech, static_cast<double>(state.to_zero) /
                                                static_cast<double>(state.rounded)));
  return words;
}

std::string scale_words(const Side& side, std::size_t steps_a_point, const Speech& speech) {
  const analysis::ScaleHistory& history = side.history;
  if (history.empty()) return speech.say("the loss is not scaled");
  const std::string least = speech.number(format_factor(history.least));
  const std::string most = speech.number(format_factor(history.most));
  std::string words =
      least == most ? told(speech, "scale {}", most) : told(speech, "scale {} to {}", least, most);
  if (!history.skipped.empty())
    words += "; " + told(speech, "{} of {} updates skipped (triangles)", history.skipped.size(),
                         history.scale.size());
  if (steps_a_point > 1)
    words += "; " + told(speech, "a point is the least of {} steps", steps_a_point);
  return words;
}

class Charts {
 public:
  Charts(const std::vector<RunView>& views, const std::vector<Side>& sides, std::size_t columns,
         const Speech& speech)
      : views_(views), axes_(axes_of(sides)), columns_(columns), speech_(speech) {
    for (const Side& side : sides) add(side);
  }

  std::string html() const {
    return drawing_html(kWideChart, top_,
                        speech_.say("Gradients on FP16's number line, and the loss scale"), svg_) +
           words_;
  }

 private:
  void add(const Side& side) {
    const double low = top_ + kTitle + kTall;
    const std::string mark = views_.size() > 1 ? views_[side.run].run->label + "  " : "";
    if (side.state) {
      const Scale x{static_cast<double>(axes_.powers.from), static_cast<double>(axes_.powers.to),
                    axes_.line_left, kMiddle};
      const Scale y{0, axes_.most_share, low, top_ + kTitle + kHeads};
      svg_ += text_svg(kLeft, top_ + 17, "strong", "start",
                       mark + speech_.say("Gradients by their size"));
      svg_ += NumberLineChart(*side.state, x, y, speech_).svg();
    }
    std::size_t steps_a_point = 1;
    if (!side.history.empty()) {
      const Scale x{0, axes_.steps, axes_.scale_left, kRight};
      const Scale y{axes_.least, axes_.most, low, top_ + kTitle};
      const ScaleChart chart(side.history, x, y, columns_);
      svg_ += text_svg(axes_.scale_left, top_ + 17, "strong", "start",
                       mark + speech_.say("Loss scale of each step"));
      svg_ += chart.svg();
      steps_a_point = chart.steps_a_point();
    }
    const std::string gradients = gradient_words(side, speech_);
    words_ += run_words_html(
        views_, side.run,
        scale_words(side, steps_a_point, speech_) + (gradients.empty() ? "" : "; " + gradients));
    top_ = low + kAxis;
  }

  const std::vector<RunView>& views_;
  Axes axes_;
  std::size_t columns_;
  const Speech& speech_;
  double top_ = 0;
  std::string svg_, words_;
};

}  // namespace

std::string scaling_html(const std::vector<RunView>& views, const PageLimits& limits,
                         const Speech& speech) {
  const std::vector<Side> sides = sides_of(views);
  if (sides.empty()) return "";
  const std::size_t columns = std::max<std::size_t>(limits.columns / views.size(), 1);
  std::string body = Charts(views, sides, columns, speech).html();
  const bool moved = std::ranges::any_of(
      sides, [](const Side& side) { return side.state && is_moved(*side.state); });
  if (std::ranges::any_of(sides, [](const Side& side) { return side.state.has_value(); }))
    body += remark_html(
        speech.say("Gradients are those of the step at which FP16 loses, or would lose, most."));
  if (moved) body += remark_html(speech.say("Grey: before they are scaled. Blue: as scaled."));
  return view_html({"scaling", speech.say("Loss scaling"), badges_html(views, speech),
                    "<div class=\"wide\">" + body + "</div>\n"});
}

}  // namespace trainscope::report
