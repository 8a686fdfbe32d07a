#include "scenario/sheet.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/units.h"
#include "scenario/course.h"
#include "scenario/progress.h"

namespace trainscope::scenario {
namespace {

using analysis::SheetAnswer;
using analysis::SheetStep;

// To be written in by whoever turned the knob.
constexpr std::string_view kOpen = "______";

// Both runs, and their configs alone, which a learner knows before anything has run.
struct Known {
  explicit Known(const Sides& sides) : after(sides) {
    for (std::size_t i = 0; i < sides.size() && i < configs.size(); ++i) {
      configs[i].label = sides[i]->label;
      configs[i].config = sides[i]->config;
      before.push_back(&configs[i]);
    }
  }
  std::array<analysis::Run, 2> configs;
  Sides before;
  Sides after;
};

SheetAnswer asked_by(const Step& step) {
  if (!step.question) return SheetAnswer::kNone;
  switch (step.question->kind) {
    case QuestionKind::kChoice:
      return SheetAnswer::kChoice;
    case QuestionKind::kNumber:
      return SheetAnswer::kNumber;
    case QuestionKind::kFindSpan:
      return SheetAnswer::kSpan;
    case QuestionKind::kText:
      break;
  }
  return SheetAnswer::kWords;
}

// "A, host main: held: staging, 1.29 ms": the first of those that are right.
std::string span_words(const Focus& focus, const Sides& sides) {
  std::string where = fmt::format("**{}**, *{}*", focus.run, focus.lane);
  for (const analysis::Run* run : sides) {
    if (run->label != focus.run) continue;
    const auto meant = find_spans(focus, *run);
    if (meant.empty()) break;
    const trace::Span& first = run->trace->spans()[meant.front()];
    where += fmt::format(": `{}`, {}", run->trace->name(first),
                         format_nanos(static_cast<double>(first.duration)));
  }
  return where;
}

std::string answer_words(const Question& question, const Sides& sides) {
  if (question.kind == QuestionKind::kNumber)
    return fmt::format("{} (± {:.0f} %)", question.answer->show(sides), 100 * question.tolerance);
  if (question.kind == QuestionKind::kFindSpan) return span_words(*question.span, sides);
  return question.kind == QuestionKind::kText ? fill_in_known(question.text_answer, sides) : "";
}

void add_question(SheetStep& step, const Question& question, const Known& known) {
  for (const Option& option : question.options)
    step.options.push_back(
        {fill_in_known(option.text, step.before_run ? known.before : known.after),
         option.correct_when->evaluate(known.after).truth(),
         fill_in_known(option.why, known.after)});
  step.answer = answer_words(question, known.after);
  step.depends = fill_in_known(question.depends, known.after);
}

SheetStep step_of(const Step& from, const Known& known, bool before_run) {
  const Sides& sides = before_run ? known.before : known.after;
  SheetStep step;
  step.kind = std::string(name_of(from.kind));
  step.title = std::string(title_of(from.kind));
  step.text = fill_in_known(from.text, sides);
  step.hint = fill_in_known(from.hint, sides);
  // The knobs as the learner left them are not known here, and without runs nothing is.
  const bool turned = from.kind == StepKind::kVary;
  step.explain = fill_in_known(from.explain, turned ? Sides{} : known.after, kOpen);
  step.asks = asked_by(from);
  step.before_run = before_run;
  if (from.question) add_question(step, *from.question, known);
  return step;
}

}  // namespace

analysis::LessonSheet sheet_of(const Lesson& lesson, const Sides& sides) {
  const Known known(sides);
  analysis::LessonSheet sheet;
  sheet.language = lesson.language;
  sheet.words = lesson.words;
  sheet.id = lesson.id;
  sheet.title = lesson.title;
  sheet.topic = lesson.topic;
  sheet.track = title_of_track(lesson.track);
  sheet.level = lesson.level;
  sheet.minutes = lesson.minutes;
  sheet.heard = lesson.heard;
  bool before_run = true;
  for (const Step& step : lesson.steps) {
    sheet.steps.push_back(step_of(step, known, before_run));
    before_run = before_run && step.kind != StepKind::kRun;
  }
  for (const Term& term : lesson.glossary) sheet.terms.emplace_back(term.name, term.text);
  sheet.limits = fill_in_known(lesson.limits, sides);
  sheet.notes = lesson.notes;
  return sheet;
}

}  // namespace trainscope::scenario
