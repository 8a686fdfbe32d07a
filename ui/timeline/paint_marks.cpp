// Guesses and markers of a side, and one place for all of their words: beside a marker's line, or
// in the side's strip, where none stands on another.
#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

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

Color guess_color(const Theme& theme, const Guess& guess) {
  if (!guess.right) return theme.muted;
  return *guess.right ? theme.good : theme.bad;
}

// From the guess up to the strip's lower edge, along it, and to the words in the strip.
void paint_guess_label(const Canvas& canvas, const SideView& view, const MarkWords& placed,
                       ImVec2 from, Color color) {
  const Theme& theme = *canvas.theme;
  const float edge = view.window - theme.px(1), elbow = placed.box.min.x - theme.px(6);
  const float middle = placed.box.centre().y, thin = theme.px(1.3F);
  canvas.draw->AddLine(from, {from.x, edge}, color, thin);
  canvas.draw->AddLine({from.x, edge}, {elbow, edge}, color, thin);
  canvas.draw->AddLine({elbow, edge}, {elbow, middle}, color, thin);
  draw_text_middle(canvas.draw, theme.font.text, theme.size.label, placed.box.min.x, middle, color,
                   placed.words);
}

void paint_guess(const Canvas& canvas, const SideView& view, std::size_t number) {
  const Guess& guess = view.side->guesses[number];
  const Theme& theme = *canvas.theme;
  const Color color = guess_color(theme, guess);
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
    draw_dashed_line(canvas.draw, {left, top}, {left, extent->bottom}, color, thick, dash, gap);
  } else {
    draw_dashed_line(canvas.draw, {left, top}, {right, top}, color, thick, dash, gap);
    canvas.draw->AddLine({left, top}, {left, extent->bottom}, color, thick);
    canvas.draw->AddLine({right, top}, {right, extent->bottom}, color, thick);
  }
  if (const auto& placed = view.guess_words[number])
    paint_guess_label(canvas, view, *placed,
                      {std::clamp(right, canvas.lanes.min.x, canvas.lanes.max.x), top}, color);
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
    const std::optional<Box> scale = scale_box(canvas, view, curve);
    return scale && scale->min.x < box.max.x && scale->max.x > box.min.x &&
           scale->min.y < box.max.y && scale->max.y > box.min.y;
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

bool hides_something(const Canvas& canvas, const SideView& view, const Box& box) {
  const bool sticks_out = box.max.y > view.window_end + canvas.theme->px(3);  // into B's strip
  return sticks_out || covers_bars(canvas, view, box) || covers_scale(canvas, view, box);
}

// ---- Places in the strip -----------------------------------------------------------------------

// Words that want to stand in the strip, from `x` on; `brief`: where there is little room.
struct StripWish {
  std::optional<MarkWords>* place = nullptr;
  std::string words, brief;
  float x = 0;
  float width = 0;
  bool is_marker = false;
};

float width_of(const std::vector<StripWish>& wishes, float apart) {
  float width = -apart;
  for (const StripWish& wish : wishes) width += wish.width + apart;
  return width;
}

// The first whole words, of markers before those of guesses, then no markers, then nothing.
void shorten(const Canvas& canvas, std::vector<StripWish>& wishes, float apart, float room) {
  for (const bool of_markers : {true, false})
    for (StripWish& wish : wishes)
      if (width_of(wishes, apart) > room && wish.is_marker == of_markers) {
        wish.words = wish.brief;
        wish.width = label_width(canvas, wish.words);
      }
  if (width_of(wishes, apart) > room)
    std::erase_if(wishes, [](const StripWish& wish) { return wish.is_marker; });
  while (!wishes.empty() && width_of(wishes, apart) > room) wishes.pop_back();
}

// Each as near to where it wants to be as the others let it, from left to right.
void set_apart(std::vector<StripWish>& wishes, float apart, float left, float right) {
  std::ranges::stable_sort(wishes, {}, &StripWish::x);
  for (StripWish& wish : wishes) {
    wish.x = std::max(wish.x, left);
    left = wish.x + wish.width + apart;
  }
  for (auto wish = wishes.rbegin(); wish != wishes.rend(); ++wish) {
    wish->x = std::min(wish->x, right - wish->width);
    right = wish->x - apart;
  }
}

// The config is cut for them, but for its first words.
void place_in_strip(const Canvas& canvas, SideView& view, std::vector<StripWish> wishes) {
  const Theme& theme = *canvas.theme;
  const float apart = theme.px(20);
  const StripGap gap = strip_gap(canvas, view);
  const float right = gap.right - apart;
  float left = gap.left + apart;
  if (width_of(wishes, apart) > right - left)
    left = std::min(left, strip_config_start(canvas, view) + theme.px(150) + apart);
  shorten(canvas, wishes, apart, right - left);
  set_apart(wishes, apart, left, right);
  const float middle = view.strip + theme.size.strip / 2, half = theme.size.label * 0.7F;
  for (const StripWish& wish : wishes) {
    *wish.place = {
        wish.words, {{wish.x, middle - half}, {wish.x + wish.width, middle + half}}, true};
    view.marks_left = std::min(view.marks_left, wish.x);
  }
}

// "the room's guess" of "the room's guess: B ends here".
StripWish wish_of(const Canvas& canvas, const std::string& words, const std::string& brief) {
  StripWish wish;
  wish.words = words;
  wish.brief = brief;
  wish.width = label_width(canvas, words);
  return wish;
}

void add_guess_wish(const Canvas& canvas, SideView& view, std::size_t number,
                    std::vector<StripWish>& wishes) {
  const Guess& guess = view.side->guesses[number];
  const Nanos start = guess.start + view.side->offset, end = guess.end + view.side->offset;
  if (!extent_of(view, guess.lane) || end < canvas.view.start || start > canvas.view.end) return;
  StripWish wish = wish_of(canvas, guess.label, guess.label.substr(0, guess.label.find(':')));
  wish.place = &view.guess_words[number];
  wish.x = std::clamp(canvas.x(end), canvas.lanes.min.x, canvas.lanes.max.x) + canvas.theme->px(16);
  wishes.push_back(wish);
}

// Beside its line; in the strip where it would hide what the line is about.
void add_marker_wish(const Canvas& canvas, SideView& view, std::size_t number,
                     std::vector<StripWish>& wishes) {
  const Marker& marker = view.side->markers[number];
  const auto beside = beside_marker(canvas, view, marker);
  if (!beside) return;
  view.marker_words[number] = {"", *beside, false};
  if (!hides_something(canvas, view, *beside)) return;
  StripWish wish = wish_of(canvas, strip_words(marker), marker.title);
  wish.place = &view.marker_words[number];
  wish.x = canvas.x(marker.time + view.side->offset) - wish.width;
  wish.is_marker = true;
  wishes.push_back(wish);
}

void paint_flag(const Canvas& canvas, const SideView& view, const Marker& marker,
                const MarkWords& placed, Color color) {
  const Theme& theme = *canvas.theme;
  const Box& box = placed.box;
  const float size = theme.size.label, left = box.min.x + theme.px(4);
  const float top = box.min.y + theme.px(2);
  if (placed.in_strip)
    return draw_text_middle(canvas.draw, theme.font.text, size, box.min.x, box.centre().y, color,
                            placed.words);
  // The projector's lane lines are strong enough to strike words through.
  if (covers_bars(canvas, view, box) || playhead_crosses(canvas, view, box) ||
      theme.mode == ThemeMode::kProjector)
    canvas.draw->AddRectFilled(box.min, box.max, faded(theme.panel, 0.95F), theme.px(3));
  draw_text(canvas.draw, theme.font.strong, size, {left, top}, color, marker.title);
  draw_text(canvas.draw, theme.font.text, size, {left, top + size * 1.35F}, color, marker.text);
}

void paint_marker(const Canvas& canvas, const SideView& view, std::size_t number) {
  const auto& placed = view.marker_words[number];
  if (!placed) return;
  const Marker& marker = view.side->markers[number];
  const float x = std::round(canvas.x(marker.time + view.side->offset));
  const Extent extent = *extent_of(view, trace::kNone);
  const Color color = marker.bad ? canvas.theme->bad : canvas.theme->good;
  canvas.draw->AddLine({x, extent.top}, {x, extent.bottom}, color, canvas.theme->px(2));
  paint_flag(canvas, view, marker, *placed, color);
}

}  // namespace

std::string strip_words(const Marker& marker) {
  return marker.text.empty() ? marker.title : marker.title + ", " + marker.text;
}

bool wants_strip(const Canvas& canvas, const SideView& view, const Marker& marker) {
  const auto beside = beside_marker(canvas, view, marker);
  return beside && hides_something(canvas, view, *beside);
}

void paint_guesses(const Canvas& canvas, const SideView& view) {
  for (std::size_t i = 0; i < view.guess_words.size(); ++i) paint_guess(canvas, view, i);
}

void paint_markers(const Canvas& canvas, const SideView& view) {
  for (std::size_t i = 0; i < view.marker_words.size(); ++i) paint_marker(canvas, view, i);
}

void take_places(Canvas& canvas) {
  for (SideView& view : canvas.sides) {
    if (!is_ready(*view.side)) continue;
    std::vector<StripWish> wishes;
    view.guess_words.resize(view.side->guesses.size());
    view.marker_words.resize(view.side->markers.size());
    for (std::size_t i = 0; i < view.guess_words.size(); ++i)
      add_guess_wish(canvas, view, i, wishes);
    for (std::size_t i = 0; i < view.marker_words.size(); ++i)
      add_marker_wish(canvas, view, i, wishes);
    place_in_strip(canvas, view, wishes);
    for (const auto& placed : view.marker_words)
      if (placed) view.taken.push_back(placed->box);
    for (const NoteFlag& flag : view.flags) view.taken.push_back(flag_box(canvas, view, flag));
  }
}

}  // namespace trainscope::ui
