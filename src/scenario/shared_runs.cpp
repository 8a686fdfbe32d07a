#include "scenario/shared_runs.h"

#include <algorithm>

namespace trainscope::scenario {

std::shared_ptr<const Lesson> SharedRuns::lesson(const std::string& id,
                                                 const std::filesystem::path& own) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Lesson>& lesson = lessons_[{id, own}];
  if (lesson) return lesson;
  LessonFolders folders = folders_;
  if (!own.empty()) folders.after.push_back(own);
  lesson = std::make_shared<const Lesson>(find_lesson(id, {}, folders));
  return lesson;
}

SharedSides SharedRuns::sides(const Lesson& lesson, const TurnedKnobs& base,
                              const TurnedKnobs& turned) {
  program::Config a = base.a, b = base.b;
  a.override_with(turned.a);
  b.override_with(turned.b);
  return {run("A", lesson.side("A", a)), run("B", lesson.side("B", b))};
}

std::shared_ptr<SharedRuns::Slot> SharedRuns::slot_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  Kept& kept = runs_[key];
  kept.asked = ++asked_;
  if (!kept.slot) kept.slot = std::make_shared<Slot>();
  std::shared_ptr<Slot> slot = kept.slot;
  if (runs_.size() > kMost)
    runs_.erase(std::min_element(
        runs_.begin(), runs_.end(),
        [](const auto& one, const auto& other) { return one.second.asked < other.second.asked; }));
  return slot;
}

// Who asks for a run that another carries out waits for it.
analysis::RunPointer SharedRuns::run(const std::string& label, const program::Config& config) {
  std::string key = label;
  for (const auto& [name, value] : config.values())
    key += "\n" + name + "=" + program::spell(value);
  const std::shared_ptr<Slot> slot = slot_of(key);
  const std::lock_guard lock(slot->mutex);
  if (!slot->run) {
    slot->run = std::make_shared<const analysis::Run>(analysis::run_config(label, config));
    ++carried_out_;
  }
  return slot->run;
}

}  // namespace trainscope::scenario
