#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {

void paint_range(const Canvas& canvas, const TimeRange& range) {
  const Theme& theme = *canvas.theme;
  const float left = std::clamp(canvas.x(range.start), canvas.lanes.min.x, canvas.lanes.max.x);
  const float right = std::clamp(canvas.x(range.end), canvas.lanes.min.x, canvas.lanes.max.x);
  if (right <= left) return;
  const float top = canvas.body.min.y, bottom = canvas.body.max.y;
  canvas.draw->AddRectFilled({left, top}, {right, bottom}, faded(theme.accent, 0.10F));
  for (const float x : {left, right})
    canvas.draw->AddLine({x, top}, {x, bottom}, faded(theme.accent, 0.7F), theme.px(1));
}

namespace {

// The playhead's words and where they stand.
struct Words {
  std::string text;
  Box box;
};

bool in_sight(const Canvas& canvas, Nanos time) {
  const float x = canvas.x(time);
  return x >= canvas.lanes.min.x - 1 && x <= canvas.lanes.max.x + 1;
}

// "A: step 1, forward    B: step 2, copy" without as many of its last parts as must go, the side
// that says more first; what is left is shortened.
std::string brief(const Canvas& canvas, const std::string& text, float room) {
  constexpr std::string_view kBetween = "    ";
  const std::size_t second = text.find(kBetween);
  std::string a = text.substr(0, second), b = second == text.npos ? "" : text.substr(second + 4);
  const auto whole = [&] { return b.empty() ? a : a + std::string(kBetween) + b; };
  while (label_width(canvas, whole()) > room) {
    std::string& longer = b.size() > a.size() ? b : a;
    const std::size_t comma = longer.rfind(", ");
    if (comma == longer.npos) break;
    longer.resize(comma);
  }
  return shortened(canvas.theme->font.text, canvas.theme->size.label, whole(), room);
}

// To the right of the line, or to its left where there is more room; never out of the window.
std::optional<Words> playhead_words(const Canvas& canvas) {
  const TimelineInput& input = *canvas.input;
  if (!input.playhead || !in_sight(canvas, *input.playhead) || input.playhead_text.empty())
    return std::nullopt;
  const Theme& theme = *canvas.theme;
  const float x = std::round(canvas.x(*input.playhead)), pad = theme.px(10), edge = theme.px(4);
  const float right = canvas.all.max.x - edge - (x + pad), left = x - pad - canvas.all.min.x - edge;
  const bool to_right = label_width(canvas, input.playhead_text) <= right || right >= left;
  Words words;
  words.text = brief(canvas, input.playhead_text, std::max(to_right ? right : left, 0.0F));
  const float width = label_width(canvas, words.text), middle = canvas.axis.max.y - theme.px(13);
  const float start = to_right ? x + pad : x - pad - width;
  words.box = {{start, middle - theme.size.label / 2},
               {start + width, middle + theme.size.label / 2}};
  return words;
}

bool overlaps(const Box& a, const Box& b, float margin) {
  return a.min.x < b.max.x + margin && a.max.x > b.min.x - margin && a.min.y < b.max.y &&
         a.max.y > b.min.y;
}

struct RangePill {
  std::string words;
  Box box;
};

// The measured range's length stands below the ticks' labels; among them where the playhead's words
// are in its way.
std::optional<RangePill> range_pill(const Canvas& canvas, const TimeRange& range) {
  const Theme& theme = *canvas.theme;
  const float left = std::clamp(canvas.x(range.start), canvas.lanes.min.x, canvas.lanes.max.x);
  const float right = std::clamp(canvas.x(range.end), canvas.lanes.min.x, canvas.lanes.max.x);
  if (right <= left) return std::nullopt;
  RangePill pill;
  pill.words = format_nanos(static_cast<double>(range.end - range.start));
  const float width = text_size(theme.font.mono, theme.size.label, pill.words).x + theme.px(14);
  const float height = theme.px(19);
  const float x = std::clamp((left + right) / 2, canvas.lanes.min.x + width / 2,
                             canvas.lanes.max.x - width / 2);
  const auto at = [&](float middle) {
    pill.box = {{x - width / 2, middle - height / 2}, {x + width / 2, middle + height / 2}};
  };
  at(canvas.axis.max.y - height / 2 - theme.px(1));
  const auto words = playhead_words(canvas);
  if (words && overlaps(pill.box, words->box, theme.px(6))) at(canvas.axis.min.y + theme.px(10));
  return pill;
}

}  // namespace

void paint_range_length(const Canvas& canvas, const TimeRange& range) {
  const auto pill = range_pill(canvas, range);
  if (!pill) return;
  const Theme& theme = *canvas.theme;
  canvas.draw->AddRectFilled(pill->box.min, pill->box.max, theme.accent, pill->box.height() / 2);
  draw_text_middle(canvas.draw, theme.font.mono, theme.size.label, pill->box.centre().x,
                   pill->box.centre().y, theme.accent_text, pill->words, 0.5F);
}

namespace {

// Words of a guess or a marker in the strip.
bool crosses_marks(const SideView& view, float x, float margin) {
  const auto crosses = [&](const std::optional<MarkWords>& placed) {
    return placed && placed->in_strip && x > placed->box.min.x - margin &&
           x < placed->box.max.x + margin;
  };
  return std::ranges::any_of(view.guess_words, crosses) ||
         std::ranges::any_of(view.marker_words, crosses);
}

// The line leaves out a strip where it would cross its words.
void paint_playhead_line(const Canvas& canvas, Nanos time, float top, float bottom) {
  if (!in_sight(canvas, time)) return;
  const Theme& theme = *canvas.theme;
  const float x = std::round(canvas.x(time)), wing = theme.px(6), margin = theme.px(4);
  float from = top;
  for (const SideView& view : canvas.sides) {
    const StripGap gap = strip_gap(canvas, view);
    const bool clear = x > std::min(gap.left, view.marks_left) + margin && x < gap.right - margin &&
                       !crosses_marks(view, x, margin);
    if (clear || view.strip < from || view.strip > bottom) continue;
    canvas.draw->AddLine({x, from}, {x, view.strip}, theme.accent, theme.px(2));
    from = view.strip + theme.size.strip;
  }
  canvas.draw->AddLine({x, from}, {x, bottom}, theme.accent, theme.px(2));
  canvas.draw->AddTriangleFilled({x - wing, top}, {x + wing, top}, {x, top + theme.px(9)},
                                 theme.accent);
}

}  // namespace

void paint_playhead(const Canvas& canvas) {
  if (!canvas.input->playhead) return;
  const Theme& theme = *canvas.theme;
  const float top = canvas.axis.max.y - theme.px(21);
  bool own_lines = false;
  for (std::size_t i = 0; i < canvas.sides.size(); ++i) {
    const SideView& view = canvas.sides[i];
    if (!view.side->playhead) continue;
    own_lines = true;
    const float bottom =
        i + 1 < canvas.sides.size() ? canvas.sides[i + 1].strip : canvas.body.max.y;
    paint_playhead_line(canvas, *view.side->playhead + view.side->offset,
                        i == 0 ? top : view.window, bottom);
  }
  if (!own_lines) paint_playhead_line(canvas, *canvas.input->playhead, top, canvas.body.max.y);
  if (const auto words = playhead_words(canvas))
    draw_text(canvas.draw, theme.font.text, theme.size.label, words->box.min, theme.accent,
              words->text);
}

void paint_axis(const Canvas& canvas, const std::optional<TimeRange>& range) {
  const Theme& theme = *canvas.theme;
  const Box& axis = canvas.axis;
  canvas.draw->AddRectFilled(axis.min, axis.max, theme.panel);
  const auto words = playhead_words(canvas);
  const auto pill = range ? range_pill(canvas, *range) : std::nullopt;
  const float middle = axis.min.y + theme.px(10);
  for (const Tick& tick : canvas.ticks) {
    const float x = std::round(canvas.lanes.min.x + tick.x) + 0.5F;
    const float length = theme.px(tick.major ? 6 : 4), bottom = axis.max.y - theme.px(3);
    const Box mark{{x, bottom - length}, {x, bottom}};
    if (!words || !overlaps(mark, words->box, theme.px(4)))
      canvas.draw->AddLine(mark.min, mark.max, theme.faint, 1);
    if (!tick.major) continue;
    const float width = text_size(theme.font.mono, theme.size.mono, tick.label).x;
    if (x + width / 2 > axis.max.x - theme.px(2)) continue;
    const Box label{{x - width / 2, middle - theme.size.mono / 2},
                    {x + width / 2, middle + theme.size.mono / 2}};
    if (pill && overlaps(label, pill->box, theme.px(4))) continue;
    draw_text_middle(canvas.draw, theme.font.mono, theme.size.mono, x, middle, theme.faint,
                     tick.label, 0.5F);
  }
}

namespace {

void paint_empty_lanes(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const auto& names = view.side->lane_names;
  const float left = canvas.all.min.x, right = canvas.all.max.x;
  const float height =
      (view.bottom - view.top) / static_cast<float>(std::max<std::size_t>(names.size(), 1));
  float y = view.top;
  for (std::size_t i = 0; i < names.size(); ++i, y += height) {
    if (i % 2 == 0) canvas.draw->AddRectFilled({left, y}, {right, y + height}, theme.lane_tone);
    canvas.draw->AddLine({left, y + height - 0.5F}, {right, y + height - 0.5F}, theme.line,
                         theme.size.border);
    draw_text_middle(canvas.draw, theme.font.text, theme.size.small, left + theme.px(12),
                     y + height / 2, theme.muted,
                     shortened(theme.font.text, theme.size.small, names[i],
                               canvas.lanes.min.x - left - theme.px(20)));
  }
}

// A line of text in the middle of the lanes; under it how far the run is.
void paint_notice(const Canvas& canvas, ImVec2 middle, const std::string& words, bool busy,
                  float share) {
  const Theme& theme = *canvas.theme;
  const std::string shown =
      shortened(theme.font.text, theme.size.text, words, canvas.lanes.width() - theme.px(40));
  const float width = text_size(theme.font.text, theme.size.text, shown).x;
  const float half = width / 2 + theme.px(18), tall = theme.px(busy ? 27 : 20);
  const Box box{{middle.x - half, middle.y - tall}, {middle.x + half, middle.y + tall}};
  canvas.draw->AddRectFilled(box.min, box.max, theme.panel, theme.size.corner);
  canvas.draw->AddRect(box.min, box.max, theme.line, theme.size.corner, theme.size.border);
  draw_text_middle(canvas.draw, theme.font.text, theme.size.text, middle.x,
                   middle.y - (busy ? theme.px(7) : 0), theme.muted, shown, 0.5F);
  if (!busy) return;
  const float left = middle.x - width / 2, y = middle.y + theme.px(12), thick = theme.px(3);
  canvas.draw->AddRectFilled({left, y}, {left + width, y + thick}, theme.line, thick / 2);
  const float done = width * std::clamp(share, 0.0F, 1.0F);
  if (done > thick)
    canvas.draw->AddRectFilled({left, y}, {left + done, y + thick}, theme.accent, thick / 2);
}

}  // namespace

void paint_empty(const Canvas& canvas, const SideView& view) {
  const TimelineSide& side = *view.side;
  const bool busy = !side.progress.empty();
  // Said once, even where both sides are empty.
  const bool said = view.which == Side::kB && !canvas.input->sides[0].trace;
  const std::string words = busy ? side.progress : said ? std::string() : canvas.input->empty_text;
  canvas.draw->PushClipRect({canvas.all.min.x, view.window}, {canvas.all.max.x, view.window_end},
                            true);
  paint_empty_lanes(canvas, view);
  if (!words.empty())
    paint_notice(canvas, {canvas.lanes.centre().x, (view.window + view.shown_end()) / 2}, words,
                 busy, side.progress_share);
  canvas.draw->PopClipRect();
}

}  // namespace trainscope::ui
