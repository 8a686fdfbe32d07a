#include "ui/app/lesson/lesson_answers.h"

#include <algorithm>

#include "base/error.h"
#include "scenario/grade.h"

namespace trainscope::ui {
namespace {

using scenario::QuestionKind;
using scenario::Step;

scenario::Sides sides_of(const LessonModel& lesson) {
  scenario::Sides sides;
  for (const SideModel& side : lesson.as_run)
    if (side.run) sides.push_back(side.run.get());
  return sides;
}

std::string unit_of(const scenario::Question& question, const scenario::Sides& sides) {
  if (!question.answer || sides.size() != 2) return "";
  try {
    return question.answer->evaluate(sides).unit;
  } catch (const Error&) {
    return "";
  }
}

// Whether an answer is right; nothing where the runs are missing or do not say.
std::optional<bool> is_right(const Step& step, const scenario::Answer& answer,
                             const scenario::Sides& sides) {
  if (sides.size() != 2 || step.question->kind == QuestionKind::kText) return std::nullopt;
  try {
    return judge(*step.question, answer, sides).right && !answer.skipped;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Counts as `grade` counts: predictions are guesses, and what the runs leave open is nobody's
// fault.
bool earns_a_point(const Step& step, const scenario::Answer& answer, const scenario::Sides& sides) {
  if (step.kind == scenario::StepKind::kPredict) return false;
  if (sides.size() != 2) return true;
  try {
    return judge(*step.question, answer, sides).decided;
  } catch (const Error&) {
    return true;
  }
}

bool can_be_repeated(const scenario::Sides& sides) {
  return sides.size() == 2 && std::ranges::none_of(sides, [](const analysis::Run* run) {
           return trace::is_measured(*run->trace);
         });
}

// Nothing where no option was chosen, or the runs decide for none.
std::optional<bool> is_right_choice(const Step& step, const scenario::Answer& answer,
                                    const scenario::Sides& sides) {
  if (!answer.committed || answer.skipped || answer.option < 0) return std::nullopt;
  try {
    const scenario::Verdict verdict = judge(*step.question, answer, sides);
    return verdict.decided ? std::optional(verdict.right) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_answered(const LessonModel& lesson, std::size_t step) {
  return lesson.progress.answer(step).committed && !lesson.passed_over.contains(step);
}

scenario::Answers answers_of(const LessonModel& lesson, const scenario::TurnedKnobs& base,
                             const std::string& student) {
  const scenario::Sides sides = sides_of(lesson);
  scenario::Answers answers;
  answers.lesson = lesson.lesson.id;
  answers.student = student;
  answers.knobs = base;
  for (std::size_t i = 0; i < lesson.lesson.steps.size(); ++i) {
    const Step& step = lesson.lesson.steps[i];
    const scenario::StepAnswer* noted = lesson.noted.find(step.id);
    const scenario::Answer& answer = lesson.progress.answer(i);
    const bool answered = is_answered(lesson, i);
    if (!noted && !answered) continue;
    scenario::StepAnswer& given = answers.at(step.id);
    if (noted) given = *noted;
    if (answered) given.answer = answer;
    if (step.question && given.answer.number) given.unit = unit_of(*step.question, sides);
  }
  return answers;
}

scenario::LessonRecord record_of(const LessonModel& lesson) {
  const scenario::Sides sides = sides_of(lesson);
  scenario::LessonRecord record;
  record.finished = lesson.progress.finished() && lesson.passed_over.empty();
  for (std::size_t i = 0; i < lesson.lesson.steps.size(); ++i) {
    const Step& step = lesson.lesson.steps[i];
    if (step.question && step.question->kind != QuestionKind::kText) {
      const scenario::Answer& answer = lesson.progress.answer(i);
      const std::optional<bool> right = is_right(step, answer, sides);
      if (earns_a_point(step, answer, sides)) {
        ++record.of;
        if (answer.committed && right.value_or(false)) ++record.points;
      }
      const bool tells =
          step.kind == scenario::StepKind::kPredict || step.kind == scenario::StepKind::kRecap;
      if (tells && is_answered(lesson, i) && !right.value_or(true)) record.missed = true;
    }
    if (!scenario::task_of(step)) continue;
    ++record.of;
    const scenario::StepAnswer* given = lesson.noted.find(step.id);
    if (given && given->reached) ++record.points;
  }
  return record;
}

std::vector<scenario::JudgedChoice> judged_choices(const LessonModel& lesson,
                                                   const scenario::TurnedKnobs& base) {
  const scenario::Sides sides = sides_of(lesson);
  std::vector<scenario::JudgedChoice> judged;
  if (!can_be_repeated(sides)) return judged;
  for (std::size_t i = 0; i < lesson.lesson.steps.size(); ++i) {
    const Step& step = lesson.lesson.steps[i];
    if (!scenario::comes_back(step) || lesson.told.contains(step.id)) continue;
    const scenario::Answer& answer = lesson.progress.answer(i);
    if (const auto right = is_right_choice(step, answer, sides))
      judged.push_back({{lesson.lesson.id, step.id, answer.option, base}, *right});
  }
  return judged;
}

}  // namespace trainscope::ui
