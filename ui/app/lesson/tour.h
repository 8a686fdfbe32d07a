// The tour of the window: a few cards, each beside what it is about. Pure; ui/panels/tour draws it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// What a card points at.
enum class TourTarget : std::uint8_t { kLesson, kTimelines, kKnobs, kCompare, kFindAction };

struct TourCard {
  TourTarget target;
  std::string title;
  std::string text;  // Markdown; all cards together are read within a minute
};
const std::vector<TourCard>& tour_cards();

struct Tour {
  bool open = false;
  bool shown = false;  // drawn before: keys are meant for it
  std::size_t card = 0;

  void begin() { *this = {true, false, 0}; }
  // Past the last card it is over.
  void next();
  void back();
  void end() { open = false; }
};

// Where a card of that size stands so that it hides as little of the target as it can: right of it,
// left, below, above, or else in its middle; within `room`.
ImVec2 place_card(const Box& target, ImVec2 size, const Box& room, float gap);

}  // namespace trainscope::ui
