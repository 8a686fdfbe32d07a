// The choices that a learner got wrong, each until it is made rightly: in its own lesson again, or
// when a later one asks it anew.
//
// What would be right is not kept. The earlier lesson's two runs are carried out again, as the
// learner ran them, and decide as they did there: so a verdict is never older than its lesson, and
// its words are in the language that is read now.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views/lesson_sheet.h"
#include "base/stopped.h"
#include "scenario/answers.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// An option of a lesson's question that a learner chose.
struct Choice {
  std::string lesson, step;  // by their ids
  int option = 0;            // from 0
  TurnedKnobs knobs;         // that the lesson was run with beyond its own
  bool operator==(const Choice&) const = default;
};
using Choices = std::vector<Choice>;  // at most one of a question, the one to ask first in front

// As the lesson's runs decided.
struct JudgedChoice {
  Choice choice;
  bool right = false;
};

// A wrong one takes its place at the end; of a question that is answered rightly none stays.
void take(Choices& missed, const JudgedChoice& judged);

// A choice that is asked anew where it is missed: of a prediction or of the last question. What an
// observation asks is read off panels, which a later lesson does not show.
bool comes_back(const Step& step);

// The step of a choice; null: the lesson does not ask that any more.
const Step* step_of(const Choice& choice, const Lesson& lesson);

// How many of them these lessons can ask.
int to_revisit(const Choices& missed, const std::vector<Lesson>& lessons);

// A missed question, ready to be asked: which option is right, and why the others are not.
struct AskedAgain {
  Choice missed;
  std::string title;    // of its lesson
  std::string setting;  // the lesson's first card: what A and B are; Markdown
  std::string caveat;   // why the texts need not hold for its runs; empty: they do
  analysis::SheetStep question;
};

// Carries the lesson out as it was. Nothing where it does not ask that any more, where the runs do
// not decide it, and where `stopped` says so. Throws InputError for what cannot be run.
std::optional<AskedAgain> ask_again(const Lesson& lesson, const Choice& missed,
                                    const Stopped& stopped);

// The first of them that can be asked, with its texts in a language; lessons that are gone are
// passed over. Where none is asked and one could not be carried out, throws what that one threw.
std::optional<AskedAgain> first_to_ask(const Choices& missed, std::string_view language,
                                       const Stopped& stopped);

}  // namespace trainscope::scenario
