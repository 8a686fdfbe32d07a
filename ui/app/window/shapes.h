// Pieces that every panel draws: text, hatches, dashes, marks, pills, buttons, the panel's frame.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "ui/app/window/theme.h"

namespace trainscope::ui {

struct PanelContext;

struct Box {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  ImVec2 centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
};

// Text at `pos` (its top left corner), and how much room it takes.
ImVec2 text_size(ImFont* font, float size, std::string_view text);
void draw_text(ImDrawList* draw, ImFont* font, float size, ImVec2 pos, Color color,
               std::string_view text);
// Centred upon `y`; `align` 0: starts at x, 0.5: centred, 1: ends at x.
void draw_text_middle(ImDrawList* draw, ImFont* font, float size, float x, float y, Color color,
                      std::string_view text, float align = 0);
// The text, or as much of it as fits into `width` with "…" at its end.
std::string shortened(ImFont* font, float size, std::string_view text, float width);
// The same with "…" in its middle: of names that begin alike the end tells them apart.
std::string shortened_middle(ImFont* font, float size, std::string_view text, float width);
// Of parts with commas between them as many as fit, and ", …"; cut where not even the first does.
std::string shortened_parts(ImFont* font, float size, std::string_view text, float width);

// Lines at 45 degrees, clipped to the box and fixed to the screen's pixels from `phase`.
void draw_hatch(ImDrawList* draw, const Box& box, Color color, float spacing, float thickness,
                float phase = 0);
void draw_dashed_line(ImDrawList* draw, ImVec2 from, ImVec2 to, Color color, float thickness,
                      float dash, float gap);
// A span's body in its category's colours: filled, or hatched with an edge.
void draw_bar(ImDrawList* draw, const Theme& theme, const Box& box, const CategoryStyle& style);
// The same without a hatch, with corners that suit a low box.
void draw_solid(ImDrawList* draw, const Theme& theme, const Box& box, const CategoryStyle& style);
// The mark of a side: A solid, B outlined. Its width is returned.
float draw_side_mark(ImDrawList* draw, const Theme& theme, ImVec2 left_middle, char letter,
                     bool solid);

// A small mark pointing down: something opens here.
void draw_down_mark(ImDrawList* draw, const Theme& theme, ImVec2 middle, Color color);

// Items, placed at the cursor like ImGui's own.
// A place to press, by mouse or by keys; what it looks like is drawn over it. It is hovered also
// while it has the keys, and has a ring then.
bool press_area(const char* id, ImVec2 size);
void pill(const Theme& theme, std::string_view text, Color fill, Color text_color);
enum class ButtonKind : std::uint8_t { kPrimary, kQuiet, kLink };
// The label may carry "##id". A width of 0 fits the label.
bool button(const Theme& theme, const char* label, ButtonKind kind, float width = 0,
            bool enabled = true);
// Text in a face, size and colour, wrapped at the region's edge when `wrap`.
void text(ImFont* font, float size, Color color, std::string_view text, bool wrap = false);

// A docked or floating panel: one tone, 1 px border, 6 px corners, a head with its title to the
// left and secondary text to the right. The head is what one drags to move it.
struct PanelOptions {
  std::string secondary;  // right of the head
  float kept_free = 0;   // of the head, left of the close mark: pixels for the panel's own controls
  bool* open = nullptr;  // with a close mark when given
  bool padded = true;    // pad the body
  bool scrolls = true;   // the body scrolls when it is too tall
};
// `name` is the title and the window's id. end_panel() always, as with ImGui::Begin.
bool begin_panel(const PanelContext& context, const char* name, const PanelOptions& options = {});
void end_panel();
// Panels docked in one place show one of them, with the titles of all as tabs in its head, in the
// order in which they are drawn. This one is shown from the next frame on.
void show_tab(const char* name);
// The same, and the keys go to it.
void bring_to_front(const char* name);
bool is_in_front(const char* name);

}  // namespace trainscope::ui
