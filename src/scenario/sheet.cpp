#include "scenario/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/speech.h"
#include "base/units.h"
#include "scenario/course.h"
#include "scenario/machine_caveat.h"
#include "scenario/named_metrics.h"
#include "scenario/progress.h"
#include "scenario/sentences.h"
#include "scenario/sheet_solution.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

using analysis::SheetAnswer;
using analysis::SheetStep;

// Both runs, and their configs alone, which a learner knows before anything has run.
struct Known {
  Known(const Lesson& of, const Sides& sides, const SolvedSteps& steps)
      : after(sides), decimal(of.decimal()), lesson(&of), solved(&steps) {
    for (std::size_t i = 0; i < sides.size() && i < configs.size(); ++i) {
      configs[i].label = sides[i]->label;
      configs[i].config = sides[i]->config;
      before.push_back(&configs[i]);
    }
  }
  std::array<analysis::Run, 2> configs;
  Sides before;
  Sides after;
  char decimal;  // of the lesson's language
  const Lesson* lesson;
  const SolvedSteps* solved;
  // Of lanes and spans; English where the lesson's texts are.
  Speech speech() const { return lesson->language == kEnglish ? Speech() : Speech{lesson->words}; }
  std::string unit_of(const Question& question) const {
    return question.unit.empty() ? "" : " " + lesson->say(question.unit);
  }
  std::string fill(const std::string& text, const Sides& sides) const {
    return fill_in_known(without_keys(text), sides, decimal);
  }
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

// "A, host main: held: staging, 1.29 ms", by the names that the drawing has.
std::string span_words(const Focus& focus, const Known& known) {
  const Speech speech = known.speech();
  std::string where = fmt::format("**{}**, *{}*", focus.run, speech.say_name(focus.lane));
  for (const analysis::Run* run : known.after) {
    if (run->label != focus.run) continue;
    const auto meant = shown_span(focus, *run);
    if (!meant) break;
    const trace::Span& span = run->trace->spans()[*meant];
    const std::string length = format_nanos(static_cast<double>(span.duration));
    where += fmt::format(": `{}`, {}", speech.say_name(run->trace->name(span)),
                         with_decimal(length, known.decimal));
  }
  return where;
}

std::string answer_words(const Question& question, const Known& known) {
  if (question.kind == QuestionKind::kNumber)
    return fmt::format("{}{} (± {:.0f} %)",
                       with_decimal(question.answer->show(known.after), known.decimal),
                       known.unit_of(question), 100 * question.tolerance);
  if (question.kind == QuestionKind::kFindSpan) return span_words(*question.span, known);
  return question.kind == QuestionKind::kText ? known.fill(question.text_answer, known.after) : "";
}

// Where no option alone is right, none is marked, and what speaks against one would be untrue.
void add_question(SheetStep& step, const Question& question, const Known& known) {
  const bool choice = question.kind == QuestionKind::kChoice;
  const int right = choice ? right_option(question, known.after) : -1;
  step.decided = !choice || right >= 0;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const Option& option = question.options[i];
    step.options.push_back({known.fill(option.text, step.before_run ? known.before : known.after),
                            static_cast<int>(i) == right,
                            step.decided ? known.fill(option.why, known.after) : std::string()});
  }
  step.answer = answer_words(question, known);
  step.depends = step.decided ? known.fill(question.depends, known.after) : "";
}

void add_explanation(SheetStep& step, const Step& from, const Known& known) {
  step.explain = known.fill(from.explain, known.after);
  if (from.kind != StepKind::kVary) return;
  if (const auto found = known.solved->find(from.id); found != known.solved->end()) {
    step.explain = known.fill(from.explain, found->second.sides);
    step.solution = sheet_solution(from, known.after, found->second, known.decimal);
    return;
  }
  if (placeholders(from.explain).empty()) return;
  // The knobs as the learner left them are not known here, and without runs nothing is.
  step.explain = without_blanks(known.fill(from.explain, Sides{}));
  step.of_own_run = true;
}

// Of those that the lesson names, the ones that apply to its runs.
std::vector<std::string> metrics_of(const Lesson& lesson, const Sides& sides) {
  std::vector<std::string> names;
  for (const analysis::Metric* metric : named_metrics(lesson))
    if (std::ranges::any_of(sides, [&](const analysis::Run* run) {
          return analysis::value_of(run->metrics, metric->name).has_value();
        }))
      names.push_back(metric->name);
  return names;
}

SheetStep step_of(const Step& from, const Known& known, bool before_run) {
  const Sides& sides = before_run ? known.before : known.after;
  SheetStep step;
  step.kind = std::string(name_of(from.kind));
  step.title = std::string(title_of(from.kind));
  step.text = known.fill(from.text, sides);
  step.hint = known.fill(from.hint, sides);
  step.asked = known.fill(from.text, known.before);
  add_explanation(step, from, known);
  step.asks = asked_by(from);
  step.before_run = before_run;
  if (from.question) add_question(step, *from.question, known);
  return step;
}

}  // namespace

analysis::LessonSheet sheet_of(const Lesson& lesson, const Sides& sides,
                               const SolvedSteps& solved) {
  const Known known(lesson, sides, solved);
  analysis::LessonSheet sheet;
  sheet.language = lesson.language;
  sheet.words = lesson.words;
  sheet.id = lesson.id;
  sheet.title = lesson.title;
  sheet.topic = lesson.topic;
  sheet.track = title_of_track(lesson.track);
  sheet.level = lesson.level;
  sheet.minutes = lesson.minutes;
  sheet.caveat = machine_caveat(lesson, sides);
  sheet.heard = lesson.heard;
  bool before_run = true;
  for (const Step& step : lesson.steps) {
    sheet.steps.push_back(step_of(step, known, before_run));
    if (before_run && step.question) sheet.looked_back.push_back(step_of(step, known, false));
    before_run = before_run && step.kind != StepKind::kRun;
  }
  for (const Term& term : lesson.glossary) sheet.terms.emplace_back(term.name, term.text);
  sheet.metrics = metrics_of(lesson, sides);
  sheet.limits = known.fill(lesson.limits, sides);
  sheet.notes = lesson.notes;
  return sheet;
}

}  // namespace trainscope::scenario
