#include "ui/app/lesson/tour.h"

#include <algorithm>

namespace trainscope::ui {

const std::vector<TourCard>& tour_cards() {
  static const std::vector<TourCard> cards = {
      {TourTarget::kLesson, "A lesson asks first",
       "One question at a time: you predict, then both sides run, then you see why. The buttons "
       "below the text go on."},
      {TourTarget::kTimelines, "Two runs, one time axis",
       "A stands above, B below: what every thread, copy and kernel does, and when. The lanes are "
       "empty until you have predicted. The wheel zooms, dragging pans."},
      {TourTarget::kKnobs, "What differs is a knob",
       "A dot marks the knobs in which A and B differ. Once the lesson has run you may turn them: "
       "both timelines follow at once."},
      {TourTarget::kCompare, "Where the difference went",
       "Every metric of A and B, and the parts that the difference is made of. The parts sum to "
       "it."},
      {TourTarget::kFindAction, "Everything has a name",
       "**Ctrl+K** finds what you want to do by a few letters, **F1** lists all keys, **Ctrl+L** "
       "shows all lessons. The tour is among the actions, too."},
  };
  return cards;
}

void Tour::next() {
  if (card + 1 < tour_cards().size())
    ++card;
  else
    end();
}

void Tour::back() {
  if (card > 0) --card;
}

ImVec2 place_card(const Box& target, ImVec2 size, const Box& room, float gap) {
  const auto within = [&](float x, float y) {
    return ImVec2{
        std::clamp(x, room.min.x + gap, std::max(room.min.x + gap, room.max.x - gap - size.x)),
        std::clamp(y, room.min.y + gap, std::max(room.min.y + gap, room.max.y - gap - size.y))};
  };
  const ImVec2 middle = target.centre();
  const float y = middle.y - size.y / 2, x = middle.x - size.x / 2;
  if (target.max.x + 2 * gap + size.x <= room.max.x) return within(target.max.x + gap, y);
  if (target.min.x - 2 * gap - size.x >= room.min.x) return within(target.min.x - gap - size.x, y);
  if (target.max.y + 2 * gap + size.y <= room.max.y) return within(x, target.max.y + gap);
  if (target.min.y - 2 * gap - size.y >= room.min.y) return within(x, target.min.y - gap - size.y);
  return within(x, y);
}

}  // namespace trainscope::ui
