// A lesson: a short experiment with a question, two configurations and one surprise. Read from
// scenarios/ID.toml; the vocabulary is closed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "program/config.h"
#include "scenario/expression.h"
#include "scenario/glossary.h"
#include "scenario/lesson_sweep.h"

namespace trainscope::scenario {

// What a lesson may call panels, to point at them and to hide them: "copy-path".
const std::vector<std::string>& panel_names();

// Which of the spans that are called alike: all; those that began as soon as they were launched; or
// those for most of whose time their GPU computed nothing.
enum class WhichSpans { kAll, kLaunched, kExposed };

// Where to look: a span of one side's timeline (by its name, by the line of the listing that caused
// it, or by both), or a panel, a knob, a line of the listing.
struct Focus {
  std::string run;   // "A" or "B"; empty: no span is meant
  std::string lane;  // a lane's name
  std::string span;  // a span's name
  WhichSpans which = WhichSpans::kAll;
  int nth = 0;
  double pad = 0.2;  // of the span's length, left and right
  std::string panel;
  std::string knob;
  int line = 0;      // of the listing, by number
  std::string code;  // or by what stands on it: "loss.backward()"
  SourcePlace place;
};

enum class QuestionKind { kChoice, kNumber, kFindSpan, kText };

struct Option {
  std::string text;
  std::optional<Expression> correct_when;
  std::string why;  // why one would think so, and what speaks against it
};

struct Question {
  QuestionKind kind = QuestionKind::kChoice;
  std::vector<Option> options;       // of a choice
  std::optional<Expression> answer;  // of a number
  double tolerance = 0.25;           // relative
  std::string unit;                  // of a number that has none: "steps"
  std::optional<Focus> span;         // of find-span
  std::string text_answer;           // of text: shown to compare with
  std::string depends;               // of a choice: what decides, where machines answer differently
  SourcePlace place;
};

// Where playing pauses in a step, of the span that it points at.
enum class PauseAt { kNowhere, kSpanStart, kSpanEnd };

enum class StepKind { kScene, kPredict, kRun, kObserve, kExplain, kVary, kRecap };
std::string_view name_of(StepKind kind);   // "predict"
std::string_view title_of(StepKind kind);  // "Predict"

// Knobs of each side that differ from what the lesson sets.
struct TurnedKnobs {
  program::Config a, b;
  bool operator==(const TurnedKnobs&) const = default;

  const program::Config& of(std::string_view label) const { return label == "B" ? b : a; }
};

// What a task asks for the least of, or the most, beside its goal: `least =
// "A.loader.num_workers"`.
struct KnobExtreme {
  bool most = false;
  std::string side;  // "A", "B", or "common": of both, turned alike
  std::string knob;

  bool is_of(std::string_view label) const { return side == label || side == "common"; }
};

struct Step {
  std::string id;
  StepKind kind = StepKind::kScene;
  std::string text;               // Markdown with {placeholders}
  std::vector<std::string> hide;  // panels and lanes
  std::string hint;
  std::string explain;  // shown once the question is answered
  std::optional<Question> question;
  std::optional<Focus> focus;
  PauseAt pause_at = PauseAt::kNowhere;
  std::string done_action;  // an action's id
  std::optional<Expression> done_expect;
  std::optional<Expression> goal;       // of the problem level
  std::vector<std::string> goal_knobs;  // to do with what is asked; empty: those the lesson shows
  // Knobs with which the goal, or what done_when expects, holds: of a vary step, which begins with
  // the lesson's own.
  std::optional<TurnedKnobs> solution;
  std::optional<KnobExtreme> extreme;  // done only with the least, or the most (extreme.h)
  SourcePlace place;
};

struct Expectation {
  Expression expression;
  std::optional<double> sim_min, sim_max, real_min, real_max;
  SourcePlace place;
};

struct Lesson {
  std::filesystem::path file;
  std::map<std::string, SourcePlace, std::less<>> places;  // of the keys at its top
  std::string id, title, topic, track, level, claim, notes, limits;
  std::vector<std::string> requires_ids, terms, knobs, machines;
  int minutes = 0;
  // Those that students' runs take, where the numbers that are computed teach the lesson by no
  // other; empty: any does.
  std::vector<std::int64_t> seeds;
  program::Config common, side_a, side_b;  // machine and seed of the lesson are in common
  // What other seeds than the lesson's own have instead of its knobs, in turn: with the seed after
  // its own the first of these, and so on; then its own again.
  std::vector<TurnedKnobs> draws;
  std::vector<SourcePlace> draw_places;  // of each
  std::vector<Step> steps;
  std::vector<Expectation> expectations;
  std::optional<LessonSweep> sweep;  // shown by steps that point at the panel "sweep"
  std::vector<Term> glossary;        // of its terms
  // What several places say about one thing, by claim: "pin_memory=True makes transfers faster".
  std::string heard;
  // Of the texts, and how many of them have no translation and stay English (translation.h).
  std::string language = "en";
  std::size_t untranslated = 0;
  std::string translation_fault;  // why there is none, as a sentence; empty: nothing is wrong
  std::map<std::string, std::string, std::less<>> words;  // short ones, by the English

  // Where a key at its top stands, else where the file begins.
  SourcePlace place_of(std::string_view key) const;

  // A short word of the window or of a handout in the lesson's language; else as it stands.
  std::string say(std::string_view english) const;
  // What stands between a number's ones and tenths: "," where the words have an entry "." that is.
  char decimal() const { return say(".").front(); }

  // The config of a side ("A" or "B"), as the seed in `flags` draws it, with `flags` over
  // everything.
  program::Config side(std::string_view label, const program::Config& flags = {}) const;
  // The knobs of `config` that are others than that side's with the same seed, and the seed where
  // it is another than the lesson's: side(label, turned(label, config)) is `config` again.
  program::Config turned(std::string_view label, const program::Config& config) const;
  // What that seed draws; null: the lesson as it stands.
  const TurnedKnobs* drawn(std::int64_t seed) const;
};

// Why what is learnt need not show with a seed, where the lesson lists others; empty: it does.
std::string seed_caveat(const Lesson& lesson, std::int64_t seed);

// Its sides name their machines: it is about these two, and chooses them itself.
bool compares_machines(const Lesson& lesson);

// The step that runs both sides, from 0; the number of steps where there is none.
std::size_t run_step(const Lesson& lesson);

// Throws InputError naming file, line, column, what is wrong and what to write.
Lesson load_lesson(const std::filesystem::path& file);

// The same for who corrects a file: of each of its parts (of the head, the configs, a step, an
// expectation) the first fault is told, in such a sentence. Where there are any, the lesson lacks
// those parts. Throws InputError for a file that is no lesson at all.
Lesson load_lesson(const std::filesystem::path& file, std::vector<std::string>& faults);

// Folders with lessons beside the shipped ones. Of two that are called alike the first is meant.
struct LessonFolders {
  std::vector<std::filesystem::path>
      before;                                // looked in before the shipped ones: somebody's choice
  std::vector<std::filesystem::path> after;  // once there is none: where other files happen to be
};

// A lesson by id or path, in a language ("de"; empty: English). Throws InputError with "did you
// mean", and for a folder that is not there.
Lesson find_lesson(const std::string& id_or_file, std::string_view language = {},
                   const LessonFolders& folders = {});

// All shipped lessons in the order of the course (by track, then by what they require).
std::vector<Lesson> all_lessons(std::string_view language = {});

// The same where a file may be damaged: those that can be read, and a sentence of each other.
struct Shelf {
  std::vector<Lesson> lessons;
  std::vector<std::string> unreadable;
};
Shelf readable_lessons(std::string_view language = {}, const LessonFolders& folders = {});

// A config file: knobs alone, as [config.*] of a lesson holds them. A path in either is one from
// the folder of the file.
program::Config load_config(const std::filesystem::path& file);

// The same for who corrects a file: each knob that is wrong is told, in such a sentence, and left
// out. Throws InputError for a file that is no config at all.
program::Config load_config(const std::filesystem::path& file, std::vector<std::string>& faults);

}  // namespace trainscope::scenario
