// What a learner's answers are worth: the lesson is carried out again as they ran it, and every
// answer is held against these runs.
//
// A point a question that is answered rightly, and a point a task (a goal reached by turning knobs,
// on the runs with the knobs as they were left). Words are for a person to read: they are shown and
// earn nothing. A question whose right answer the runs do not decide is left out of the count.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenario/answers.h"

namespace trainscope::scenario {

enum class MarkKind { kRight, kWrong, kSkipped, kMissing, kToRead, kUndecided };
std::string_view name_of(MarkKind kind);  // "right"

struct Mark {
  std::string step;
  StepKind kind = StepKind::kPredict;
  MarkKind mark = MarkKind::kMissing;
  std::string given;  // the answer, as a person reads it
  std::string truth;  // what would have been right
  bool hinted = false;

  // Counts towards the score.
  bool counts() const { return mark != MarkKind::kToRead && mark != MarkKind::kUndecided; }
};

struct Grade {
  std::string file, lesson, student;
  std::int64_t seed = 0;
  std::vector<Mark> marks;         // of the lesson's questions and tasks, in its order
  std::vector<std::string> notes;  // what a lecturer should know: another machine, another's seed

  int points() const;
  int of() const;
  double score() const;  // points of `of`; 0 where nothing counts
  int count(MarkKind kind) const;
  // Predictions that were made, right or wrong: they teach either way.
  int predicted() const;
};

// What a step asks to make true by turning knobs; null: it asks for nothing of that kind.
const Expression* task_of(const Step& step);

// Grades one file after another, and carries equal runs out once.
class Grader {
 public:
  Grader();
  ~Grader();

  // Throws InputError for a lesson that does not exist, answers to steps that it does not have, and
  // knobs that it cannot run with.
  Grade grade(const Answers& answers);

 private:
  struct Runs;
  std::unique_ptr<Runs> runs_;
};

// The answers files that paths name: files, and all .json of folders, by name. Throws InputError
// for a path that is not there and for a folder without any.
std::vector<std::filesystem::path> answers_files(const std::vector<std::string>& paths);

}  // namespace trainscope::scenario
