#include "ui/panels/comparison/waterfall.h"

#include <algorithm>
#include <cmath>

#include "analysis/causes/part_category.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {
namespace {

using analysis::Part;
using trace::Category;
using Kind = WaterfallBar::Kind;

// Lengths of the picture, from top to bottom: title, words above bars, bars, words below, note.
struct Frame {
  Box all;
  float top, bottom;  // of the tallest bar
  float bar, gap;     // widths
  double most;

  float y(double value) const { return bottom - (bottom - top) * static_cast<float>(value / most); }
  float x(std::size_t i) const { return all.min.x + static_cast<float>(i) * (bar + gap); }
};

std::string head_of(const WaterfallBar& bar) {
  return bar.kind == Kind::kTotal ? bar.name + "  " + bar.value : bar.name;
}

ImFont* face_of(const Theme& theme, const WaterfallBar& bar) {
  return bar.kind == Kind::kTotal ? theme.font.strong : theme.font.text;
}

float word_room(const Frame& frame) {
  return frame.bar + frame.gap * 0.6F;
}

// On one line, or on two where a blank lets both fit; else what fits of one.
std::vector<std::string> lines_of(const Theme& theme, const Frame& frame, const WaterfallBar& bar) {
  const std::string head = head_of(bar);
  const float room = word_room(frame), size = theme.size.label;
  const auto fits = [&](const std::string& words) {
    return text_size(face_of(theme, bar), size, words).x <= room;
  };
  if (fits(head)) return {head};
  for (std::size_t blank = head.rfind(' '); blank != head.npos && blank > 0;
       blank = head.rfind(' ', blank - 1)) {
    const std::string first = head.substr(0, blank), second = head.substr(blank + 1);
    if (fits(first)) return {first, shortened(face_of(theme, bar), size, second, room)};
  }
  return {shortened(face_of(theme, bar), size, head, room)};
}

Box box_of(const Theme& theme, const Frame& frame, const WaterfallBar& bar, std::size_t i) {
  const float high = frame.y(std::max(bar.from, bar.to));
  const float low = std::max(frame.y(std::min(bar.from, bar.to)), high + theme.px(2));
  return {{frame.x(i), high}, {frame.x(i) + frame.bar, low}};
}

// The words stand above the bar, the value below it; where there is no room, inside a bar that is
// tall enough, else above the words. Heights are of middles.
struct Words {
  std::vector<std::string> lines;
  std::string value;  // none: of a total it is among the lines
  float first = 0;
  float value_y = 0;
  bool inside = false;
  float top = 0;  // of the highest of them
};

Words words_of(const Theme& theme, const Frame& frame, const WaterfallBar& bar, const Box& box) {
  const float size = theme.size.label;
  Words words;
  words.lines = lines_of(theme, frame, bar);
  words.first = box.min.y - size * 0.8F - size * 1.25F * static_cast<float>(words.lines.size() - 1);
  words.top = words.first - size / 2;
  if (bar.kind == Kind::kTotal) return words;
  words.value = shortened(theme.font.mono, size, bar.value, word_room(frame));
  const float below = box.max.y + size * 0.8F;
  const bool under = below + size / 2 < frame.bottom;
  words.inside = !under && box.height() > 2 * size &&
                 text_size(theme.font.mono, size, words.value).x < box.width() - theme.px(12);
  words.value_y = under ? below : words.inside ? box.min.y + size : words.first - size * 1.3F;
  words.top = std::min(words.top, words.value_y - size / 2);
  return words;
}

float title_middle(const Theme& theme, const Frame& frame) {
  return frame.all.min.y + theme.px(11);
}

// Where words above bars take two lines the bars begin lower, and lower still where they would run
// into the title.
void make_room_for_words(const Theme& theme, const std::vector<WaterfallBar>& bars, Frame& frame) {
  const float lowest = frame.bottom - theme.px(20);
  if (std::any_of(bars.begin(), bars.end(),
                  [&](const WaterfallBar& bar) { return lines_of(theme, frame, bar).size() > 1; }))
    frame.top = std::min(frame.top + theme.size.label * 1.25F, lowest);
  const float title_end = title_middle(theme, frame) + theme.size.small * 0.6F;
  for (int i = 0; i < 4; ++i) {  // what moves down may take another place for its value
    float top = frame.bottom;
    for (std::size_t bar = 0; bar < bars.size(); ++bar)
      top = std::min(top,
                     words_of(theme, frame, bars[bar], box_of(theme, frame, bars[bar], bar)).top);
    if (top >= title_end) return;
    frame.top = std::min(frame.top + title_end - top, lowest);
  }
}

Frame frame_of(const Theme& theme, const std::vector<WaterfallBar>& bars) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  Frame frame{};
  frame.all = {at, {at.x + room.x - theme.px(16), at.y + room.y - theme.px(8)}};
  frame.top = at.y + theme.px(46);
  frame.bottom = std::max(frame.all.max.y - theme.px(22), frame.top + theme.px(20));
  const auto count = static_cast<float>(bars.size());
  frame.gap = theme.px(12);
  frame.bar = std::min((frame.all.width() + frame.gap) / count - frame.gap, theme.px(210));
  frame.most = 1;
  for (const WaterfallBar& bar : bars) frame.most = std::max({frame.most, bar.from, bar.to});
  make_room_for_words(theme, bars, frame);
  return frame;
}

// What is read best on the bar.
Color ink_on(const Theme& theme, const CategoryStyle& style) {
  return std::max({style.text, theme.text, theme.panel}, [&](Color a, Color b) {
    return contrast(style.fill, a) < contrast(style.fill, b);
  });
}

void draw_words(const Theme& theme, const Frame& frame, const WaterfallBar& bar, const Box& box,
                Color ink) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.label, x = box.min.x + theme.px(2);
  const Words words = words_of(theme, frame, bar, box);
  float y = words.first;
  for (const std::string& line : words.lines) {
    draw_text_middle(draw, face_of(theme, bar), size, x, y, theme.text, line);
    y += size * 1.25F;
  }
  draw_text_middle(draw, theme.font.mono, size, words.inside ? x + theme.px(4) : x, words.value_y,
                   words.inside ? ink : theme.muted, words.value);
}

void draw_link(const Theme& theme, const Frame& frame, std::size_t i, double value) {
  const float y = std::round(frame.y(value)) + 0.5F;
  draw_dashed_line(ImGui::GetWindowDrawList(), {frame.x(i) + frame.bar, y}, {frame.x(i + 1), y},
                   theme.faint, theme.size.border, theme.px(3), theme.px(3));
}

void draw_bar_of(const Theme& theme, const Frame& frame, const WaterfallBar& bar, std::size_t i) {
  const Box box = box_of(theme, frame, bar, i);
  const bool total = bar.kind == Kind::kTotal;
  const CategoryStyle style = total ? theme.of(Category::kHostWork) : part_style(theme, bar.part);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_solid(draw, theme, box, style);
  draw_words(theme, frame, bar, box, ink_on(theme, style));
}

}  // namespace

CategoryStyle part_style(const Theme& theme, Part part) {
  CategoryStyle style = theme.of(analysis::category_of(part));
  if (style.hatched) style.fill = style.line;
  return style;
}

void draw_waterfall(const Theme& theme, const Comparison& comparison, std::size_t causes) {
  const auto& bars = comparison.waterfall;
  if (bars.empty())
    return text(theme.font.text, theme.size.small, theme.muted, comparison.waterfall_note, true);
  const Frame frame = frame_of(theme, bars);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text_middle(draw, theme.font.strong, theme.size.small, frame.all.min.x,
                   title_middle(theme, frame), theme.text, comparison.waterfall_title);
  const float base = std::round(frame.bottom) + 0.5F;
  const float end = frame.x(bars.size() - 1) + frame.bar;
  draw->AddLine({frame.all.min.x, base}, {end, base}, theme.line, theme.size.border);
  // A's time, and as many causes; B's is the last bar.
  const bool all = causes + 2 >= bars.size() || causes + 2 < causes;
  const std::size_t shown = all ? bars.size() : 1 + causes;
  for (std::size_t i = 0; i < shown; ++i) draw_bar_of(theme, frame, bars[i], i);
  for (std::size_t i = 0; i + 1 < shown; ++i) draw_link(theme, frame, i, bars[i].to);
  draw_text_middle(draw, theme.font.text, theme.size.label, frame.all.min.x,
                   frame.bottom + theme.px(13), theme.faint, comparison.waterfall_note);
  ImGui::Dummy({frame.all.width(), frame.all.height()});
}

}  // namespace trainscope::ui
