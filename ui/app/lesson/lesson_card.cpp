#include "ui/app/lesson/lesson_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "analysis/views/lesson_sheet.h"
#include "base/error.h"
#include "scenario/goal_words.h"
#include "scenario/machine_caveat.h"
#include "scenario/task_knobs.h"

namespace trainscope::ui {
namespace {

using scenario::Answer;
using scenario::Question;
using scenario::QuestionKind;
using scenario::Sides;
using scenario::Step;
using scenario::StepKind;

// Runs that have a config and no result yet: for numbers that the learner may already know.
struct ConfigsAlone {
  std::vector<analysis::Run> runs;
  Sides sides;

  explicit ConfigsAlone(const std::vector<SideModel>& models) : runs(models.size()) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      runs[i].label = models[i].label;
      runs[i].config = models[i].config;
      sides.push_back(&runs[i]);
    }
  }
};

class Filler {
 public:
  Filler(const Workspace& workspace, LessonCard& card) : configs_(workspace.sides()), card_(&card) {
    const LessonModel& model = *workspace.lesson();
    lesson_ = &model.lesson;
    known_ = model.progress.revealed();
    const bool varies = model.step().kind == StepKind::kVary;
    own_ = workspace.lesson_sides();
    sides_ = varies ? workspace.current_sides() : own_;
    if (varies && sides_.empty()) sides_ = own_;
  }

  const Sides& sides() const { return sides_; }
  bool known() const { return known_ && !sides_.empty(); }

  std::string operator()(const std::string& text) { return filled(text, sides_); }
  // What a step asks stays as it was asked, whatever knobs are turned since.
  std::string as_asked(const std::string& text) { return filled(text, own_); }
  std::string say(std::string_view english) const { return lesson_->say(english); }
  void note(const Error& error) {
    if (std::ranges::any_of(sides_,
                            [](const analysis::Run* run) { return run->ending.has_value(); })) {
      lacks_figures_ = true;
      return;
    }
    const bool measured = std::any_of(sides_.begin(), sides_.end(), [](const analysis::Run* run) {
      return run->trace && trace::is_measured(*run->trace);
    });
    (measured ? card_->left_open : card_->error) = error.what();
  }
  // Of runs that ended before they were through.
  bool lacks_figures() const { return lacks_figures_; }
  // Of the lesson's runs, whatever machine a side was turned to since.
  std::string caveat() const {
    return scenario::machine_caveat(*lesson_, own_.empty() ? configs_.sides : own_);
  }

 private:
  std::string filled(const std::string& text, const Sides& sides) {
    const char decimal = lesson_->decimal();
    if (!known_ || sides.empty()) return scenario::fill_in_known(text, configs_.sides, decimal);
    try {
      return scenario::fill_in(text, sides, decimal);
    } catch (const Error& error) {
      note(error);
      return scenario::fill_in_known(text, sides, decimal);
    }
  }

  ConfigsAlone configs_;
  Sides own_;  // the lesson's runs; empty: not there yet
  Sides sides_;
  LessonCard* card_;
  const scenario::Lesson* lesson_ = nullptr;
  bool known_ = false;
  bool lacks_figures_ = false;
};

void add_verdict(QuestionCard& card, const Question& question, const Answer& answer,
                 Filler& filler) {
  try {
    const scenario::Verdict verdict = scenario::judge(question, answer, filler.sides());
    card.decided = verdict.decided;
    if (!card.decided) {
      card.verdict = filler.say(analysis::kUndecided);
      return;
    }
    card.verdict = question.kind == QuestionKind::kNumber
                       ? fmt::format(fmt::runtime(filler.say("The run says {}.")),
                                     filler("{" + question.answer->text() + "}") +
                                         (card.entry.unit.empty() || question.unit.empty()
                                              ? ""
                                              : " " + card.entry.unit))
                       : filler(verdict.message);
    if (question.kind == QuestionKind::kText) return;
    card.right = verdict.right && !answer.skipped;
    if (question.kind == QuestionKind::kNumber && *card.right)
      card.verdict = filler.say("Near enough.") + " " + card.verdict;
    for (OptionCard& option : card.options) {
      option.right = option.number == verdict.right_option;
      option.wrong = option.chosen && !option.right;
    }
  } catch (const Error& error) {
    filler.note(error);
  }
}

QuestionCard question_card(const Step& step, const Answer& answer, Filler& filler, bool room) {
  const Question& question = *step.question;
  QuestionCard card;
  card.kind = question.kind;
  card.open = !answer.committed;
  card.skipped = answer.skipped;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    OptionCard option;
    option.text = filler(question.options[i].text);
    option.number = static_cast<int>(i);
    option.chosen = option.number == answer.option;
    card.options.push_back(option);
  }
  if (question.answer) {
    card.entry = entry_for(question);
    card.entry.unit = filler.say(card.entry.unit);
  }
  if (answer.committed && filler.known()) add_verdict(card, question, answer, filler);
  for (OptionCard& option : card.options)
    option.tag = option_tag(option, name_of(step.kind), card.open, room);
  return card;
}

// Predictions are looked back at on the run step, once it is over, and on the one after it. A room
// sees the lanes first. What nobody guessed is told to a room alone: there it was asked aloud.
void add_recaps(LessonCard& card, const Workspace& workspace, Filler& filler) {
  const LessonModel& model = *workspace.lesson();
  const Present& present = workspace.present;
  const std::size_t now = model.progress.step();
  const bool at_run = model.step().kind == StepKind::kRun;
  const bool after_run = now > 0 && model.lesson.steps[now - 1].kind == StepKind::kRun;
  if (!filler.known() || (!at_run && !after_run)) return;
  if (owes_verdict(workspace)) return;
  for (const std::size_t at : predicted_steps(model)) {
    const Step& step = model.lesson.steps[at];
    const Answer& answer = model.progress.answer(at);
    if (at >= now || (answer.skipped && !present.on)) continue;
    card.recaps.push_back(
        {filler(step.text), question_card(step, answer, filler, present.on), filler(step.explain)});
  }
}

bool is_true(const scenario::Expression& expression, const Sides& sides) {
  try {
    return !sides.empty() && expression.evaluate(sides).truth();
  } catch (const Error&) {
    return false;
  }
}

std::string as_code(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "`" : ", `") + name + "`";
  return list;
}

void add_goal(LessonCard& card, const Workspace& workspace) {
  const scenario::Lesson& lesson = workspace.lesson()->lesson;
  const Step& step = workspace.lesson()->step();
  const auto& wanted = step.goal ? step.goal : step.done_expect;
  if (!wanted || !workspace.lesson()->progress.revealed()) return;
  card.goal_reached = is_true(*wanted, workspace.current_sides());
  card.goal = lesson.say(card.goal_reached ? "Reached." : "Not there yet.");
  for (const std::string& line :
       scenario::goal_words(lesson, *wanted, workspace.lesson_sides(), workspace.current_sides()))
    card.goal_words += (card.goal_words.empty() ? "" : "\n\n") + line;
  if (workspace.solving()) {
    card.goal_reached = false;
    card.goal = lesson.say(step.extreme->most ? "Looking for the largest value that will do."
                                              : "Looking for the smallest value that will do.");
    return;
  }
  if (!card.goal_reached) return;
  const auto others = strays(lesson, step, workspace.opened_with(), workspace.turned_knobs());
  if (others.empty()) {
    const std::optional<bool> further = workspace.goes_further();
    if (further && !*further) return;
    card.goal_reached = false;
    const bool most = step.extreme->most;
    card.goal = lesson.say(further ? most ? "That does, and more would do, too."
                                          : "That does, and less would do, too."
                           : most  ? "That does. Would more do, too?"
                                   : "That does. Would less do, too?");
    return;
  }
  card.goal_reached = false;
  card.goal = fmt::format(fmt::runtime(lesson.say("Here only {} is to be turned; set {} back.")),
                          as_code(knobs_of_task(lesson, step)), as_code(others));
}

bool explain_may_be_seen(const LessonCard& card, const LessonModel& model) {
  const Step& step = model.step();
  if (step.question) {
    const bool answered = model.progress.answer(model.progress.step()).committed;
    return answered && (step.kind != StepKind::kPredict || model.progress.revealed());
  }
  return card.goal.empty() || card.goal_reached;
}

int minutes_left(const LessonModel& model) {
  const auto steps = static_cast<double>(model.progress.steps());
  const double left = 1 - static_cast<double>(model.progress.step()) / steps;
  return std::max(1, static_cast<int>(std::lround(model.lesson.minutes * left)));
}

}  // namespace

std::vector<std::size_t> predicted_steps(const LessonModel& model) {
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < model.lesson.steps.size(); ++i) {
    const Step& step = model.lesson.steps[i];
    if (step.kind == StepKind::kPredict && step.question && model.progress.answer(i).committed)
      made.push_back(i);
  }
  return made;
}

std::string_view option_tag(const OptionCard& option, std::string_view kind, bool open, bool room) {
  const bool guess = kind == name_of(StepKind::kPredict);
  if (!option.chosen) return !option.right ? "" : guess ? "what happened" : "right";
  if (open) return "";
  if (room && option.right) return guess ? "the room's guess: right" : "the room's answer: right";
  if (room) return guess ? "the room's guess" : "the room's answer";
  if (option.right) return guess ? "your guess: right" : "your answer: right";
  return guess ? "your guess" : "your answer";
}

std::string_view verdict_title(std::string_view kind, bool right) {
  if (kind == name_of(StepKind::kRecap)) return right ? "Right." : "Not this one.";
  return right ? "That is what happened." : "Not on this machine.";
}

Entry entry_for(const scenario::Question& question) {
  const std::string& text = question.answer->text();
  // What a quotient counts, its expression does not say.
  if (!question.unit.empty() || text.find("ratio(") != text.npos) return {question.unit, 1};
  static const std::regex name(R"([AB]\.([a-z_0-9.]+))");
  std::smatch match;
  if (!std::regex_search(text, match, name)) return {"", 1};
  for (const analysis::Metric& metric : analysis::metrics()) {
    if (metric.name != match[1]) continue;
    if (metric.unit == "ns") return {"ms", 1e6};
    if (metric.unit == "B/s") return {"GB/s", 1e9};
    if (metric.unit == "B") return {"MiB", 0x1p20};
    if (metric.share) return {"%", 0.01};
    return {metric.unit == "1" ? "" : metric.unit, 1};
  }
  return {"", 1};
}

LessonCard card_of(const Workspace& workspace) {
  const LessonModel& model = *workspace.lesson();
  const Step& step = model.step();
  LessonCard card;
  Filler filler(workspace, card);
  card.kind = model.lesson.say(scenario::title_of(step.kind));
  card.caveat = filler.caveat();
  card.text = filler.as_asked(step.text);
  card.hint = filler.as_asked(step.hint);
  card.minutes_left = minutes_left(model);
  if (step.question)
    card.question = question_card(step, model.progress.answer(model.progress.step()), filler,
                                  workspace.present.on);
  add_recaps(card, workspace, filler);
  add_goal(card, workspace);
  if (!step.explain.empty() && explain_may_be_seen(card, model))
    card.explain = filler(step.explain);
  // Where the lesson is at home it may be about such an end.
  if (filler.lacks_figures() || (filler.known() && !card.caveat.empty()))
    card.ending = lesson_ending(workspace, filler.sides());
  return card;
}

}  // namespace trainscope::ui
