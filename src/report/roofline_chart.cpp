#include "report/roofline_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/views/on_roofline.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/architecture.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/sections.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

using analysis::RooflineKernel;
using machine::Math;

// In units of the drawing.
constexpr double kLeft = 110, kRight = kWideChart - 20, kTop = 14, kBottom = 330, kHeight = 374;
constexpr double kLargest = 22, kSmallest = 3;  // a point's radius
constexpr std::size_t kMostRows = 8;            // of the table, a run

struct Side {
  std::size_t run = 0;                         // of the views
  const machine::Gpu* gpu = nullptr;           // null: not known, and no roofs
  std::vector<const RooflineKernel*> kernels;  // that have a point, the longest first
  std::size_t left_out = 0;                    // of those
  Nanos time = 0;                              // of all kernels that are known
};

std::vector<Side> sides_of(const std::vector<RunView>& views, std::size_t most) {
  std::vector<Side> sides;
  for (std::size_t run = 0; run < views.size(); ++run) {
    Side side;
    side.run = run;
    if (views[run].run->machine) side.gpu = &views[run].run->machine->gpu;
    for (const RooflineKernel& kernel : views[run].run->facts.roofline.kernels) {
      side.time += kernel.time;
      if (!kernel.has_point()) continue;
      if (side.kernels.size() < most)
        side.kernels.push_back(&kernel);
      else
        ++side.left_out;
    }
    if (!side.kernels.empty()) sides.push_back(std::move(side));
  }
  return sides;
}

// The units whose roofs are drawn, by their peaks: those that calculate for a hundredth of the
// time.
std::map<double, std::string> roofs_of(const Side& side) {
  std::map<Math, Nanos> times;
  for (const RooflineKernel* kernel : side.kernels) times[kernel->work.math] += kernel->time;
  std::map<double, std::string> roofs;
  for (const auto& [math, time] : times) {
    const auto peak = machine::peak_flops_per_s(*side.gpu, math);
    if (!peak || 100 * time < side.time) continue;
    add_to_list(roofs[*peak], machine::name_of(math));
  }
  return roofs;
}

bool same_roofs(const Side& a, const Side& b) {
  return a.gpu && b.gpu && a.gpu->id == b.gpu->id && a.gpu->clock_share == b.gpu->clock_share &&
         roofs_of(a) == roofs_of(b);
}

// Both ends as powers of ten.
struct Decades {
  double from = 1e9, to = -1e9;
  void include(double value) {
    from = std::min(from, std::log10(value));
    to = std::max(to, std::log10(value));
  }
};

class Chart {
 public:
  Chart(const std::vector<RunView>& views, const std::vector<Side>& sides, const Speech& speech)
      : views_(views), sides_(sides), speech_(speech) {
    for (const Side& side : sides) include(side);
    constexpr double kRoom = 0.4;  // decades beside the outermost point or roof
    if (across_.from > across_.to) across_ = {0, 2};
    if (up_.from > up_.to) up_ = {9, 12};
    x_ = {across_.from - kRoom, across_.to + 2 * kRoom, kLeft, kRight};
    y_ = {std::min(up_.from, up_.to - 2) - kRoom, up_.to + kRoom, kBottom, kTop};
  }

  std::string html() {
    std::string svg = axes();
    for (std::size_t i = 0; i < sides_.size(); ++i)
      if (sides_[i].gpu && (i == 0 || !same_roofs(sides_[0], sides_[i]))) svg += roofs(i);
    for (std::size_t i = 0; i < sides_.size(); ++i)
      for (const RooflineKernel* kernel : sides_[i].kernels) svg += point(i, *kernel);
    for (const Words& one : words_) svg += text_svg(one.x, one.y, "halo", one.anchor, one.text);
    return drawing_html(kWideChart, kHeight, speech_.say("Kernels on the roofline"), svg);
  }

 private:
  void include(const Side& side) {
    for (const RooflineKernel* kernel : side.kernels) {
      if (!analysis::is_of_account(*kernel, side.time)) continue;
      across_.include(kernel->work.intensity());
      up_.include(kernel->achieved());
    }
    if (!side.gpu) return;
    for (const auto& [peak, names] : roofs_of(side)) {
      up_.include(peak);
      across_.include(peak / fastest(side));
    }
  }

  static double fastest(const Side& side) {
    return std::max(side.gpu->memory_bytes_per_s, side.gpu->l2_bytes_per_s);
  }
  double x_of(double intensity) const { return x_.at(std::log10(intensity)); }
  double y_of(double rate) const { return y_.at(std::log10(rate)); }

  std::string axes() const {
    std::string svg;
    for (double power = std::ceil(x_.from); power <= x_.to; ++power)
      svg +=
          fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>", x_.at(power), kTop, kBottom) +
          text_svg(x_.at(power), kBottom + 16, "axis", "middle",
                   speech_.number(fmt::format("{:g}", std::pow(10.0, power))));
    for (double power = std::ceil(y_.from); power <= y_.to; ++power)
      svg += level_svg(kLeft, kRight, y_.at(power), format_value(std::pow(10.0, power), "FLOP/s"));
    return svg + text_svg(kRight, kBottom + 34, "axis", "end",
                          speech_.say("operations a byte of memory traffic"));
  }

  std::string roofs(std::size_t i) {
    const Side& side = sides_[i];
    const bool several = sides_.size() > 1 && !same_roofs(sides_.front(), sides_.back());
    const std::string mark = several ? views_[side.run].run->label + ": " : "";
    const std::string kind = i == 0 ? "roof" : "roof other";
    std::string svg;
    double highest = 0;
    for (const auto& [peak, names] : roofs_of(side)) {
      highest = std::max(highest, peak);
      svg += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{}\"/>", kind,
                         x_of(peak / fastest(side)), y_of(peak), kRight);
      write(kRight - 4, y_of(peak) - 5, "end",
            mark + speech_.say_name(names) + "  " + speech_.number(format_value(peak, "FLOP/s")));
    }
    if (highest == 0) return svg;
    svg += slope(kind, side.gpu->memory_bytes_per_s, highest, mark + speech_.say("memory"), true);
    if (side.gpu->l2_bytes_per_s > 0)
      svg += slope(kind, side.gpu->l2_bytes_per_s, highest, mark + "L2", false);
    return svg;
  }

  // A bandwidth's line up to the highest roof, cut at the edges of the chart.
  std::string slope(const std::string& kind, double bytes_per_s, double highest,
                    const std::string& name, bool words_below) {
    const double low = std::max(y_.from, x_.from + std::log10(bytes_per_s));
    const double high = std::log10(highest);
    if (low >= high) return "";
    const auto x_at = [&](double power) { return x_.at(power - std::log10(bytes_per_s)); };
    const double middle = low + (high - low) * (words_below ? 0.35 : 0.6);
    write(x_at(middle) + (words_below ? 8 : -8), y_.at(middle) + (words_below ? 10 : 0),
          words_below ? "start" : "end", name + "  " + speech_.number(format_rate(bytes_per_s)));
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", kind, x_at(low),
                       y_.at(low), x_at(high), y_.at(high));
  }

  // Where they would stand on others they go as far down as they must, or up. Points stand below.
  void write(double x, double y, const char* anchor, const std::string& text) {
    constexpr double kLetter = 6.8, kLine = 17;  // of the drawing's 12 px type, about
    const double wide = kLetter * static_cast<double>(text.size());
    Words words{x, y, anchor, text, 0, 0};
    words.left = std::string_view(anchor) == "end" ? x - wide : x;
    words.right = words.left + wide;
    const auto is_free = [&](double at) {
      return std::ranges::none_of(words_, [&](const Words& other) {
        return words.left < other.right && words.right > other.left &&
               std::abs(at - other.y) < kLine - 1;
      });
    };
    for (const int lines : {0, 1, -1, 2, -2, 3, -3})
      if (is_free(y + lines * kLine)) {
        words.y = y + lines * kLine;
        break;
      }
    words_.push_back(std::move(words));
  }

  // The area is the share of the time of all kernels of the run; the whole point is on the chart.
  std::string point(std::size_t i, const RooflineKernel& kernel) const {
    const Side& side = sides_[i];
    const double share =
        static_cast<double>(kernel.time) / static_cast<double>(std::max<Nanos>(side.time, 1));
    const double radius = std::max(kSmallest, kLargest * std::sqrt(share));
    const double x = std::clamp(x_of(kernel.work.intensity()), kLeft + radius, kRight - radius);
    const double y = std::clamp(y_of(kernel.achieved()), kTop + radius, kBottom - radius);
    const std::string bound =
        side.gpu ? slug(machine::name_of(kernel.regime.bound)) : std::string("bound-not-known");
    return fmt::format(
        "<circle class=\"point {}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}</title>"
        "</circle>\n",
        bound, i == 0 ? "" : " ring", x, y, radius, html_text(trace::short_name(kernel.name)));
  }

  const std::vector<RunView>& views_;
  const std::vector<Side>& sides_;
  const Speech& speech_;
  Decades across_, up_;
  Scale x_, y_;
  struct Words {
    double x = 0, y = 0;
    const char* anchor = "start";
    std::string text;
    double left = 0, right = 0;
  };
  std::vector<Words> words_;  // of the lines so far
};

std::string table_html(const RunView& view, const Side& side, bool several, const Speech& speech) {
  std::vector<FigureRow> rows;
  for (std::size_t i = 0; i < std::min(side.kernels.size(), kMostRows); ++i) {
    const RooflineKernel& kernel = *side.kernels[i];
    const double share =
        static_cast<double>(kernel.time) / static_cast<double>(std::max<Nanos>(side.time, 1));
    rows.push_back({trace::short_name(kernel.name),
                    {share_words(speech, share),
                     speech.number(format_value(kernel.work.intensity(), "FLOP/B")),
                     speech.number(format_value(kernel.achieved(), "FLOP/s")),
                     side.gpu ? speech.say(machine::name_of(kernel.regime.bound)) : ""}});
  }
  std::vector<std::string> heads;
  for (const char* head : {"of the time", "intensity", "achieved", "bound"})
    heads.push_back(speech.say(head));
  const std::string mark = several ? view.run->label + ": " : "";
  return figures_html(mark + speech.say("longest kernels"), heads, rows);
}

std::string left_out_words(const RunView& view, const Side& side, bool several,
                           const Speech& speech) {
  const std::string mark = several ? view.run->label + ": " : "";
  return mark + told(speech, "the {} longest kernels are drawn, {} shorter ones are not",
                     side.kernels.size(), side.left_out);
}

std::string legend_words(const std::vector<RunView>& views, const std::vector<Side>& sides,
                         const Speech& speech) {
  std::string words = speech.say("A point is a kernel, as large as its share of the time.");
  if (std::ranges::any_of(sides, [](const Side& side) { return side.gpu != nullptr; }))
    words += " " + speech.say(
                       "Blue: compute-bound. Orange: memory-bound. Purple: latency-bound. "
                       "Red: overhead-bound.");
  if (sides.size() == 2)
    words += " " + told(speech, "Filled: {}. Rings: {}.", views[sides[0].run].run->label,
                        views[sides[1].run].run->label);
  return words;
}

}  // namespace

std::string roofline_html(const std::vector<RunView>& views, const PageLimits& limits,
                          const Speech& speech) {
  const std::vector<Side> sides = sides_of(views, limits.rows);
  if (sides.empty()) return "";
  const bool several = views.size() > 1;
  std::string remarks = remark_html(legend_words(views, sides, speech));
  std::string tables;
  for (const Side& side : sides) {
    tables += table_html(views[side.run], side, several, speech);
    if (side.left_out > 0)
      remarks += remark_html(left_out_words(views[side.run], side, several, speech));
  }
  return view_html({"roofline", speech.say("Roofline"), badges_html(views, speech),
                    "<div class=\"wide\">" + Chart(views, sides, speech).html() + remarks +
                        "<div class=\"pair\">" + tables + "</div></div>\n"});
}

}  // namespace trainscope::report
