// What a learner's answers are worth: the lesson is carried out again as they ran it, and every
// answer is held against these runs.
//
// A point a question that is answered rightly, and a point a task (a goal reached by turning the
// knobs that it is about, on the runs with the knobs as they were left). Words are for a person to
// read: they are shown and earn nothing, as do predictions, which are guesses. A question whose
// right answer the runs do not decide is left out of the count.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "scenario/answers.h"

namespace trainscope::scenario {

class SharedRuns;

enum class MarkKind { kRight, kWrong, kSkipped, kMissing, kToRead, kUndecided };
std::string_view name_of(MarkKind kind);  // "right"

struct Mark {
  std::string step;
  StepKind kind = StepKind::kPredict;
  MarkKind mark = MarkKind::kMissing;
  std::string given;  // the answer, as a person reads it
  std::string truth;  // what would have been right
  bool hinted = false;
  bool weighs = true;  // false: shown, and worth nothing

  // The runs say which answer is right.
  bool decided() const { return mark != MarkKind::kToRead && mark != MarkKind::kUndecided; }
  // Counts towards the score.
  bool counts() const { return weighs && decided(); }
};

struct Grade {
  std::string file, lesson, student;
  std::int64_t seed = 0;
  std::vector<Mark> marks;  // of the lesson's questions and tasks, in its order
  // What a lecturer should know: another machine, another's seed, a task done with other knobs.
  std::vector<std::string> notes;
  std::filesystem::file_time_type written = {};  // when its file was

  int points() const;
  int of() const;
  double score() const;  // points of `of`; 0 where nothing counts
  int count(MarkKind kind) const;
  // Predictions that were made, right or wrong: they teach either way. Of these, the right ones.
  int predicted() const;
  int predicted_rightly() const;
};

// What a step asks to make true by turning knobs; null: it asks for nothing of that kind.
const Expression* task_of(const Step& step);

struct GradeRules {
  std::vector<std::filesystem::path> lessons;  // folders with lessons, before the shipped ones
  bool count_predictions = false;              // a point each, as any other question
};

// Grades one file after another, or several at once, and carries equal runs out once. A lesson that
// is none of the shipped ones may stand beside the answers.
class Grader {
 public:
  explicit Grader(GradeRules rules = {});
  ~Grader();

  // Throws InputError for a lesson that does not exist, answers to steps that it does not have, and
  // knobs that it cannot run with.
  Grade grade(const Answers& answers) const;

  std::size_t carried_out() const;  // runs, so far

 private:
  GradeRules rules_;
  std::unique_ptr<SharedRuns> runs_;
};

struct AnswersFiles {
  std::vector<std::filesystem::path> files;
  std::size_t unfinished = 0;  // left out: later attempts that are not finished
};

// The answers files that paths name: files, and all .json of folders, by name. Throws InputError
// for a folder without any, and where all are attempts that are left out.
AnswersFiles answers_files(const std::vector<std::string>& paths);

}  // namespace trainscope::scenario
