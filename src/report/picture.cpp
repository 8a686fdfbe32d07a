#include "report/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/ticks.h"
#include "report/chart.h"
#include "report/escape.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

// In units of the drawing.
constexpr double kGutter = 170;
constexpr double kMargin = 20;  // right of the range
constexpr double kAxis = 24;
constexpr double kStrip = 28;
constexpr double kLane = 30;
constexpr double kRow = 15;      // of several
constexpr double kLine = 14;     // of text
constexpr double kLetter = 6.6;  // a wide estimate of one letter's width
constexpr double kNote = 15;     // the height of a note's number
constexpr std::size_t kRows = 4;
constexpr double kLeastBar = 2;
constexpr double kTorn = 5;  // how deep the ragged end of a wait is that never ends

struct Range {
  Nanos start = 0;
  Nanos end = 1;
  double right = 0;  // in the drawing
  // Times beyond it stand at its edges.
  double x(Nanos time) const {
    const double share = static_cast<double>(time - start) / static_cast<double>(end - start);
    return kGutter + std::clamp(share, 0.0, 1.0) * (right - kGutter);
  }
  bool shows(Nanos from, Nanos to) const { return to >= start && from <= end; }
};

Nanos offset_of(const PictureView& picture, std::size_t run) {
  return run < picture.offsets.size() ? picture.offsets[run] : 0;
}

Range range_of(const std::vector<RunView>& views, const PictureView& picture) {
  const double right = picture.width - kMargin;
  if (picture.end > picture.start) return {picture.start, picture.end, right};
  Range range;
  range.right = right;
  bool first = true;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].index.span_count == 0) continue;
    const Nanos start = views[i].index.start + offset_of(picture, i);
    const Nanos end = views[i].index.end + offset_of(picture, i);
    range.start = first ? start : std::min(range.start, start);
    range.end = first ? end : std::max(range.end, end);
    first = false;
  }
  range.end = std::max(range.end, range.start + 1);
  return range;
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
  }));
}

// Lines of at most `most` letters, broken at spaces where there are any; three at the most, and
// the last of them is cut when that is not enough.
std::vector<std::string> wrapped(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  while (lines.size() < 3 && !text.empty()) {
    if (letters(text) <= most) {
      lines.emplace_back(text);
      return lines;
    }
    std::size_t end = 0;
    for (std::size_t count = 0; end < text.size(); ++end)
      if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++count > most) break;
    const std::size_t space = text.substr(0, end).rfind(' ');
    if (space != text.npos && space > 0) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), text[end] == ' ' ? end + 1 : end));
  }
  if (!text.empty() && !lines.empty()) lines.back() += "...";
  return lines;
}

// The least of 1, 2, 5, 10, ... times a power of ten that gives at most ten ticks.
Nanos tick_of(const Range& range) {
  for (Nanos decade = 1; decade < INT64_MAX / 100; decade *= 10)
    for (const Nanos factor : {1, 2, 5})
      if (decade * factor >= (range.end - range.start) / 10) return decade * factor;
  return range.end - range.start;
}

bool is_hatched(trace::Category category) {
  return category == trace::Category::kHeld || category == trace::Category::kSync;
}

// A lane of samples alone: the drawing has no curves, and would leave it blank.
bool only_counts(const RunView& view, const LaneBars& lane) {
  const trace::LaneKind kind = view.run->trace->lanes()[lane.lane].kind;
  return lane.rows.empty() &&
         (kind == trace::LaneKind::kMemory || kind == trace::LaneKind::kCounter);
}

// "2.4 ms in all"; of a run whose ranks wait for ever there is no whole time.
std::string whole_time(const RunView& view, const Speech& speech) {
  const auto& why = view.run->ending;
  if (why && std::holds_alternative<sim::Deadlock>(*why)) return speech.say("never ends");
  return told(speech, "{} in all",
              time_words(speech, static_cast<double>(view.index.end - view.index.start)));
}

// Open to the right, where it goes on: M x y h width, four teeth, back, z.
std::string torn_path(double x, double y, double width, double height) {
  const double deep = std::min(kTorn, width / 2), tooth = height / 4;
  return fmt::format(
      "M{0:.1f} {1:.1f}h{2:.1f}l-{3:.1f} {4:.1f}l{3:.1f} {4:.1f}l-{3:.1f} {4:.1f}l{3:.1f} "
      "{4:.1f}h-{2:.1f}z",
      x, y, width, deep, tooth);
}

// With its heading where another lane has the same name: "GPU 1, stream 7".
std::string lane_name(const trace::Trace& trace, const Bars& bars, trace::LaneId id,
                      const Speech& speech) {
  const trace::Lane& lane = trace.lanes()[id];
  const auto alike = std::ranges::count_if(
      bars.lanes, [&](const LaneBars& one) { return trace.lanes()[one.lane].name == lane.name; });
  const std::string name = speech.say_name(lane.name);
  return alike > 1 && !lane.group.empty() ? speech.say_name(lane.group) + ", " + name : name;
}

class Picture {
 public:
  Picture(const std::vector<RunView>& views, const PictureView& picture, const Speech& speech)
      : views_(views), picture_(picture), speech_(speech), range_(range_of(views, picture)) {}

  Drawing drawing() {
    y_ = kAxis;
    for (std::size_t i = 0; i < views_.size(); ++i) add_run(i);
    const std::string axis = axis_svg();
    return {picture_.width, y_ + 4, patterns() + grounds_ + axis + bars_ + texts_, notes_};
  }

 private:
  static std::string patterns() {
    std::string out = "<defs>";
    for (const char* kind : {"held", "synchronisation", "idle"})
      out += fmt::format(
          "<pattern id=\"hatch-{0}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"f-{0}\"/>"
          "<rect width=\"1.4\" height=\"6\" class=\"h-{0}\"/></pattern>",
          kind);
    return out + "</defs>\n";
  }

  void text(double x, double y, std::string_view words, const char* kind) {
    fmt::format_to(std::back_inserter(texts_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind,
                   html_text(words));
  }

  // Under words on a hatched bar, whose lines would run through them.
  void plate(double x, double y, std::size_t count, const std::string& kind) {
    fmt::format_to(std::back_inserter(texts_),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\" rx=\"2\" "
                   "class=\"{}\"/>\n",
                   x, y - 10.5, static_cast<double>(count) * kLetter + 4, kind);
  }

  void ground(double y, double height, const char* kind) {
    fmt::format_to(std::back_inserter(grounds_),
                   "<rect x=\"0\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" class=\"{}\"/>\n", y,
                   picture_.width, height, kind);
  }

  void add_run(std::size_t i) {
    const RunView& view = views_[i];
    offset_ = offset_of(picture_, i);
    if (i > 0) notes_before_ += views_[i - 1].run->notes.size();
    if (views_.size() > 1) {
      ground(y_, kStrip, "strip");
      text(12, y_ + 18, view.run->label, "strong");
      if (picture_.told) text(kGutter, y_ + 18, whole_time(view, speech_), "plain");
      y_ += kStrip;
    }
    const auto cell = static_cast<Nanos>(static_cast<double>(range_.end - range_.start) *
                                         kLeastBar / (range_.right - kGutter));
    Bars bars = fold(*view.run->trace, view.index, std::max<Nanos>(cell, 1), kRows);
    std::erase_if(bars.lanes, [&](const LaneBars& lane) { return only_counts(view, lane); });
    if (i < picture_.hidden.size())
      std::erase_if(bars.lanes, [&](const LaneBars& lane) {
        return std::find(picture_.hidden[i].begin(), picture_.hidden[i].end(), lane.lane) !=
               picture_.hidden[i].end();
      });
    if (bars.lanes.empty()) {
      text(kGutter, y_ + 19, speech_.say("There is nothing in this trace."), "plain");
      y_ += kLane;
    }
    for (std::size_t lane = 0; lane < bars.lanes.size(); ++lane)
      add_lane(view, bars.lanes[lane],
               lane_name(*view.run->trace, bars, bars.lanes[lane].lane, speech_), lane % 2 == 1);
    y_ += 8;
  }

  void add_lane(const RunView& view, const LaneBars& lane, const std::string& words, bool odd) {
    const trace::Trace& trace = *view.run->trace;
    const auto name = wrapped(words, static_cast<std::size_t>((kGutter - 20) / kLetter));
    const auto rows = static_cast<double>(lane.rows.size());
    const double row = lane.rows.size() > 1 ? kRow : kLane;
    const double bars = std::max(rows, 1.0) * row + (lane.rows.size() > 1 ? 4 : 0);
    const double room = std::max(bars, kLine * static_cast<double>(name.size()) + 6);
    const bool noted = std::ranges::any_of(
        view.run->notes, [&](const analysis::RunNote& note) { return shows(note, lane); });
    const double notes = noted ? kNote + 2 : 0;  // above the bars: a number covers none of them
    const double height = notes + room;
    if (odd) ground(y_, height, "lane");
    const double first = y_ + (height - kLine * static_cast<double>(name.size())) / 2 + 11;
    for (std::size_t i = 0; i < name.size(); ++i)
      text(12, first + kLine * static_cast<double>(i), name[i], "plain");
    const double inset = lane.rows.size() > 1 ? 0.5 : 2;
    const double top = y_ + notes;
    add_gaps(view, lane, top + 2, row - 4);  // beneath the bars: staging lies within a copy
    for (std::size_t i = 0; i < lane.rows.size(); ++i)
      add_row(trace, lane.rows[i],
              top + (room - bars) / 2 + (lane.rows.size() > 1 ? 2 : 0) +
                  row * static_cast<double>(i) + inset,
              row - 2 * inset);
    add_notes(view, lane, words);
    y_ += height;
  }

  bool shows(const analysis::RunNote& note, const LaneBars& lane) const {
    return note.lane == lane.lane && range_.shows(note.start + offset_, note.end + offset_);
  }

  // A line over each note's range, with the number that it has in the list of all.
  void add_notes(const RunView& view, const LaneBars& lane, const std::string& words) {
    const auto& notes = view.run->notes;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      const analysis::RunNote& note = notes[i];
      if (!shows(note, lane)) continue;
      const std::string number = std::to_string(notes_before_ + i + 1);
      const double x = range_.x(note.start + offset_);
      const double pill = static_cast<double>(number.size()) * kLetter + 8;
      fmt::format_to(std::back_inserter(texts_),
                     "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"3\" "
                     "class=\"note\"/><rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{3:.1f}\" "
                     "height=\"{4}\" rx=\"3\" class=\"note\"/>\n",
                     x, y_ + 1, std::max(range_.x(note.end + offset_) - x, 1.0), pill, kNote);
      text(x + 4, y_ + 13, number, "note-number");
      const std::string run = views_.size() > 1 ? view.run->label + ", " : std::string();
      notes_.push_back(number + "  " + run + words + ": " + note.text);
    }
  }

  // One path a category: many bars in few bytes.
  void add_row(const trace::Trace& trace, const BarRow& row, double y, double height) {
    std::map<trace::Category, std::string> paths;
    for (const Bar& bar : row) {
      const bool endless = is_endless(trace, bar);
      const Nanos start = bar.start + offset_;
      const Nanos end = endless ? std::max(start, range_.end) : bar.end + offset_;
      if (!range_.shows(start, end)) continue;
      const double x = range_.x(start);
      const double width = std::max(range_.x(end) - x - (bar.count > 1 ? 0.0 : 0.5), 0.6);
      paths[bar.category] += endless ? torn_path(x, y, width, height)
                                     : fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x, y,
                                                   width, height, -width);
      if (bar.count == 1) add_label(trace, bar, x, width, y + height / 2 + 4);
    }
    for (const auto& [category, path] : paths)
      bars_ +=
          fmt::format("<path class=\"b-{}\" d=\"{}\"/>\n", slug(trace::name_of(category)), path);
  }

  void add_label(const trace::Trace& trace, const Bar& bar, double x, double width, double y) {
    const trace::Span& span = trace.spans()[bar.first];
    const std::string full = label_of(trace, span, speech_);
    const bool endless = is_endless(trace, bar);
    const double room = width - 8 - (endless ? kTorn : 0);
    const std::string never = speech_.say("never ends");
    const std::string longer = endless ? full + ", " + never : full;
    for (const std::string& label : {longer, endless ? never : short_name(full)}) {
      if (static_cast<double>(letters(label)) * kLetter > room) continue;
      const std::string kind = slug(trace::name_of(bar.category));
      if (is_hatched(bar.category)) plate(x + 2, y, letters(label), "f-" + kind);
      text(x + 4, y, label, ("t-" + kind).c_str());
      return;
    }
  }

  // Where the first bar within a gap begins; the gap's end where there is none.
  static Nanos first_bar_in(const analysis::IdleGap& gap, const LaneBars& lane) {
    if (lane.rows.empty()) return gap.end;
    const auto after = std::ranges::upper_bound(lane.rows[0], gap.start, {}, &Bar::end);
    return after == lane.rows[0].end() ? gap.end : std::clamp(after->start, gap.start, gap.end);
  }

  void add_gaps(const RunView& view, const LaneBars& lane, double y, double height) {
    for (const analysis::IdleGap& gap : view.gaps) {
      if (gap.lane != lane.lane) continue;
      const double x = range_.x(gap.start + offset_);
      const double width = range_.x(gap.end + offset_) - x - 0.5;
      if (width < 3) continue;
      bars_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"b-idle\"/>\n",
          x, y, width, height);
      if (!picture_.told) continue;
      const double room = range_.x(first_bar_in(gap, lane) + offset_) - x - 8;
      const std::string label = gap_label(gap, speech_);
      for (const std::string& words : {label, label.substr(0, label.find(':'))}) {
        if (static_cast<double>(letters(words)) * kLetter > room) continue;
        text(x + 5, y + height / 2 + 4, words, "halo");
        break;
      }
    }
  }

  std::string axis_svg() const {
    std::string out;
    const Nanos tick = tick_of(range_);
    const Nanos first = range_.start - range_.start % tick;
    for (Nanos time = first; time <= range_.end; time += tick) {
      if (time < range_.start) continue;
      out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/>", range_.x(time),
                         kAxis - 4, y_);
      // The last label has no room to the right of its tick.
      if (range_.x(time) < range_.right - 40)
        out +=
            fmt::format("<text x=\"{:.1f}\" y=\"14\" class=\"axis\">{}</text>\n",
                        range_.x(time) + 2, speech_.number(format_tick(static_cast<double>(time))));
    }
    return out;
  }

  const std::vector<RunView>& views_;
  const PictureView& picture_;
  const Speech& speech_;
  Range range_;
  Nanos offset_ = 0;              // of the run being drawn
  std::size_t notes_before_ = 0;  // of the runs before it
  std::vector<std::string> notes_;
  double y_ = 0;
  std::string grounds_, bars_, texts_;
};

}  // namespace

Drawing drawn_timelines(const std::vector<RunView>& views, const PictureView& view,
                        const Speech& speech) {
  return Picture(views, view, speech).drawing();
}

std::string picture_svg(const std::vector<RunView>& views, const Speech& speech,
                        const PictureView& picture) {
  if (views.empty())
    return "<p class=\"muted\">" + html_text(speech.say("There is nothing to draw.")) + "</p>";
  const Drawing drawing = drawn_timelines(views, picture, speech);
  std::string labels;
  for (const RunView& view : views)
    labels += (labels.empty() ? "" : " " + speech.say("and") + " ") + view.run->label;
  return fmt::format(
      "<svg class=\"drawn\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>",
      drawing.width, drawing.height, html_text(told(speech, "Timelines of {}", labels)),
      drawing.body);
}

}  // namespace trainscope::report
