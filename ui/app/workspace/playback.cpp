#include "ui/app/workspace/playback.h"

#include <algorithm>

#include "scenario/grade.h"
#include "ui/app/views/moment.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

void set_offset(Workspace& workspace, Nanos offset) {
  const std::vector<SideModel>& sides = workspace.sides();
  if (sides.size() != 2) return;
  const Nanos a = sides[0].view ? sides[0].view->trace->end() : 0;
  const Nanos b = sides[1].view ? sides[1].view->trace->end() : 0;
  workspace.playhead.offset = std::clamp(offset, -b, a);
}

bool can_align_steps(const Workspace& workspace) {
  return workspace.sides().size() == 2 &&
         std::ranges::all_of(workspace.sides(), [](const SideModel& side) {
           return side.view && has_steps(*side.view);
         });
}

namespace {

bool goes_by_step(const Workspace& workspace) {
  return workspace.playhead.by_step && can_align_steps(workspace);
}

}  // namespace

Nanos playhead_of(const Workspace& workspace, std::size_t side) {
  const Playhead& playhead = workspace.playhead;
  if (side == 0) return playhead.time;
  if (!goes_by_step(workspace)) return std::max<Nanos>(0, playhead.time - playhead.offset);
  return same_step(*workspace.sides()[0].view, *workspace.sides()[side].view, playhead.time);
}

Nanos playhead_at(const Workspace& workspace, std::size_t side, Nanos time) {
  if (side == 0) return time;
  if (!goes_by_step(workspace)) return time + workspace.playhead.offset;
  return same_step(*workspace.sides()[side].view, *workspace.sides()[0].view, time);
}

Nanos playhead_end(const Workspace& workspace) {
  return goes_by_step(workspace) ? end_of(*workspace.sides()[0].view) : end_of_sides(workspace);
}

Nanos end_of_sides(const Workspace& workspace) {
  Nanos end = 0;
  const std::vector<SideModel>& sides = workspace.sides();
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (sides[i].view)
      end = std::max(end, end_of(*sides[i].view) + (i > 0 ? workspace.playhead.offset : 0));
  return end;
}

std::optional<Nanos> pause_time(const Workspace& workspace) {
  if (!workspace.lesson() || !workspace.revealed()) return std::nullopt;
  const scenario::Step& step = workspace.lesson()->step();
  if (step.pause_at == scenario::PauseAt::kNowhere) return std::nullopt;
  const std::vector<SideModel>& sides = workspace.sides();
  const std::size_t side = step.focus->run == "B" ? 1 : 0;
  if (side >= sides.size() || !sides[side].run || !sides[side].view) return std::nullopt;
  const analysis::Run& run = *sides[side].run;
  const auto meant = scenario::shown_span(*step.focus, run);
  if (!meant) return std::nullopt;
  const trace::Span& span = run.trace->spans()[*meant];
  return playhead_at(workspace, side,
                     step.pause_at == scenario::PauseAt::kSpanStart ? span.start : span.end());
}

}  // namespace trainscope::ui
