// A learner's answers to the lesson that is open, as they are kept and handed in.
#pragma once

#include "scenario/answers.h"
#include "scenario/course.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {

// All answers given so far. `base`: the knobs that the lesson was opened with beyond its own.
scenario::Answers answers_of(const LessonModel& lesson, const scenario::TurnedKnobs& base,
                             const std::string& student);

// How the lesson went so far, by its own runs.
scenario::LessonRecord record_of(const LessonModel& lesson);

}  // namespace trainscope::ui
