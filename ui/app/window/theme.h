// The one place of colours, sizes and fonts. Every view takes a `const Theme&`; nothing else in ui/
// names a colour or a size.
//
// Sizes are in pixels, already multiplied by the display's scale (and, for the projector, by
// kProjectorScale); px() scales any other length.
#pragma once

#include <array>

#include "program/program.h"
#include "trace/trace.h"
#include "ui/app/window/color.h"
#include "ui/app/window/theme_mode.h"

struct ImFont;

namespace trainscope::ui {

// How spans of a category are drawn. Hatched: `line` at 45 degrees over `fill`, with an edge.
// Edged: `fill` with an edge of `line`, which stands out from the ground where a pale fill does
// not.
struct CategoryStyle {
  Color fill;
  Color text;
  Color line;  // what the category is drawn with where there is no room for more than a line
  bool hatched = false;
  bool edged = false;
};

// How much larger text and lines are for a projector: nothing is written below 18 px.
inline constexpr float kProjectorScale = 1.5F;

// Of a window in front of a room: a larger one shows what one of 1920 by 1080 does, larger; in a
// smaller one letters stay as large. In steps, as every size of letters is drawn anew.
float scale_in_a_room(float width, float height);

// Faces; a size is given when text is drawn. Null before a window has loaded them.
struct Fonts {
  ImFont* text = nullptr;    // Inter
  ImFont* strong = nullptr;  // Inter SemiBold: titles, totals, primary buttons
  ImFont* italic = nullptr;  // Inter Italic: emphasis
  ImFont* mono = nullptr;    // JetBrains Mono: code, figures, config names
};

struct Sizes {
  float text;        // body text and titles
  float small;       // secondary text, lane labels
  float label;       // inside bars
  float mono;        // code, figures, the axis
  float heading;     // a lesson's title
  float figure;      // one large number on a card
  float gap;         // between panels
  float pad;         // inside a panel
  float corner;      // of panels, cards and buttons
  float bar_corner;  // of spans
  float border;
  float head;      // height of a panel's head
  float top_bar;   // height of the window's top bar
  float button;    // height of a button
  float lane;      // height of a lane of one row, when there is room
  float lane_min;  // and when there is not
  float row_min;   // a row of a lane of several rows
  float strip;     // a side's header strip
  float axis;      // the axis with its labels
};

struct Theme {
  ThemeMode mode = ThemeMode::kDark;
  bool large = false;  // as the projector's is
  float scale = 1;     // of px(): the display's, the person's and the projector's together

  Color ground, panel, head, card, line;  // from the window's ground up; `line` is the 1 px border
  Color lane_tone;                        // every other lane
  Color text, muted, faint;
  Color accent, accent_hovered, accent_text, accent_soft;  // text on accent; a tint behind text
  Color good, bad, warn;                 // as text and lines: the guess, red figures, notices
  Color good_soft, bad_soft, warn_soft;  // tints of them behind text
  Color staging_text, copy_text, collective_text;  // data colours dark enough to be text on a panel
  Color idle_line;                                 // hatch of idle gaps
  std::array<CategoryStyle, trace::kCategoryCount> categories;
  std::array<CategoryStyle, program::kRoles> roles;  // what device memory is used for

  Sizes size{};
  Fonts font;

  const CategoryStyle& of(trace::Category category) const {
    return categories[static_cast<std::size_t>(category)];
  }
  const CategoryStyle& of(program::Role role) const {
    return roles[static_cast<std::size_t>(role)];
  }
  float px(float length) const { return length * scale; }
  bool is_dark() const { return mode == ThemeMode::kDark; }
  Color grid(float strength = 1) const;           // grid lines: 8 % of the text, 16 % at strength 2
  Color of_origin(trace::OriginKind kind) const;  // of the words of its badge
  Color tint(Color color) const;                  // behind words of that colour, on a panel
};

// `large`: as large as the projector's, whose own always is.
Theme make_theme(ThemeMode mode, float scale, const Fonts& fonts = {}, bool large = false);

// Sets ImGui's style (and ImPlot's, where it has a context) from the theme.
void apply(const Theme& theme);

}  // namespace trainscope::ui
