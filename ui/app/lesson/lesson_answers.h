// A learner's answers to the lesson that is open, as they are kept and handed in.
#pragma once

#include <vector>

#include "scenario/answers.h"
#include "scenario/course.h"
#include "scenario/missed.h"
#include "ui/app/lesson/lesson_model.h"

namespace trainscope::ui {

// The step's question has an answer, or was skipped; not where a link went past it.
bool is_answered(const LessonModel& lesson, std::size_t step);

// All answers given so far. `base`: the knobs that the lesson was opened with beyond its own.
scenario::Answers answers_of(const LessonModel& lesson, const scenario::TurnedKnobs& base,
                             const std::string& student);

// How the lesson went so far, by its own runs.
scenario::LessonRecord record_of(const LessonModel& lesson);

// The choices that come back where they are missed, as the lesson's own runs decide them, but for
// those that the learner's record has been told of. None of measured runs: those cannot be carried
// out again as they were.
std::vector<scenario::JudgedChoice> judged_choices(const LessonModel& lesson,
                                                   const scenario::TurnedKnobs& base);

}  // namespace trainscope::ui
