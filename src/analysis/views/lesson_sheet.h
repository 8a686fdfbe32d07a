// A lesson that has run, as plain words in the order in which they are read: for a page on paper or
// a screen. Texts are Markdown with their numbers filled in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

// Of a question whose right answer the runs do not decide.
inline constexpr const char* kUndecided =
    "On these runs not exactly one of the options is right, so this question has no answer here.";

struct SheetOption {
  std::string text;
  bool right = false;
  std::string why;  // why one would think so, and what speaks against it
};

// Of which runs a column of a solution's table is: a side, before and after its knobs were turned.
struct SheetColumn {
  std::string side;  // "A"
  std::string when;  // "before", "after"; empty: nothing of it is turned
};

// A row of it: a knob that is turned, or a metric.
struct SheetChange {
  std::string name;  // a knob's, as it is; what a metric is called
  bool is_knob = false;
  std::vector<std::string> values;  // by column, as they are read; empty: it does not apply
};

// With which knobs a task is done, and what they change.
struct SheetSolution {
  std::vector<SheetColumn> columns;
  std::vector<SheetChange> changes;  // the knobs first
  trace::OriginKind origin = trace::OriginKind::kSimulated;
};

enum class SheetAnswer : std::uint8_t {
  kNone,    // the step asks nothing
  kChoice,  // one of the options
  kNumber,
  kSpan,  // to be found in the timelines
  kWords,
};

// One card of the lesson.
struct SheetStep {
  std::string kind;   // "predict", a lesson's word
  std::string title;  // "Predict"
  std::string text;
  std::string asked;  // the same with blanks for what only the runs say: to work on
  std::string hint;
  std::string explain;                    // after the answer
  std::optional<SheetSolution> solution;  // of a task; its explanation is of these runs then
  bool of_own_run = false;  // it speaks of knobs that a learner turned: sentences with numbers of
                            // that run, which nobody made, are left out of it
  SheetAnswer asks = SheetAnswer::kNone;
  std::vector<SheetOption> options;  // of a choice
  std::string answer;                // of a number, a span, words: what is right, as it is read
  std::string depends;               // what decides, where machines answer differently
  bool decided = true;               // false: not exactly one option is right on these runs
  bool before_run = false;           // it is read before anything is shown of the runs
};

struct LessonSheet {
  std::string language = "en";  // of the texts: a tag of BCP 47
  std::string id, title, topic, track, level;
  int minutes = 0;
  std::string caveat;  // why the texts need not hold for these runs; empty: they do
  std::string heard;   // what the lesson puts to the test, as one hears it said
  std::vector<SheetStep> steps;
  std::vector<SheetStep> looked_back;  // the questions of before the run, once all is known
  std::vector<std::pair<std::string, std::string>> terms;  // a word, and what it means
  std::vector<std::string> metrics;  // by name: those that the lesson is about, in these runs
  std::string limits;                // what the model leaves out
  std::string notes;                 // the lecturer's
  // The sheet's own words in its language, by the English ones; what is not there stays English.
  std::map<std::string, std::string, std::less<>> words;

  std::string say(const std::string& english) const {
    const auto found = words.find(english);
    return found == words.end() ? english : found->second;
  }
};

}  // namespace trainscope::analysis
