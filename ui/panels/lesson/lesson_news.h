// What a learner's last act has brought onto the card, and how it comes into sight.
#pragma once

#include <string>

#include "ui/panels/lesson/lesson.h"

namespace trainscope::ui {

// What stands from `top` to the cursor comes into sight.
void follow(LessonPanel& panel, float top);

// What the learner's last act has brought onto the card, from `top` to the cursor, is to come into
// sight; not what stands there when the step is entered.
void note_news(LessonPanel& panel, News piece, const std::string& words, float top);

// At the end of the card.
void bring_news_into_sight(const PanelContext& context, LessonPanel& panel);

}  // namespace trainscope::ui
