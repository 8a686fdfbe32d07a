#include "report/memory_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "analysis/views/memory_history.h"
#include "analysis/views/memory_map.h"
#include "base/ticks.h"
#include "report/chart.h"
#include "report/sections.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

using analysis::MemoryBlock;
using analysis::MemoryHistory;
using Moment = MemoryHistory::Moment;

// In units of the drawing.
constexpr double kLeft = 84, kRight = kNarrowChart - 20, kTall = 180, kTitle = 24, kStrip = 12,
                 kAxis = 26;
constexpr std::size_t kSteps = 3;         // that are drawn together
constexpr std::size_t kLeastMoments = 8;  // less is no history
constexpr std::size_t kMostHolders = 8;

struct Side {
  std::size_t run = 0;  // of the views
  std::vector<analysis::MemoryGpu> gpus;
  MemoryHistory history;
  std::vector<MemoryBlock> held;  // at the peak, the largest first
  analysis::Interval shown;
  std::size_t first_step = 0;          // of those that are drawn
  std::vector<const Moment*> columns;  // of equal parts of what is drawn
  bool has_more_steps() const { return history.steps().size() > kSteps; }
};

// The step of the peak with one before and one after; all where there are few.
void choose_range(const RunView& view, Side& side) {
  const auto& steps = side.history.steps();
  side.shown = {0, std::max<Nanos>(view.run->trace->end(), 1)};
  if (!side.has_more_steps()) return;
  const auto after =
      std::ranges::upper_bound(steps, side.history.peak().time, {}, &MemoryHistory::Step::start);
  const auto now = std::clamp<std::ptrdiff_t>(after - steps.begin() - 1, 1, std::ssize(steps) - 2);
  side.first_step = static_cast<std::size_t>(now) - 1;
  const Nanos start = steps[side.first_step].start;
  side.shown = {start, std::max(steps[side.first_step + kSteps - 1].end, start + 1)};
}

bool has_history(const MemoryHistory& history) {
  return history.moments().size() >= kLeastMoments && history.peak().allocated > 0;
}

Nanos longest_of(const std::vector<Side>& sides) {
  Nanos longest = 1;
  for (const Side& side : sides) longest = std::max(longest, side.shown.end - side.shown.start);
  return longest;
}

// None narrower than a unit of the drawing, of which one sees nothing: each has the most of its
// time.
void cut_columns(std::vector<Side>& sides, std::size_t most) {
  const auto longest = static_cast<double>(longest_of(sides));
  for (Side& side : sides) {
    const double share = static_cast<double>(side.shown.end - side.shown.start) / longest;
    const auto units = static_cast<std::size_t>(std::max(share * (kRight - kLeft), 1.0));
    side.columns = side.history.highest(side.shown.start, side.shown.end, std::min(units, most));
  }
}

std::vector<Side> sides_of(const std::vector<RunView>& views, const PageLimits& limits) {
  std::vector<Side> sides;
  if (views.empty()) return sides;
  for (std::size_t run = 0; run < views.size(); ++run) {
    const trace::Trace& trace = *views[run].run->trace;
    if (!analysis::counts_memory(trace)) continue;
    Side side{run, analysis::memory_gpus(trace), MemoryHistory(trace), {}, {}, 0, {}};
    if (!has_history(side.history)) continue;
    if (const analysis::MemoryGpu* gpu = analysis::fullest(side.gpus))
      side.held = analysis::held_at_peak(trace, gpu->device);
    choose_range(views[run], side);
    sides.push_back(std::move(side));
  }
  cut_columns(sides, std::max<std::size_t>(limits.columns / views.size(), 1));
  return sides;
}

double capacity_of(const RunView& view) {
  return view.run->machine ? static_cast<double>(machine::room_of_allocator(*view.run->machine))
                           : 0;
}

// What all charts reach; a capacity that is near stands in them.
double highest_of(const std::vector<RunView>& views, const std::vector<Side>& sides) {
  constexpr double kNear = 1.4, kAbove = 1.04;
  double highest = 0;
  for (const Side& side : sides)
    highest = std::max({highest, side.history.most_reserved(), side.history.peak().allocated});
  double most = highest;
  for (const Side& side : sides)
    if (const double capacity = capacity_of(views[side.run]); capacity < kNear * highest)
      most = std::max(most, capacity);
  return most * kAbove;
}

// Names of a file that was read may be any.
std::string role_class(const std::string& role) {
  for (std::size_t i = 0; i < program::kRoles; ++i)
    if (program::name_of(static_cast<program::Role>(i)) == role) return slug(role);
  return "other";
}

// Bars side by side, with a path a kind: M x y h width v height h -width z.
using Paths = std::map<std::string, std::string>;

void add_bar(Paths& paths, const std::string& kind, double x, double top, double width,
             double height) {
  fmt::format_to(std::back_inserter(paths[kind]), "M{:.1f} {:.2f}h{:.1f}v{:.2f}h{:.1f}z", x, top,
                 width, height, -width);
}

class Chart {
 public:
  Chart(const RunView& view, const Side& side, const Scale& x, const Scale& y, const Speech& speech)
      : view_(view), side_(side), x_(x), y_(y), speech_(speech) {}

  std::string svg() const {
    return levels() + stack() + reserved() + capacity() + peak() + phases();
  }

 private:
  // A column's left edge, as it is written, so that neighbours touch; of a run that is shorter than
  // another, its part of the axis.
  double edge(std::size_t column) const {
    const auto length = static_cast<double>(side_.shown.end - side_.shown.start);
    const double x =
        x_.at(length * static_cast<double>(column) / static_cast<double>(side_.columns.size()));
    return std::round(10 * x) / 10;
  }
  double x_of(Nanos time) const { return x_.at(static_cast<double>(time - side_.shown.start)); }

  std::string levels() const {
    constexpr double kLevels = 4;
    double step = std::exp2(std::floor(std::log2(std::max(y_.to, 1.0) / kLevels)));
    while (y_.to / step > kLevels) step *= 2;
    std::string svg;
    for (const double bytes : multiples(step, 0, y_.to))
      svg += level_svg(kLeft, kRight, y_.at(bytes), bytes == 0 ? "0" : bytes_words(speech_, bytes));
    return svg;
  }

  // What is the same from one column to the next is one bar.
  std::string stack() const {
    Paths paths;
    const auto& columns = side_.columns;
    for (std::size_t from = 0, to = 0; from < columns.size(); from = to) {
      while (to < columns.size() && columns[to] == columns[from]) ++to;
      if (columns[from]) add_moment(paths, *columns[from], edge(from), edge(to));
    }
    std::string svg;
    for (const auto& [kind, path] : paths)
      svg += "<path class=\"stack r-" + kind + "\" d=\"" + path + "\"/>\n";
    return svg;
  }

  void add_moment(Paths& paths, const Moment& moment, double left, double right) const {
    if (moment.by_role.empty()) {
      const double top = y_.at(moment.allocated);
      return add_bar(paths, "other", left, top, right - left, y_.start - top);
    }
    double sum = 0;
    for (const std::size_t role : analysis::stack_order(side_.history.roles())) {
      if (moment.by_role[role] <= 0) continue;
      const double low = y_.at(sum);
      sum += moment.by_role[role];
      add_bar(paths, role_class(side_.history.roles()[role]), left, y_.at(sum), right - left,
              low - y_.at(sum));
    }
  }

  std::string reserved() const {
    if (side_.history.most_reserved() <= 0) return "";
    std::string path;
    double last = -1;
    for (std::size_t i = 0; i < side_.columns.size(); ++i) {
      if (!side_.columns[i]) continue;
      const double y = y_.at(side_.columns[i]->reserved);
      if (y == last) continue;
      path += last < 0 ? fmt::format("M{:.1f} {:.1f}", edge(i), y)
                       : fmt::format("H{:.1f}V{:.1f}", edge(i), y);
      last = y;
    }
    if (path.empty()) return "";
    return fmt::format("<path class=\"reserved\" d=\"{}H{:.1f}\"/>\n", path,
                       edge(side_.columns.size()));
  }

  std::string capacity() const {
    const double bytes = capacity_of(view_);
    if (bytes <= 0 || bytes > y_.to) return "";
    return fmt::format("<path class=\"capacity\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", kLeft,
                       y_.at(bytes), kRight) +
           text_svg(kRight - 6, y_.at(bytes) - 5, "halo", "end",
                    told(speech_, "capacity {}", bytes_words(speech_, bytes)));
  }

  std::string peak() const {
    const Moment& moment = side_.history.peak();
    if (moment.time < side_.shown.start || moment.time > side_.shown.end) return "";
    const double x = x_of(moment.time), y = y_.at(moment.allocated);
    const bool on_the_left = x < (kLeft + kRight) / 2;
    // Above it, but for the line of what is reserved.
    constexpr double kTextTall = 18;
    const bool above =
        y - y_.at(moment.reserved) > kTextTall || moment.reserved <= moment.allocated;
    return fmt::format("<circle class=\"peak\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", x, y) +
           text_svg(x + (on_the_left ? 8 : -8), above ? y - 7 : y + kTextTall, "halo",
                    on_the_left ? "start" : "end",
                    told(speech_, "peak {}", bytes_words(speech_, moment.allocated)));
  }

  // Under the chart: what the host was launching.
  std::string phases() const {
    Paths paths;
    double last = 0;
    for (const analysis::HostPhase& phase : side_.history.phases()) {
      if (phase.end < side_.shown.start || phase.start > side_.shown.end) continue;
      const double left = x_of(std::max(phase.start, side_.shown.start));
      const double right = x_of(std::min(phase.end, side_.shown.end));
      if (right - last < 0.5) continue;
      add_bar(paths, slug(trace::name_of(phase.category)), left, y_.start + 4,
              std::max(right - left, 0.5), kStrip - 4);
      last = right;
    }
    std::string svg;
    for (const auto& [kind, path] : paths)
      svg += "<path class=\"phase b-" + kind + "\" d=\"" + path + "\"/>\n";
    return svg;
  }

  const RunView& view_;
  const Side& side_;
  const Scale &x_, &y_;
  const Speech& speech_;
};

// "peak 17.9 GiB of 78.8 GiB, 18.9 GiB reserved, 381 MiB beside it in CUDA's context".
std::string peak_words(const RunView& view, const Side& side, const Speech& speech) {
  const MemoryHistory& history = side.history;
  const std::string peak = bytes_words(speech, history.peak().allocated);
  const double capacity = capacity_of(view);
  std::string words = capacity > 0
                          ? told(speech, "peak {} of {}", peak, bytes_words(speech, capacity))
                          : told(speech, "peak {}", peak);
  if (history.most_reserved() > 0)
    words += ", " + told(speech, "{} reserved", bytes_words(speech, history.most_reserved()));
  if (const std::int64_t context = view.run->machine ? view.run->machine->host.context_bytes : 0;
      context > 0)
    words += ", " + told(speech, "{} beside it in CUDA's context",
                         bytes_words(speech, static_cast<double>(context)));
  if (side.gpus.size() > 1)
    if (const analysis::MemoryGpu* gpu = analysis::fullest(side.gpus))
      words += "; " + told(speech, "of {}, the fullest of {} GPUs", gpu->name, side.gpus.size());
  if (side.has_more_steps())
    words += "; " + told(speech, "drawn are steps {} to {} of {}, around the peak", side.first_step,
                         side.first_step + kSteps - 1, side.history.steps().size());
  return words;
}

std::string charts_html(const std::vector<RunView>& views, const std::vector<Side>& sides,
                        const Speech& speech) {
  const Scale x{0, static_cast<double>(longest_of(sides)), kLeft, kRight};
  const double highest = highest_of(views, sides);
  std::string svg;
  double top = 0;
  for (const Side& side : sides) {
    const Scale y{0, highest, top + kTitle + kTall, top + kTitle};
    if (views.size() > 1)
      svg += text_svg(12, top + 17, "strong", "start", views[side.run].run->label);
    svg += Chart(views[side.run], side, x, y, speech).svg();
    top += kTitle + kTall + kStrip + 4;
  }
  return drawing_html(kNarrowChart, top + kAxis, speech.say("Memory over time"),
                      time_axis_svg(x, kTitle, top, speech) + svg);
}

// All roles that a side has at its peak, as they are stacked, from the top.
std::vector<std::string> roles_of(const std::vector<Side>& sides) {
  std::vector<std::string> roles;
  for (const Side& side : sides)
    for (std::size_t role = 0; role < side.history.peak().by_role.size(); ++role)
      if (const std::string& name = side.history.roles()[role];
          std::ranges::find(roles, name) == roles.end())
        roles.push_back(name);
  std::vector<std::string> sorted;
  for (const std::size_t at : analysis::stack_order(roles))
    sorted.insert(sorted.begin(), roles[at]);
  return sorted;
}

double at_peak(const Side& side, const std::string& role) {
  const auto& roles = side.history.roles();
  const auto found = std::ranges::find(roles, role);
  const auto at = static_cast<std::size_t>(found - roles.begin());
  const std::vector<double>& bytes = side.history.peak().by_role;
  return at < bytes.size() ? bytes[at] : 0;
}

std::string roles_html(const std::vector<RunView>& views, const std::vector<Side>& sides,
                       const Speech& speech) {
  std::vector<std::size_t> runs;
  for (const Side& side : sides) runs.push_back(side.run);
  std::vector<FigureRow> rows;
  for (const std::string& role : roles_of(sides)) {
    FigureRow row{speech.say(role), {}, "s-r-" + role_class(role)};
    for (const Side& side : sides) row.values.push_back(bytes_words(speech, at_peak(side, role)));
    rows.push_back(std::move(row));
  }
  FigureRow all{speech.say("allocated"), {}};
  for (const Side& side : sides)
    all.values.push_back(bytes_words(speech, side.history.peak().allocated));
  rows.push_back(std::move(all));
  return figures_html(speech.say("At the peak"), heads_of(views, runs), rows);
}

std::string holders_html(const RunView& view, const Side& side, bool several,
                         const Speech& speech) {
  if (side.held.empty()) return "";
  const trace::Trace& trace = *view.run->trace;
  const std::size_t shown = std::min(side.held.size(), kMostHolders);
  std::vector<FigureRow> rows;
  double rest = 0;
  for (std::size_t i = 0; i < side.held.size(); ++i) {
    const MemoryBlock& block = side.held[i];
    const auto bytes = static_cast<double>(block.bytes);
    if (i >= shown) {
      rest += bytes;
      continue;
    }
    const std::string role = block.role == trace::kNone ? "" : trace.name(block.role);
    rows.push_back({block.owner == trace::kNone ? speech.say("a tensor") : trace.name(block.owner),
                    {bytes_words(speech, bytes)},
                    "s-r-" + role_class(role)});
  }
  if (shown < side.held.size())
    rows.push_back(
        {told(speech, "{} smaller ones", side.held.size() - shown), {bytes_words(speech, rest)}});
  return figures_html(speech.say("Largest at the peak"),
                      {several ? view.run->label : std::string()}, rows);
}

}  // namespace

std::string memory_html(const std::vector<RunView>& views, const PageLimits& limits,
                        const Speech& speech) {
  const std::vector<Side> sides = sides_of(views, limits);
  if (sides.empty()) return "";
  std::string words, holders;
  for (const Side& side : sides) {
    words += run_words_html(views, side.run, peak_words(views[side.run], side, speech));
    holders += holders_html(views[side.run], side, views.size() > 1, speech);
  }
  const std::string remark =
      remark_html(speech.say("Areas: what tensors have, stacked as in the table. Line: what the "
                             "allocator holds. Below: what the host is launching."));
  return view_html({"memory", speech.say("Memory"), badges_html(views, speech),
                    "<div class=\"beside\"><div>" + charts_html(views, sides, speech) + words +
                        remark + "<div class=\"pair\">" + holders +
                        "</div></div><div class=\"tables\">" + roles_html(views, sides, speech) +
                        "</div></div>\n"});
}

}  // namespace trainscope::report
