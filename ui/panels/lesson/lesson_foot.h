// The foot of the lesson's card: how far one is, and what goes on.
#pragma once

#include <string>

#include "ui/app/lesson/lesson_card.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// In front of a room the keys that go on and that show the code; else how long it will take, or
// that a question of before waits on the last card.
std::string foot_words(const Workspace& workspace, const LessonCard& card);

// A dot a step, and these words.
void draw_lesson_foot(const Theme& theme, const LessonModel& model, const std::string& hint);

}  // namespace trainscope::ui
