#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

float small_width(const Canvas& canvas, std::string_view words) {
  return text_size(canvas.theme->font.text, canvas.theme->size.label, words).x;
}

float strip_middle(const Canvas& canvas, const SideView& view) {
  return view.strip + canvas.theme->size.strip / 2;
}

// What a strip holds from left to right ends here.
float strip_text_end(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  float x = canvas.all.min.x + theme.px(12);
  if (canvas.input->sides.size() > 1) x += theme.px(34);
  if (!side.title.empty())
    x += text_size(theme.font.strong, theme.size.small, side.title).x + theme.px(16);
  return x + text_size(theme.font.mono, theme.size.mono, side.config).x;
}

// A run that is drawn while it goes on says how far it is where its total will stand.
bool is_growing(const TimelineSide& side) {
  return side.trace && !side.progress.empty();
}

float strip_total_start(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  const float width = is_growing(side)
                          ? text_size(theme.font.text, theme.size.small, side.progress).x
                          : text_size(theme.font.strong, theme.size.text, side.total).x;
  return canvas.all.max.x - theme.px(14) - width;
}

// The link to more lanes, before the total.
float strip_more_start(const Canvas& canvas, const SideView& view) {
  const float end = strip_total_start(canvas, view);
  const std::string words = more_words(view);
  return words.empty() ? end : end - canvas.theme->px(18) - small_width(canvas, words);
}

// The badge and the machine stand before these; the machine by its short name, or not at all,
// where a guess or the config needs the room.
struct StripOrigin {
  float left = 0;   // of the first of them; of the total where there is neither
  float badge = 0;  // its width; 0: none, or no room
  std::string words;
};

StripOrigin strip_origin(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  StripOrigin origin;
  const float end = strip_more_start(canvas, view) - (side.total.empty() ? 0 : theme.px(16));
  origin.left = strip_more_start(canvas, view);
  if (side.badge.empty() && side.machine.empty()) return origin;
  float guess = 0;
  for (const Guess& one : side.guesses)
    guess = std::max(guess, small_width(canvas, one.label) + theme.px(44));
  const float room = end - strip_text_end(canvas, view) - theme.px(16) - guess;
  const float badge = side.badge.empty() ? 0 : small_width(canvas, side.badge) + theme.px(16);
  if (badge > room) return origin;
  for (const std::string* words : {&side.machine, &side.machine_short}) {
    const float wanted = badge + theme.px(9) + small_width(canvas, *words);
    if (words->empty() || wanted > room) continue;
    origin.words = *words;
    origin.left = end - wanted;
    origin.badge = badge;
    return origin;
  }
  if (badge > 0) origin.left = end - badge;
  origin.badge = badge;
  return origin;
}

void paint_origin(const Canvas& canvas, const SideView& view, const StripOrigin& origin) {
  const Theme& theme = *canvas.theme;
  const float middle = strip_middle(canvas, view), half = theme.px(9);
  if (origin.badge > 0) {
    canvas.draw->AddRectFilled({origin.left, middle - half},
                               {origin.left + origin.badge, middle + half}, theme.accent_soft,
                               half);
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, origin.left + origin.badge / 2,
                     middle, theme.accent, view.side->badge, 0.5F);
  }
  draw_text_middle(canvas.draw, theme.font.text, theme.size.label,
                   origin.left + origin.badge + theme.px(9), middle, theme.muted, origin.words);
}

// Words in a strip near `x`, kept clear of what else stands there.
float strip_place(const Canvas& canvas, const SideView& view, float x, float width) {
  const float least = strip_text_end(canvas, view) + canvas.theme->px(20);
  const float most = strip_origin(canvas, view).left - canvas.theme->px(20) - width;
  return std::max(least, std::min(x, most));
}

struct Extent {
  float top, bottom;
};

// A lane's place on the screen; all lanes of the side for no lane. Nothing when it is out of sight.
std::optional<Extent> extent_of(const SideView& view, trace::LaneId lane) {
  Extent extent{view.top, view.bottom};
  if (lane != trace::kNone) {
    const auto& lanes = view.layout.lanes;
    const auto box =
        std::find_if(lanes.begin(), lanes.end(), [&](const LaneBox& b) { return b.lane == lane; });
    if (box == lanes.end()) return std::nullopt;
    extent = {view.top + box->y, view.top + box->y + box->height};
  }
  if (!view.in_sight(extent.top, extent.bottom)) return std::nullopt;
  return Extent{std::max(extent.top, view.window), std::min(extent.bottom, view.window_end)};
}

// From the guess up to the strip's lower edge, along it, and to the words in the strip.
void paint_guess_label(const Canvas& canvas, const SideView& view, const Guess& guess,
                       ImVec2 from) {
  const Theme& theme = *canvas.theme;
  const float middle = strip_middle(canvas, view), width = small_width(canvas, guess.label);
  const float x = strip_place(canvas, view, from.x + theme.px(16), width);
  if (x + width > strip_origin(canvas, view).left) return;
  const float edge = view.window - theme.px(1), elbow = x - theme.px(6), thin = theme.px(1.3F);
  canvas.draw->AddLine(from, {from.x, edge}, theme.good, thin);
  canvas.draw->AddLine({from.x, edge}, {elbow, edge}, theme.good, thin);
  canvas.draw->AddLine({elbow, edge}, {elbow, middle}, theme.good, thin);
  draw_text_middle(canvas.draw, theme.font.text, theme.size.label, x, middle, theme.good,
                   guess.label);
}

void paint_guess(const Canvas& canvas, const SideView& view, const Guess& guess) {
  const Theme& theme = *canvas.theme;
  const auto extent = extent_of(view, guess.lane);
  const Nanos start = guess.start + view.side->offset, end = guess.end + view.side->offset;
  if (!extent || end < canvas.view.start || start > canvas.view.end) return;
  const float left = canvas.x(start), right = canvas.x(end);
  const float thick = theme.px(2), dash = theme.px(6), gap = theme.px(4);
  const float top = extent->top - theme.px(1);
  canvas.draw->PushClipRect({canvas.lanes.min.x - thick, view.strip},
                            {canvas.all.max.x, view.window_end}, true);
  if (start == end) {
    draw_dashed_line(canvas.draw, {left, top}, {left, extent->bottom}, theme.good, thick, dash,
                     gap);
  } else {
    draw_dashed_line(canvas.draw, {left, top}, {right, top}, theme.good, thick, dash, gap);
    canvas.draw->AddLine({left, top}, {left, extent->bottom}, theme.good, thick);
    canvas.draw->AddLine({right, top}, {right, extent->bottom}, theme.good, thick);
  }
  paint_guess_label(canvas, view, guess,
                    {std::clamp(right, canvas.lanes.min.x, canvas.lanes.max.x), top});
  canvas.draw->PopClipRect();
}

bool covers_bars(const Canvas& canvas, const SideView& view, const Box& box) {
  const float x = canvas.lanes.min.x, y = view.top;
  return std::any_of(view.layout.bars.begin(), view.layout.bars.end(), [&](const Bar& bar) {
    return x + bar.x < box.max.x && x + bar.x + bar.width > box.min.x && y + bar.y < box.max.y &&
           y + bar.y + bar.height > box.min.y;
  });
}

bool playhead_crosses(const Canvas& canvas, const SideView& view, const Box& box) {
  if (!canvas.input->playhead) return false;
  const Nanos time =
      view.side->playhead ? *view.side->playhead + view.side->offset : *canvas.input->playhead;
  const float x = canvas.x(time);
  return x > box.min.x - canvas.theme->px(2) && x < box.max.x + canvas.theme->px(2);
}

// The place of words beside a vertical line: to its right, or to its left where the right has no
// room. Nothing where the line is out of sight.
std::optional<Box> beside_marker(const Canvas& canvas, const SideView& view, const Marker& marker) {
  const Theme& theme = *canvas.theme;
  const auto extent = extent_of(view, trace::kNone);
  const float x = std::round(canvas.x(marker.time + view.side->offset));
  if (!extent || x < canvas.lanes.min.x || x > canvas.lanes.max.x) return std::nullopt;
  const float size = theme.size.label, pad = theme.px(6), line = size * 1.35F;
  const float title = text_size(theme.font.strong, size, marker.title).x;
  const float width = std::max(title, text_size(theme.font.text, size, marker.text).x);
  const bool right = x + pad + width < canvas.all.max.x - theme.px(4);
  const float left = right ? x + pad : x - pad - width, top = extent->top + theme.px(6);
  const float lines = marker.text.empty() ? 1 : 2;
  return Box{{left - theme.px(4), top},
             {left + width + theme.px(4), top + lines * line + theme.px(4)}};
}

std::string strip_words(const Marker& marker) {
  return marker.text.empty() ? marker.title : marker.title + ", " + marker.text;
}

// In the side's strip, on one line, where that is free; a guess has its words there.
std::optional<Box> in_strip(const Canvas& canvas, const SideView& view, const Marker& marker) {
  if (!view.side->guesses.empty()) return std::nullopt;
  const Theme& theme = *canvas.theme;
  const float width = small_width(canvas, strip_words(marker)) + theme.px(8);
  const float x = canvas.x(marker.time + view.side->offset);
  const float left = strip_place(canvas, view, x - width, width);
  if (left + width > strip_origin(canvas, view).left - theme.px(12)) return std::nullopt;
  const float middle = strip_middle(canvas, view), half = theme.size.label * 0.7F;
  return Box{{left, middle - half}, {left + width, middle + half}};
}

// Beside its line; in the strip where it would hide what the line is about.
std::optional<Box> marker_box(const Canvas& canvas, const SideView& view, const Marker& marker) {
  const auto beside = beside_marker(canvas, view, marker);
  if (!beside || !covers_bars(canvas, view, *beside)) return beside;
  const auto strip = in_strip(canvas, view, marker);
  return strip ? strip : beside;
}

void paint_flag(const Canvas& canvas, const SideView& view, const Marker& marker, const Box& box,
                Color color) {
  const Theme& theme = *canvas.theme;
  const float size = theme.size.label, left = box.min.x + theme.px(4);
  const float top = box.min.y + theme.px(2);
  if (box.max.y <= view.window)
    return draw_text_middle(canvas.draw, theme.font.text, size, left, box.centre().y, color,
                            strip_words(marker));
  // The projector's lane lines are strong enough to strike words through.
  if (covers_bars(canvas, view, box) || playhead_crosses(canvas, view, box) ||
      theme.mode == ThemeMode::kProjector)
    canvas.draw->AddRectFilled(box.min, box.max, faded(theme.panel, 0.95F), theme.px(3));
  draw_text(canvas.draw, theme.font.strong, size, {left, top}, color, marker.title);
  draw_text(canvas.draw, theme.font.text, size, {left, top + size * 1.35F}, color, marker.text);
}

void paint_marker(const Canvas& canvas, const SideView& view, const Marker& marker) {
  const auto box = marker_box(canvas, view, marker);
  if (!box) return;
  const float x = std::round(canvas.x(marker.time + view.side->offset));
  const Extent extent = *extent_of(view, trace::kNone);
  const Color color = marker.bad ? canvas.theme->bad : canvas.theme->good;
  canvas.draw->AddLine({x, extent.top}, {x, extent.bottom}, color, canvas.theme->px(2));
  paint_flag(canvas, view, marker, *box, color);
}

}  // namespace

std::string more_words(const SideView& view) {
  const std::size_t away = view.tuck ? view.tuck->away.size() : 0;
  if (away > 0) return "+" + std::to_string(away) + (away == 1 ? " lane" : " lanes");
  return view.all_lanes && view.scrolls() ? "fewer lanes" : "";
}

Box more_box(const Canvas& canvas, const SideView& view) {
  const float pad = canvas.theme->px(6), left = strip_more_start(canvas, view);
  return {{left - pad, view.strip + canvas.theme->px(2)},
          {left + small_width(canvas, more_words(view)) + pad, view.window - canvas.theme->px(2)}};
}

void paint_strip(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  const float middle = strip_middle(canvas, view), left = canvas.all.min.x;
  const float bottom = view.strip + theme.size.strip;
  canvas.draw->AddRectFilled({left, view.strip}, {canvas.all.max.x, bottom}, theme.head);
  canvas.draw->AddLine({left, bottom - 0.5F}, {canvas.all.max.x, bottom - 0.5F}, theme.line,
                       theme.size.border);
  float x = left + theme.px(12);
  if (canvas.input->sides.size() > 1) {
    const bool solid = view.which == Side::kA;
    x += draw_side_mark(canvas.draw, theme, {x, middle}, solid ? 'A' : 'B', solid) + theme.px(10);
  }
  if (!side.title.empty()) {
    draw_text_middle(canvas.draw, theme.font.strong, theme.size.small, x, middle, theme.text,
                     side.title);
    x += text_size(theme.font.strong, theme.size.small, side.title).x + theme.px(16);
  }
  const float total = strip_total_start(canvas, view);
  const StripOrigin origin = strip_origin(canvas, view);
  paint_origin(canvas, view, origin);
  if (const std::string more = more_words(view); !more.empty())
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, strip_more_start(canvas, view),
                     middle, theme.accent, more);
  const float room = origin.left - x - theme.px(16);
  draw_text_middle(canvas.draw, theme.font.mono, theme.size.mono, x, middle, theme.text,
                   shortened(theme.font.mono, theme.size.mono, side.config, room));
  if (is_growing(side)) {
    draw_text_middle(canvas.draw, theme.font.text, theme.size.small, total, middle, theme.muted,
                     side.progress);
    const float share = std::clamp(side.progress_share, 0.0F, 1.0F);
    canvas.draw->AddRectFilled({left, bottom - theme.px(2)},
                               {left + canvas.all.width() * share, bottom}, theme.accent);
  } else {
    draw_text_middle(canvas.draw, theme.font.strong, theme.size.text, total, middle, theme.text,
                     side.total);
  }
}

void paint_guesses(const Canvas& canvas, const SideView& view) {
  for (const Guess& guess : view.side->guesses) paint_guess(canvas, view, guess);
}

void paint_markers(const Canvas& canvas, const SideView& view) {
  for (const Marker& marker : view.side->markers) paint_marker(canvas, view, marker);
}

void take_places(Canvas& canvas) {
  for (SideView& view : canvas.sides) {
    if (!is_ready(*view.side)) continue;
    for (const Marker& marker : view.side->markers)
      if (const auto box = marker_box(canvas, view, marker)) view.taken.push_back(*box);
    for (const NoteFlag& flag : view.flags) view.taken.push_back(flag_box(canvas, view, flag));
  }
}

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
  while (small_width(canvas, whole()) > room) {
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
  const bool to_right = small_width(canvas, input.playhead_text) <= right || right >= left;
  Words words;
  words.text = brief(canvas, input.playhead_text, std::max(to_right ? right : left, 0.0F));
  const float width = small_width(canvas, words.text), middle = canvas.axis.max.y - theme.px(13);
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

// The line leaves out a strip where it would cross its words.
void paint_playhead_line(const Canvas& canvas, Nanos time, float top, float bottom) {
  if (!in_sight(canvas, time)) return;
  const Theme& theme = *canvas.theme;
  const float x = std::round(canvas.x(time)), wing = theme.px(6), margin = theme.px(4);
  float from = top;
  for (const SideView& view : canvas.sides) {
    const bool clear =
        x > strip_text_end(canvas, view) + margin && x < strip_origin(canvas, view).left - margin;
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
