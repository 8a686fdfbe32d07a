#include "ui/app/lesson/prerequisite.h"

#include <algorithm>
#include <string>

namespace trainscope::ui {

Prerequisite prerequisite_of(const scenario::Lesson& lesson,
                             const std::vector<scenario::Lesson>& lessons,
                             const scenario::Records& records) {
  Prerequisite first, missed;
  for (const std::string& id : lesson.requires_ids) {
    const auto found = std::ranges::find(lessons, id, &scenario::Lesson::id);
    if (found == lessons.end()) continue;
    const auto record = records.find(id);
    if (record == records.end() || !record->second.finished) return {&*found, false};
    if (!first.lesson) first = {&*found, true};
    if (!missed.lesson && record->second.missed) missed = {&*found, true};
  }
  return missed.lesson ? missed : first;
}

}  // namespace trainscope::ui
