#include "scenario/grade.h"

#include <algorithm>
#include <functional>

#include "analysis/runs/run.h"
#include "base/files.h"
#include "base/named.h"
#include "base/suggest.h"
#include "base/text.h"
#include "scenario/extreme.h"
#include "scenario/learner.h"
#include "scenario/named_span.h"
#include "scenario/shared_runs.h"
#include "scenario/solution.h"
#include "scenario/task_knobs.h"

namespace trainscope::scenario {

namespace fs = std::filesystem;

namespace {

std::string option_text(const Question& question, int option, const Sides& sides) {
  if (option < 0 || option >= static_cast<int>(question.options.size())) return "";
  return fill_in(question.options[static_cast<std::size_t>(option)].text, sides);
}

void mark_choice(const Question& question, const Answer& answer, const Sides& sides, Mark& mark) {
  const int right = right_option(question, sides);
  mark.given = option_text(question, answer.option, sides);
  mark.truth = option_text(question, right, sides);
  if (right < 0)
    mark.mark = MarkKind::kUndecided;
  else if (answer.option >= 0)
    mark.mark = answer.option == right ? MarkKind::kRight : MarkKind::kWrong;
}

void mark_number(const Question& question, const StepAnswer& step, const Sides& sides, Mark& mark) {
  const Verdict verdict = judge(question, step.answer, sides);
  mark.truth = show(*verdict.truth);
  if (!step.answer.number) return;
  if (!step.unit.empty() && step.unit != verdict.truth->unit)
    throw InputError("the number of step " + step.step + " is in " + step.unit +
                     ", and the lesson asks for " + verdict.truth->unit);
  mark.given = show({*step.answer.number, verdict.truth->unit});
  mark.mark = verdict.right ? MarkKind::kRight : MarkKind::kWrong;
}

void mark_span(const Question& question, const StepAnswer& step, const Sides& sides, Mark& mark) {
  const Focus& asked = *question.span;
  mark.truth = name_of(asked);
  if (!step.span) return;
  const ChosenSpan& chosen = *step.span;
  mark.given = name_of(chosen);
  mark.mark = MarkKind::kWrong;
  if (chosen.run != asked.run) return;
  const analysis::Run& run = *sides[chosen.run == "A" ? 0 : 1];
  for (const trace::SpanId id : find_spans(asked, run)) {
    const trace::Span& span = run.trace->spans()[id];
    if (span.start == chosen.start && run.trace->name(span) == chosen.name &&
        run.trace->lanes()[span.lane].name == chosen.lane)
      mark.mark = MarkKind::kRight;
  }
  if (mark.mark == MarkKind::kRight || !is_called_alike(asked, chosen)) return;
  // Both are called the same: what tells them apart is when they are.
  mark.given = place_in_time(*run.trace, chosen.start) + ": " + mark.given;
  if (const auto shown = shown_span(asked, run))
    mark.truth = place_in_time(*run.trace, run.trace->spans()[*shown].start) + ": " + mark.truth;
}

Mark mark_question(const Step& step, const StepAnswer& given, const Sides& sides) {
  const Question& question = *step.question;
  Mark mark;
  mark.step = step.id;
  mark.kind = step.kind;
  mark.hinted = given.hinted;
  switch (question.kind) {
    case QuestionKind::kChoice:
      mark_choice(question, given.answer, sides, mark);
      break;
    case QuestionKind::kNumber:
      mark_number(question, given, sides, mark);
      break;
    case QuestionKind::kFindSpan:
      mark_span(question, given, sides, mark);
      break;
    case QuestionKind::kText:
      mark.given = given.answer.text;
      mark.truth = question.text_answer;
      mark.mark = MarkKind::kToRead;
      break;
  }
  if (given.answer.skipped && mark.mark == MarkKind::kMissing) mark.mark = MarkKind::kSkipped;
  return mark;
}

std::string words_of(const TurnedKnobs& knobs) {
  std::string words;
  const auto add = [&](const char* side, const program::Config& config) {
    for (const auto& [name, value] : config.values())
      add_to_list(words,
                  side + ("." + name) + " = " + program::show(program::find_knob(name), value));
  };
  add("A", knobs.a);
  add("B", knobs.b);
  return words.empty() ? "nothing was turned" : words;
}

// `turned`: the runs with the knobs as the learner left them; not asked for where others were
// turned than the task is about.
Mark mark_task(const Lesson& lesson, const Step& step, const Answers& answers,
               const StepAnswer& given, const std::function<SharedSides()>& turned, Grade& grade) {
  const Expression& task = *task_of(step);
  Mark mark;
  mark.step = step.id;
  mark.kind = step.kind;
  mark.truth = task.text();
  if (step.extreme)
    mark.truth += std::string(", with the ") + (step.extreme->most ? "most " : "least ") +
                  step.extreme->side + "." + step.extreme->knob;
  mark.hinted = given.hinted;
  if (given.answer.skipped) mark.mark = MarkKind::kSkipped;
  if (!given.knobs) return mark;
  mark.given = words_of(*given.knobs);
  mark.mark = MarkKind::kWrong;
  if (const auto others = strays(lesson, step, answers.knobs, *given.knobs); !others.empty()) {
    grade.notes.push_back("no point for " + step.id + ": it is done with " +
                          joined(knobs_of_task(lesson, step)) + " alone, and " + joined(others) +
                          (others.size() == 1 ? " was" : " were") + " turned");
    return mark;
  }
  const SharedSides runs = turned();
  if (!is_reached(task, runs.sides())) return mark;
  TurnedKnobs further;
  if (!goes_further(lesson, step, runs.sides(), &further)) {
    mark.mark = MarkKind::kRight;
    return mark;
  }
  grade.notes.push_back("no point for " + step.id + ": the " +
                        (step.extreme->most ? "most" : "least") + " is asked for, and with " +
                        words_of(*step.extreme, further) + " the goal holds, too");
  return mark;
}

void check_steps(const Lesson& lesson, const Answers& answers) {
  std::vector<std::string> ids;
  for (const Step& step : lesson.steps) ids.push_back(step.id);
  for (const StepAnswer& given : answers.steps) {
    const auto found = std::find(ids.begin(), ids.end(), given.step);
    if (found == ids.end())
      throw InputError("the lesson " + lesson.id + " has no step " + given.step +
                       did_you_mean(given.step, ids));
    const auto& question = lesson.steps[static_cast<std::size_t>(found - ids.begin())].question;
    const int options = question ? static_cast<int>(question->options.size()) : 0;
    if (given.answer.option >= 0 && given.answer.option >= options)
      throw InputError("step " + given.step + " has " + std::to_string(options) +
                       " options, and the answer is option " +
                       std::to_string(given.answer.option + 1));
  }
}

void check_allowed(const Lesson& lesson, const TurnedKnobs& knobs) {
  for (const program::Config* config : {&knobs.a, &knobs.b}) {
    if (!config->is_set("machine") || lesson.machines.empty()) continue;
    const std::string& machine = config->word("machine");
    if (std::find(lesson.machines.begin(), lesson.machines.end(), machine) == lesson.machines.end())
      throw InputError("the lesson " + lesson.id + " is not made for the machine " + machine);
  }
}

// What a lesson's own runs may differ in: the rest would be another experiment.
void check_base(const TurnedKnobs& knobs) {
  for (const program::Config* config : {&knobs.a, &knobs.b})
    for (const auto& [name, value] : config->values())
      if (name != "machine" && name != "seed")
        throw InputError("the lesson was run with another " + name +
                         ", so its questions cannot be graded; answers count with the lesson's "
                         "own knobs, on any machine that it allows");
}

std::vector<std::string> notes_on(const Lesson& lesson, const Answers& answers,
                                  const Sides& sides) {
  std::vector<std::string> notes;
  if (answers.knobs.b.is_set("machine"))
    notes.push_back("on the machine " + answers.knobs.b.word("machine"));
  const bool own_seed = answers.knobs.a.is_set("seed") || answers.knobs.b.is_set("seed");
  if (!own_seed) return notes;
  const std::int64_t own = seed_of_student(answers.student, lesson.seeds);
  const std::int64_t a = sides[0]->config.whole("seed"), b = sides[1]->config.whole("seed");
  if (a != own || b != own)
    notes.push_back("the seed is another than that name's (" + std::to_string(own) + ")");
  for (const std::int64_t seed : a == b ? std::vector{a} : std::vector{a, b})
    if (std::string caveat = seed_caveat(lesson, seed); !caveat.empty())
      notes.push_back(std::move(caveat));
  return notes;
}

std::filesystem::path folder_of(const Answers& answers) {
  if (answers.file.empty()) return {};
  const fs::path folder = fs::path(answers.file).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

}  // namespace

const Expression* task_of(const Step& step) {
  if (step.goal) return &*step.goal;
  return step.kind == StepKind::kVary && step.done_expect ? &*step.done_expect : nullptr;
}

std::string_view name_of(MarkKind kind) {
  switch (kind) {
    case MarkKind::kRight:
      return "right";
    case MarkKind::kWrong:
      return "wrong";
    case MarkKind::kSkipped:
      return "skipped";
    case MarkKind::kMissing:
      return "missing";
    case MarkKind::kToRead:
      return "to read";
    case MarkKind::kUndecided:
      break;
  }
  return "undecided";
}

int Grade::count(MarkKind kind) const {
  return static_cast<int>(std::count_if(marks.begin(), marks.end(),
                                        [&](const Mark& mark) { return mark.mark == kind; }));
}

int Grade::points() const {
  return static_cast<int>(std::count_if(marks.begin(), marks.end(), [](const Mark& mark) {
    return mark.counts() && mark.mark == MarkKind::kRight;
  }));
}

int Grade::of() const {
  return static_cast<int>(
      std::count_if(marks.begin(), marks.end(), [](const Mark& mark) { return mark.counts(); }));
}

double Grade::score() const {
  return of() > 0 ? static_cast<double>(points()) / of() : 0;
}

int Grade::predicted() const {
  return static_cast<int>(std::count_if(marks.begin(), marks.end(), [](const Mark& mark) {
    return mark.kind == StepKind::kPredict &&
           (mark.mark == MarkKind::kRight || mark.mark == MarkKind::kWrong);
  }));
}

int Grade::predicted_rightly() const {
  return static_cast<int>(std::count_if(marks.begin(), marks.end(), [](const Mark& mark) {
    return mark.kind == StepKind::kPredict && mark.mark == MarkKind::kRight;
  }));
}

Grader::Grader(GradeRules rules)
    : rules_(std::move(rules)),
      runs_(std::make_unique<SharedRuns>(LessonFolders{rules_.lessons, {}})) {}
Grader::~Grader() = default;

std::size_t Grader::carried_out() const {
  return runs_->carried_out();
}

Grade Grader::grade(const Answers& answers) const try {
  const std::shared_ptr<const Lesson> lesson = runs_->lesson(answers.lesson, folder_of(answers));
  check_steps(*lesson, answers);
  check_base(answers.knobs);
  check_allowed(*lesson, answers.knobs);
  const SharedSides runs = runs_->sides(*lesson, answers.knobs, {});
  const Sides sides = runs.sides();
  Grade grade;
  grade.file = answers.file;
  grade.written = answers.written;
  grade.lesson = lesson->id;
  grade.student = answers.student;
  grade.seed = sides.front()->config.whole("seed");
  grade.notes = notes_on(*lesson, answers, sides);
  for (const Step& step : lesson->steps) {
    const StepAnswer* found = answers.find(step.id);
    const StepAnswer given = found ? *found : StepAnswer{};
    if (step.question) {
      grade.marks.push_back(mark_question(step, given, sides));
      grade.marks.back().weighs = step.kind != StepKind::kPredict || rules_.count_predictions;
    }
    const auto turned = [&] { return runs_->sides(*lesson, answers.knobs, *given.knobs); };
    if (task_of(step))
      grade.marks.push_back(mark_task(*lesson, step, answers, given, turned, grade));
  }
  return grade;
} catch (const InputError& error) {
  throw InputError(named(answers.file, error.what()));
}

AnswersFiles answers_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.emplace_back(path);
      continue;
    }
    const std::vector<fs::path> inside = files_in(path, ".json");
    files.insert(files.end(), inside.begin(), inside.end());
    if (inside.empty())
      throw InputError(path + ": there is no answers file (.json) in this folder");
  }
  AnswersFiles named;
  named.unfinished = std::erase_if(files, is_unfinished);
  named.files = std::move(files);
  if (named.files.empty())
    throw InputError(
        "only attempts that are not finished (*.unfinished.json) are named, and those "
        "do not count");
  return named;
}

}  // namespace trainscope::scenario
