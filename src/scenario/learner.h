// What this machine keeps of a learner: the answers to each lesson, and how each went. Files in a
// folder; nothing leaves the machine.
//
//   learner.json            {"format": 1, "lessons": {"sdpa": {"finished": true, "points": 3, …}}}
//   answers/sdpa.json       the last attempt that was finished, or the first one under way
//   answers/sdpa.unfinished.json   a later attempt, until it is finished
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scenario/answers.h"
#include "scenario/course.h"

namespace trainscope::scenario {

class Learner {
 public:
  // An empty folder: nothing is read or kept on disk. What cannot be read counts as not there, and
  // says so in `fault`.
  explicit Learner(std::filesystem::path folder = {});

  const Records& records() const { return records_; }

  // Takes over how a lesson went so far. Throws InputError when the folder cannot be written; the
  // record is taken over all the same.
  void keep(const Answers& answers, const LessonRecord& record);

  // The attempt at a lesson that was begun and not finished; nothing where there is none, or where
  // it cannot be read.
  std::optional<Answers> under_way(const std::string& lesson) const;
  // Where the answers to a lesson are; empty: nowhere.
  std::filesystem::path file_of(const std::string& lesson) const;
  // A sentence about what could not be read; empty: all could.
  const std::string& fault() const { return fault_; }

 private:
  void read();
  void write() const;

  std::filesystem::path folder_;
  Records records_;
  std::string fault_;
};

// The records as they stand in their file, and back. Throws InputError naming the file.
std::string write_records(const Records& records);
Records read_records(const std::string& text, const std::string& file);

}  // namespace trainscope::scenario
