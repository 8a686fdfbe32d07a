// The lesson's card: text, question, verdict, buttons, how far one is.
#pragma once

#include <string>

#include "ui/panels/context.h"

namespace trainscope::ui {

struct LessonPanel {
  std::string number;  // as typed
  std::string words;
  std::size_t step = 0;  // that these belong to
  // The buttons stand above the foot where the text leaves them no room in sight.
  bool pinned = false;
  bool pin_next = false;
  float buttons = 0;  // their height
  float room = 0;     // for the text and them
};

void draw_lesson(const PanelContext& context, LessonPanel& panel, const char* name, bool* open);

}  // namespace trainscope::ui
