// The cards of a picture of GPUs: their grounds and names, in one form for all of them, as much as
// there is room for. A full card has "GPU 3" and a place for what the panel shows of it; where that
// is too wide, "3"; smaller ones are filled with one colour, with their number on it or without.
#pragma once

#include <optional>

#include "ui/app/views/gpu_map.h"

namespace trainscope::ui {

enum class CardForm : std::uint8_t { kNamed, kNumbered, kFilled, kDot };

struct CardLook {
  CardForm form = CardForm::kNamed;
  bool beside = false;  // the name is to the left of what is shown, else above
  float words = 0;      // the width of the widest name
  int apart = 1;        // of a group whose GPUs are not neighbours: how far their numbers are

  // One colour is all that it shows.
  bool is_small() const { return form == CardForm::kFilled || form == CardForm::kDot; }
};

// Where the GPUs stand and how they look. Of dots a line below says what they are.
struct GpuPicture {
  GpuMap map;
  CardLook look;
  std::optional<Box> legend;
};
GpuPicture gpu_picture(const Theme& theme, const machine::Topology* topology,
                       const std::vector<int>& ring, const Box& area,
                       Traffic traffic = Traffic::kRing);

// The line around a card; that of GPU 0 of a star is stressed.
struct CardEdge {
  Color color;
  float thickness = 1;
};
CardEdge card_edge(const Theme& theme);

// The ground and the name; returns the place that they leave. Not of a small card.
Box paint_card_frame(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                     const CardEdge& edge);
// A small card, filled from below as far as the share.
void paint_small_card(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                      const CardEdge& edge, Color color, double share);

// What is below the cards: links, the bars that they meet at, the frames of nodes, the legend.
void paint_ground(const Theme& theme, const GpuPicture& picture);
// What the bars are called: over all that travels through them.
void paint_bar_names(const Theme& theme, const GpuMap& map);

}  // namespace trainscope::ui
