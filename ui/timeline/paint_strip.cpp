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

float guess_width(const Canvas& canvas, const TimelineSide& side) {
  float widest = 0;
  for (const Guess& one : side.guesses)
    widest = std::max(widest, label_width(canvas, one.label) + canvas.theme->px(44));
  return widest;
}

// Of markers whose words may come into the strip; beside a guess only of those that must.
float marker_width(const Canvas& canvas, const SideView& view) {
  const TimelineSide& side = *view.side;
  float widest = 0;
  for (const Marker& one : side.markers)
    if (side.guesses.empty() || wants_strip(canvas, view, one))
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
  taken += take_detail(canvas, side, room - config - taken - marker_width(canvas, view), origin);
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
  const float room = std::min(origin.left, view.marks_left) - x - theme.px(16);
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

float strip_config_start(const Canvas& canvas, const SideView& view) {
  return config_start(canvas, view);
}

StripGap strip_gap(const Canvas& canvas, const SideView& view) {
  return {strip_text_end(canvas, view), strip_origin(canvas, view).left};
}

}  // namespace trainscope::ui
