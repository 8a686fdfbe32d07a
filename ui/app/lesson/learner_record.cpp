#include "ui/app/lesson/learner_record.h"

#include <utility>

#include "ui/app/lesson/lesson_answers.h"

namespace trainscope::ui {
namespace {

// What the lesson's runs have decided since this was last asked.
std::vector<scenario::JudgedChoice> take_decided(LessonModel& lesson,
                                                 const scenario::TurnedKnobs& opened_with) {
  std::vector<scenario::JudgedChoice> decided = judged_choices(lesson, opened_with);
  for (const scenario::JudgedChoice& one : decided) lesson.told.insert(one.choice.step);
  return decided;
}

}  // namespace

void LearnerRecord::keep_in(std::filesystem::path folder) {
  learner_ = scenario::Learner(std::move(folder));
}

bool LearnerRecord::is_of_this(const std::optional<scenario::Answers>& answers,
                               const scenario::TurnedKnobs& opened_with) const {
  return answers && scenario::plain_name(answers->student) == scenario::plain_name(student_) &&
         answers->knobs == opened_with;
}

void LearnerRecord::keep(LessonModel& lesson, const scenario::TurnedKnobs& opened_with,
                         bool of_a_room) {
  if (!lesson.kept) return;
  std::size_t committed = 0;
  for (std::size_t i = 0; i < lesson.progress.steps(); ++i)
    committed += is_answered(lesson, i) ? 1 : 0;
  const Given given{committed, lesson.noted.steps.size(), lesson.progress.step(),
                    lesson.progress.revealed()};
  if (given == kept_ || (committed == 0 && lesson.noted.steps.empty())) return;
  kept_ = given;
  std::vector<scenario::JudgedChoice> decided = take_decided(lesson, opened_with);
  if (of_a_room) decided.clear();
  learner_.keep(answers_of(lesson, opened_with, student_), record_of(lesson), decided);
}

}  // namespace trainscope::ui
