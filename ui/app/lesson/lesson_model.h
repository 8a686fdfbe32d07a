// The lesson that is open, and how far its learner is.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenario/answers.h"
#include "scenario/lesson.h"
#include "scenario/progress.h"
#include "ui/app/workspace/side_model.h"

namespace trainscope::ui {

// A lesson and its learner. Progress points at the lesson, so this is never moved.
struct LessonModel {
  explicit LessonModel(scenario::Lesson which) : lesson(std::move(which)), progress(lesson) {}
  LessonModel(const LessonModel&) = delete;
  LessonModel& operator=(const LessonModel&) = delete;

  const scenario::Step& step() const { return lesson.steps[progress.step()]; }

  scenario::Lesson lesson;
  scenario::Progress progress;
  std::vector<SideModel> as_run;  // both sides as the lesson sets them: what its texts are about
  bool run_asked = false;         // by the run step
  bool hint_shown = false;
  bool shown = false;  // what the step points at was asked for
  std::string fault;   // of its file as it was saved last: a sentence; empty: none
  std::string remark;  // on the last span selected
  // What progress does not hold of the answers: spans, knobs as they were left, hints taken.
  scenario::Answers noted;
  // Steps whose choice the record of the learner has been told of.
  std::set<std::string, std::less<>> told;
  // Steps whose question a link went past: nobody was asked, so nothing is kept of them.
  std::set<std::size_t> passed_over;
  bool kept = true;  // false: the answers of an attempt that is finished, looked at again
};

}  // namespace trainscope::ui
