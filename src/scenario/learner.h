// What this machine keeps of a learner: the answers to each lesson, how each went, and what was
// missed. Files in a folder; nothing leaves the machine.
//
//   learner.json            {"format": 1, "lessons": {"sdpa": {"finished": true, "points": 3, …}},
//                            "missed": [{"format": 1, "lesson": "sdpa", "knobs": {…},
//                                        "steps": [{"id": "predict", "option": 1}]}]}
//                           each that was missed as an answers file of one step; there may be none
//   answers/sdpa.json       the last attempt that was finished, or the first one under way
//   answers/sdpa.unfinished.json   a later attempt, until it is finished; also one that was begun
//                           where answers/sdpa.json is there and learner.json says nothing of it
//
// What cannot be read is kept beside it under the name with .bad at its end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/answers.h"
#include "scenario/course.h"
#include "scenario/missed.h"

namespace trainscope::scenario {

// What learner.json holds.
struct LearnerFile {
  Records records;
  Choices missed;
  int left_out = 0;  // that were missed and cannot be read
};

class Learner {
 public:
  // An empty folder: nothing is read or kept on disk. What cannot be read counts as not there, and
  // says so in `fault`.
  explicit Learner(std::filesystem::path folder = {});

  const Records& records() const { return kept_.records; }
  // To be asked again, the first in front.
  const Choices& missed() const { return kept_.missed; }

  // Takes over how a lesson went so far, and the choices that its runs have decided since it was
  // last kept. Throws InputError when the folder cannot be written; all is taken over all the same.
  void keep(const Answers& answers, const LessonRecord& record,
            const std::vector<JudgedChoice>& decided = {});
  // The same of a question that was asked again. The lesson's record stays as it is.
  void keep(const JudgedChoice& asked_again);

  // The attempt at a lesson that was begun and not finished; nothing where there is none, or where
  // it cannot be read.
  std::optional<Answers> under_way(const std::string& lesson);
  // The one that was finished last; nothing in the same cases.
  std::optional<Answers> finished(const std::string& lesson);
  // Where the answers to a lesson are; empty: nowhere.
  std::filesystem::path file_of(const std::string& lesson) const;
  // A sentence about what could not be read; empty: all could.
  const std::string& fault() const { return fault_; }
  // The same, once.
  std::string take_fault() { return std::exchange(fault_, {}); }

 private:
  void read();
  void take_over_file();
  void write() const;
  bool is_later(const std::string& lesson, const LessonRecord& record) const;
  std::optional<Answers> attempt(const std::string& lesson, bool unfinished);

  std::filesystem::path folder_;
  LearnerFile kept_;
  std::string fault_;
  bool left_out_ = false;  // something that was missed; it is told once
};

// Where a student's is kept within a folder that several share, by the name; nobody's: in that
// folder itself. The same for "Ada" and " ada ".
std::filesystem::path folder_of_student(const std::filesystem::path& folder,
                                        const std::string& student);

// A file of a later attempt that is not finished, by its name: beside it the finished one stands.
bool is_unfinished(const std::filesystem::path& answers_file);

// As it stands in the file, and back. Throws InputError naming the file; what was missed and cannot
// be read is left out.
std::string write_learner(const LearnerFile& learner);
LearnerFile read_learner(const std::string& text, const std::string& file);

}  // namespace trainscope::scenario
