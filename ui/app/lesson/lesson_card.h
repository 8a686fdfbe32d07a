// What a lesson's card says at its step: texts with their numbers filled in, options with their
// marks, the verdict. Pure; the panel only draws it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/app/lesson/lesson_ending.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

struct OptionCard {
  std::string text;
  int number = 0;  // of the question's options
  bool chosen = false;
  bool right = false;      // known to be right: only once the result may be seen
  bool wrong = false;      // chosen, and known to be wrong
  std::string_view tag{};  // what the words stand beside: "your guess", in English; empty: nothing
};

// How a number is asked for: value in the box times factor is in the expected quantity's unit.
struct Entry {
  std::string unit;  // "ms", "GB/s", "steps"
  double factor = 1;
};

struct QuestionCard {
  scenario::QuestionKind kind = scenario::QuestionKind::kChoice;
  std::vector<OptionCard> options;
  Entry entry;
  bool open = true;  // may still be answered
  bool skipped = false;
  bool decided = true;        // false: not exactly one option is right on these runs
  std::optional<bool> right;  // known once the result may be seen
  std::string verdict;        // Markdown
};

// A prediction that is looked back at: its question, how it turned out, and why.
struct LookBack {
  std::string text;  // Markdown
  QuestionCard question;
  std::string explain;  // Markdown
};

struct LessonCard {
  std::string kind;    // "Predict"
  std::string caveat;  // why the text need not hold on this machine; empty: it does
  std::string text;    // Markdown
  std::optional<QuestionCard> question;
  std::vector<LookBack> recaps;  // the predictions that were made, right after the run
  std::string hint;              // Markdown
  std::string explain;           // Markdown; empty until it may be seen
  std::string goal;              // "done" or what is to be reached; empty: none
  std::string goal_words;        // Markdown: what is asked for, and what the runs have of it
  bool goal_reached = false;
  std::string error;                   // a fault of the lesson, as a sentence
  std::optional<LessonEnding> ending;  // why figures are missing that no fault of it leaves out
  std::string left_open;  // what a measured run does not tell, and the text leaves open
  int minutes_left = 0;
};

LessonCard card_of(const Workspace& workspace);

// The steps whose prediction is made, in their order.
std::vector<std::size_t> predicted_steps(const LessonModel& model);

// Whose answer an option is, and what became of it; empty: it is neither chosen nor right. `open`:
// it may still be answered. Words to be said in the lesson's language.
std::string_view option_tag(const OptionCard& option, std::string_view kind, bool open, bool room);

// Above the verdict on a question of a step of that kind ("predict"): what the run decides, or, of
// what is said back, whether it is right. Words to be said in the lesson's language.
std::string_view verdict_title(std::string_view kind, bool right);

// How the answer to a question for a number is typed in.
Entry entry_for(const scenario::Question& question);

}  // namespace trainscope::ui
