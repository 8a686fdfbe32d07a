// Whose answers are given here, and what is kept of them on disk.
#pragma once

#include <filesystem>
#include <string>

#include "scenario/learner.h"
#include "scenario/link.h"
#include "ui/app/lesson/lesson_model.h"

namespace trainscope::ui {

class LearnerRecord {
 public:
  // Lessons opened from now on take the seed of that name.
  void set_student(std::string name) { student_ = std::move(name); }
  const std::string& student() const { return student_; }

  // At first nothing is kept on disk.
  const scenario::Learner& learner() const { return learner_; }
  scenario::Learner& learner() { return learner_; }
  void keep_in(std::filesystem::path folder);

  // Another attempt is open.
  void begin() { kept_ = {}; }
  // The attempt is by this student, with the knobs that the lesson was opened with.
  bool is_of_this(const std::optional<scenario::Answers>& answers,
                  const scenario::TurnedKnobs& opened_with) const;
  // Keeps the answers where something was answered since this was last called; a room's are
  // nobody's, and do not become part of the learner's record. Throws Error where they cannot be
  // written.
  void keep(LessonModel& lesson, const scenario::TurnedKnobs& opened_with, bool of_a_room);
  // The answer to a question that was asked again. Throws Error as above.
  void keep(const scenario::JudgedChoice& again) { learner_.keep(again); }

 private:
  // What says that there is something new to keep.
  struct Given {
    std::size_t committed = 0, noted = 0, step = 0;
    bool revealed = false;
    bool operator==(const Given&) const = default;
  };

  std::string student_;
  scenario::Learner learner_;
  Given kept_;
};

}  // namespace trainscope::ui
