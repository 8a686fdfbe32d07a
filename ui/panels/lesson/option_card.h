// An option of a question as a card: its words, whether it is chosen, what became of it.
#pragma once

#include "ui/app/lesson/lesson_card.h"
#include "ui/app/window/theme.h"

namespace trainscope::ui {

// Hands of a room for an option, and the most that any option has; below 0: none are counted.
struct Hands {
  int count = -1;
  int most = 0;
};

// At the cursor, as wide as the region, under the id of its number. True when it was pressed.
// `tight`: little room around its words.
bool option_card(const Theme& theme, const scenario::Lesson& lesson, const OptionCard& option,
                 bool open, Hands hands = {}, bool tight = false);

}  // namespace trainscope::ui
