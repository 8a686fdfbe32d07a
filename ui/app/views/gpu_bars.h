// How high the cards in a picture of GPUs are, and the bars that join them: switches, bridges, the
// network. Where room is short the bars first lose the row for their names, then they are lines
// with their names at their left, then the names go. Pure.
#pragma once

#include <optional>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// Where what a bar stands for is written, clear of all that travels through it.
enum class BarNames : std::uint8_t { kOwnRow, kBeside, kAtLeft, kNone };

struct Bars {
  BarNames names = BarNames::kNone;
  float bar = 0;   // the height of one
  float gap = 0;   // between one and the cards
  float way = 0;   // from its edge towards the cards to the middle of what travels in it
  float lane = 0;  // how far apart the two directions of a way are drawn, halved
  float chip = 0;  // half an edge of what travels
  float card = 0;  // the height of a card

  // What travels along an outer bar reaches so far beyond it.
  float rim() const;
};

// What stands on top of what, from the area's upper edge to its lower.
struct Stack {
  int rows = 1;         // of cards
  int columns = 1;      // of them
  int bars = 1;         // of names
  int gaps = 1;         // between bars and cards
  int rims = 1;         // of bars with nothing beyond them
  float taken = 0;      // by something else
  bool outside = true;  // some bars have cards on one side only: room for a row of names
  bool beside = false;  // columns may move to the right for names at the bars' left
};

// The most that the area has room for; nothing where not even lines and low cards fit. `unit` is a
// pixel at scale 1.
std::optional<Bars> bars_for(const Box& area, float unit, const Stack& stack);

// How far the columns move to the right for names that stand so.
float room_for_names(const Box& area, float unit, BarNames names, int columns);

}  // namespace trainscope::ui
