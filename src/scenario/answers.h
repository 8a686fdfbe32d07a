// What a learner answered in one lesson, as a JSON file: kept on the learner's own machine, handed
// to a lecturer, graded by carrying the lesson out again. Nothing in it is proof against tampering.
//
//   {"format": 1, "lesson": "pinned-vs-pageable", "student": "Ada", "knobs": {"A": {}, "B": {}},
//    "steps": [{"id": "predict", "option": 2},
//              {"id": "guess", "number": 5300000.0, "unit": "ns", "hinted": true},
//              {"id": "find", "span": {"run": "A", "lane": "host main", "name": "…", "start": 81}},
//              {"id": "say", "text": "…"}, {"id": "again", "skipped": true},
//              {"id": "vary", "knobs": {"A": {}, "B": {"loader.pin_memory": true}}}]}
//
// Options count from 1, in the order of the lesson. Numbers are in the unit of the quantity asked
// for, times in nanoseconds. Knobs are those that differ from the lesson's side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scenario/lesson.h"
#include "scenario/progress.h"

namespace trainscope::scenario {

// A span by what it is, not by its number in one trace.
struct ChosenSpan {
  std::string run;  // "A"
  std::string lane;
  std::string name;
  Nanos start = 0;
};

struct StepAnswer {
  std::string step;  // its id
  Answer answer;     // committed: it was given, or skipped
  std::string unit;  // of a number
  std::optional<ChosenSpan> span;
  std::optional<TurnedKnobs> knobs;  // as they stood when a step was left that asks to turn them
  bool reached = false;  // the window saw the goal reached with them; grading looks again
  bool hinted = false;
};

struct Answers {
  std::string file;                              // that they were read from; empty: none
  std::filesystem::file_time_type written = {};  // when that was last written
  std::string lesson;
  std::string student;
  TurnedKnobs knobs;  // that the lesson itself was run with: another machine, a seed of one's own
  std::vector<StepAnswer> steps;

  // The answer to a step; null: there is none.
  const StepAnswer* find(std::string_view step) const;
  // The same, added where there is none.
  StepAnswer& at(std::string_view step);
};

std::string write_answers(const Answers& answers);

// Throws InputError naming the file and, where it is no JSON, line and column.
Answers parse_answers(std::string_view text, const std::string& file);
Answers load_answers(const std::filesystem::path& file);

// A name as it is compared: the same of "Ada" and " ada ".
std::string plain_name(std::string_view name);

// The seed that a student's runs take, from the name: numbers that cannot be copied from a
// neighbour. The same for "Ada" and " ada ". One of `among`, a lesson's seeds, where it has any.
std::int64_t seed_of_student(std::string_view name, const std::vector<std::int64_t>& among = {});

}  // namespace trainscope::scenario
