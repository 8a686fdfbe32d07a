#include "scenario/subject.h"

#include "base/error.h"
#include "scenario/machine_caveat.h"

namespace trainscope::scenario {
namespace {

void add_words(std::vector<std::string>& words, const std::string& text, const Sides& sides,
               char decimal) {
  try {
    words.push_back(fill_in(text, sides, decimal));
  } catch (const InputError&) {
    return;
  }
}

}  // namespace

analysis::Subject subject_of(const Lesson& lesson, const Sides& sides) {
  analysis::Subject subject;
  subject.lesson = lesson.id;
  subject.title = lesson.title;
  subject.caveat = machine_caveat(lesson, sides);
  for (const Step& step : lesson.steps)
    if (step.kind == StepKind::kScene || step.kind == StepKind::kExplain)
      add_words(subject.paragraphs, step.text, sides, lesson.decimal());
  add_words(subject.limits, lesson.limits, sides, lesson.decimal());
  return subject;
}

}  // namespace trainscope::scenario
