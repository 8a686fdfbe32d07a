// Lessons and their runs for many graders at once: each run is carried out once for all who ask.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "analysis/runs/run.h"
#include "scenario/answers.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// Both runs of a lesson, for as long as it is held.
struct SharedSides {
  analysis::RunPointer a, b;
  Sides sides() const { return {a.get(), b.get()}; }
};

class SharedRuns {
 public:
  explicit SharedRuns(LessonFolders folders) : folders_(std::move(folders)) {}

  // A lesson by id; looked for in `own` too, after all other folders. Throws InputError.
  std::shared_ptr<const Lesson> lesson(const std::string& id, const std::filesystem::path& own);

  // With the knobs of `base`, and those of `turned` over them. Throws InputError.
  SharedSides sides(const Lesson& lesson, const TurnedKnobs& base, const TurnedKnobs& turned);

  std::size_t carried_out() const { return carried_out_; }

 private:
  struct Slot {
    std::mutex mutex;
    analysis::RunPointer run;  // null: nobody has carried it out yet
  };
  struct Kept {
    std::shared_ptr<Slot> slot;
    std::uint64_t asked = 0;  // when it was last asked for, counted in questions
  };

  std::shared_ptr<Slot> slot_of(const std::string& key);
  analysis::RunPointer run(const std::string& label, const program::Config& config);

  // Where each learner has a seed of their own no two share any, so that not all are kept: some are
  // hundreds of megabytes.
  static constexpr std::size_t kMost = 16;

  LessonFolders folders_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::filesystem::path>, std::shared_ptr<const Lesson>> lessons_;
  std::map<std::string, Kept> runs_;
  std::uint64_t asked_ = 0;
  std::atomic<std::size_t> carried_out_ = 0;
};

}  // namespace trainscope::scenario
