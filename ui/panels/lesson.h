// The lesson's card: text, question, verdict, buttons, how far one is.
#pragma once

#include <string>

#include "ui/panels/context.h"

namespace trainscope::ui {

struct LessonPanel {
  std::string number;  // as typed
  std::string words;
  std::size_t step = 0;  // that these belong to
};

void draw_lesson(const PanelContext& context, LessonPanel& panel, const char* name, bool* open);

}  // namespace trainscope::ui
