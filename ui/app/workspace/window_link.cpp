#include "ui/app/workspace/window_link.h"

#include <algorithm>

#include "program/config_difference.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

bool can_link(const Workspace& workspace) {
  return workspace.screen() != Screen::kShelf && !workspace.sides().empty() &&
         std::ranges::all_of(workspace.sides(), [](const SideModel& side) {
           return side.file.empty() && side.outline;
         });
}

namespace {

// Those of a side that are not the lesson's; outside lessons those that were set at all.
program::Config knobs_of(const LessonModel* lesson, const SideModel& side) {
  if (lesson) return lesson->lesson.turned(side.label, side.config);
  return program::difference(program::Config(), side.config);
}

}  // namespace

scenario::Link link_of(const Workspace& workspace) {
  scenario::Link link;
  if (!can_link(workspace)) return link;
  const LessonModel* lesson = workspace.lesson();
  if (lesson) {
    link.lesson = lesson->lesson.id;
    link.step = lesson->progress.step() + 1;
  }
  const std::vector<SideModel>& sides = workspace.sides();
  link.knobs.a = knobs_of(lesson, sides[0]);
  if (sides.size() == 2) link.knobs.b = knobs_of(lesson, sides[1]);
  return link;
}

}  // namespace trainscope::ui
