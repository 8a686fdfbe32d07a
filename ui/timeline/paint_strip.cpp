#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

float strip_middle(const Canvas& canvas, const SideView& view) {
  return view.strip + canvas.theme->size.strip / 2;
}

float config_start(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  float x = canvas.all.min.x + theme.px(12);
  if (canvas.input->sides.size() > 1) x += theme.px(34);
  if (!side.title.empty())
    x += text_size(theme.font.strong, theme.size.small, side.title).x + theme.px(16);
  return x;
}

float config_width(const Canvas& canvas, const SideView& view) {
  return text_size(canvas.theme->font.mono, canvas.theme->size.mono, view.side->config).x;
}

// What a strip holds from left to right ends here.
float strip_text_end(const Canvas& canvas, const SideView& view) {
  return config_start(canvas, view) + config_width(canvas, view);
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
  return words.empty() ? end : end - canvas.theme->px(18) - label_width(canvas, words);
}

std::string strip_words(const Marker& marker) {
  return marker.text.empty() ? marker.title : marker.title + ", " + marker.text;
}

float guess_width(const Canvas& canvas, const TimelineSide& side) {
  float widest = 0;
  for (const Guess& one : side.guesses)
    widest = std::max(widest, label_width(canvas, one.label) + canvas.theme->px(44));
  return widest;
}

// Of markers whose words may come into the strip; they do not where a guess has its own there.
float marker_width(const Canvas& canvas, const TimelineSide& side) {
  float widest = 0;
  if (side.guesses.empty())
    for (const Marker& one : side.markers)
      widest = std::max(widest, label_width(canvas, strip_words(one)) + canvas.theme->px(40));
  return widest;
}

// Where a run comes from stands before these: the badge, the machine, its detail, what was dropped.
struct StripOrigin {
  float left = 0;   // of the first of them; of the total where there is none
  float end = 0;    // of the last
  float badge = 0;  // its width; 0: none, or no room
  std::string machine, detail, dropped;
};

constexpr float kAfterBadge = 9, kApart = 14;  // before words

// The machine by its short name, or not at all, where the room is needed; returns what it takes.
float take_machine(const Canvas& canvas, const TimelineSide& side, float room,
                   StripOrigin& origin) {
  const Theme& theme = *canvas.theme;
  const float badge = side.badge.empty() ? 0 : label_width(canvas, side.badge) + theme.px(16);
  if (badge > room) return 0;
  origin.badge = badge;
  for (const std::string* words : {&side.machine, &side.machine_short}) {
    const float wanted = badge + theme.px(kAfterBadge) + label_width(canvas, *words);
    if (words->empty() || wanted > room) continue;
    origin.machine = *words;
    return wanted;
  }
  return badge;
}

// It goes before all but the first words of the config, which is cut for it.
float take_dropped(const Canvas& canvas, const TimelineSide& side, float room,
                   StripOrigin& origin) {
  const float wanted = canvas.theme->px(kApart) + label_width(canvas, side.dropped);
  if (side.dropped.empty() || wanted > room) return 0;
  origin.dropped = side.dropped;
  return wanted;
}

// Cut where there is little room; not where hardly a word would be left.
float take_detail(const Canvas& canvas, const TimelineSide& side, float room, StripOrigin& origin) {
  const Theme& theme = *canvas.theme;
  room -= theme.px(kApart);
  const bool fits = label_width(canvas, side.detail) <= room;
  if (side.detail.empty() || (!fits && room < theme.px(120))) return 0;
  origin.detail = shortened_parts(theme.font.text, theme.size.label, side.detail, room);
  return theme.px(kApart) + label_width(canvas, origin.detail);
}

// A guess, the config and the words of a marker come first.
StripOrigin strip_origin(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const TimelineSide& side = *view.side;
  StripOrigin origin;
  const float next = strip_more_start(canvas, view);
  const bool is_last = side.total.empty() && !is_growing(side) && more_words(view).empty();
  origin.end = next - (is_last ? 0 : theme.px(16));
  const float room =
      origin.end - config_start(canvas, view) - theme.px(16) - guess_width(canvas, side);
  const float config = config_width(canvas, view);
  float taken = take_dropped(canvas, side, room - std::min(config, theme.px(120)), origin);
  taken += take_machine(canvas, side, room - config - taken, origin);
  taken += take_detail(canvas, side, room - config - taken - marker_width(canvas, side), origin);
  origin.left = taken > 0 ? origin.end - taken : next;
  return origin;
}

void paint_origin(const Canvas& canvas, const SideView& view, const StripOrigin& origin) {
  const Theme& theme = *canvas.theme;
  const float middle = strip_middle(canvas, view), half = theme.px(9);
  if (origin.badge > 0) {
    const Color color = theme.of_origin(view.side->origin);
    canvas.draw->AddRectFilled({origin.left, middle - half},
                               {origin.left + origin.badge, middle + half}, theme.tint(color),
                               half);
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, origin.left + origin.badge / 2,
                     middle, color, view.side->badge, 0.5F);
  }
  float x = origin.left + origin.badge;
  const auto paint = [&](const std::string& words, float apart, Color color) {
    if (words.empty()) return;
    x += theme.px(apart);
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, x, middle, color, words);
    x += label_width(canvas, words);
  };
  paint(origin.machine, kAfterBadge, theme.muted);
  paint(origin.detail, kApart, theme.muted);
  paint(origin.dropped, kApart, theme.warn);
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
  const float middle = strip_middle(canvas, view), width = label_width(canvas, guess.label);
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
  const float thick = theme.px(2), dash = theme.px(6), gap = theme.px(4);
  // No dashes where nobody sees them: close by, a stretch is long.
  const float left = std::max(canvas.x(start), canvas.all.min.x - dash);
  const float right = std::min(canvas.x(end), canvas.all.max.x + dash);
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

bool covers_scale(const Canvas& canvas, const SideView& view, const Box& box) {
  return std::ranges::any_of(view.layout.curves, [&](const Curve& curve) {
    const Box scale = scale_box(canvas, view, curve);
    return scale.min.x < box.max.x && scale.max.x > box.min.x && scale.min.y < box.max.y &&
           scale.max.y > box.min.y;
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

// In the side's strip, on one line, where that is free; a guess has its words there.
std::optional<Box> in_strip(const Canvas& canvas, const SideView& view, const Marker& marker) {
  if (!view.side->guesses.empty()) return std::nullopt;
  const Theme& theme = *canvas.theme;
  const float width = label_width(canvas, strip_words(marker)) + theme.px(8);
  const float x = canvas.x(marker.time + view.side->offset);
  const float left = strip_place(canvas, view, x - width, width);
  if (left + width > strip_origin(canvas, view).left - theme.px(12)) return std::nullopt;
  const float middle = strip_middle(canvas, view), half = theme.size.label * 0.7F;
  return Box{{left, middle - half}, {left + width, middle + half}};
}

// Beside its line; in the strip where it would hide what the line is about.
std::optional<Box> marker_box(const Canvas& canvas, const SideView& view, const Marker& marker) {
  const auto beside = beside_marker(canvas, view, marker);
  if (!beside || (!covers_bars(canvas, view, *beside) && !covers_scale(canvas, view, *beside)))
    return beside;
  const auto strip = in_strip(canvas, view, marker);
  return strip ? strip : beside;
}

void paint_flag(const Canvas& canvas, const SideView& view, const Marker& marker, const Box& box,
                Color color) {
  const Theme& theme = *canvas.theme;
  const float size = theme.size.label, left = box.min.x + theme.px(4);
  const float top = box.min.y + theme.px(2);
  if (box.max.y <= view.window) {
    if (playhead_crosses(canvas, view, box))
      canvas.draw->AddRectFilled(box.min, box.max, theme.head);
    return draw_text_middle(canvas.draw, theme.font.text, size, left, box.centre().y, color,
                            strip_words(marker));
  }
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

float label_width(const Canvas& canvas, std::string_view words) {
  return text_size(canvas.theme->font.text, canvas.theme->size.label, words).x;
}

std::string more_words(const SideView& view) {
  const std::size_t away = view.tuck ? view.tuck->away.size() : 0;
  if (away > 0) return "+" + counted(away, "lane");
  return view.all_lanes && view.scrolls() ? "fewer lanes" : "";
}

Box more_box(const Canvas& canvas, const SideView& view) {
  const float pad = canvas.theme->px(6), left = strip_more_start(canvas, view);
  return {{left - pad, view.strip + canvas.theme->px(2)},
          {left + label_width(canvas, more_words(view)) + pad, view.window - canvas.theme->px(2)}};
}

Box dropped_box(const Canvas& canvas, const SideView& view) {
  if (view.side->dropped.empty()) return {};
  const StripOrigin origin = strip_origin(canvas, view);
  if (origin.dropped.empty()) return {};
  return {{origin.end - label_width(canvas, origin.dropped), view.strip + canvas.theme->px(2)},
          {origin.end, view.strip + canvas.theme->size.strip - canvas.theme->px(2)}};
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

StripGap strip_gap(const Canvas& canvas, const SideView& view) {
  return {strip_text_end(canvas, view), strip_origin(canvas, view).left};
}

}  // namespace trainscope::ui
