// A step's question on the lesson's card: its options, or a field for a number or for words, and
// what became of the answer.
#pragma once

#include "ui/app/lesson/lesson_card.h"
#include "ui/panels/lesson/lesson.h"

namespace trainscope::ui {

// The card has one.
void draw_question(const PanelContext& context, LessonPanel& panel, const LessonCard& card);

}  // namespace trainscope::ui
