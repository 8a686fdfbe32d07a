#include "ui/panels/comparison/side_data.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/metrics/number_types.h"
#include "analysis/views/memory_history.h"

namespace trainscope::ui {
namespace {

template <typename Has>
bool any_side(const Workspace& workspace, std::string_view panel, const Has& has) {
  for (std::size_t i = 0; i < workspace.sides().size(); ++i)
    if (const trace::Trace* trace = shown_trace(workspace, i, panel))
      if (has(workspace.sides()[i], trace)) return true;
  return false;
}

// A run that computes losses does so at its first step or, with a loss read now and then, soon.
bool has_a_loss(const SideModel& side, const trace::Trace* trace) {
  if (is_training(side)) return true;
  const std::uint32_t steps = std::min<std::uint32_t>(trace->steps().size(), 64);
  for (std::uint32_t i = 0; i < steps; ++i)
    if (trace->steps()[i].has_loss) return true;
  return !trace->evaluations().empty();
}

void stand_beside(const char* other) {
  if (const ImGuiWindow* window = ImGui::FindWindowByName(other); window && window->DockId != 0)
    ImGui::SetNextWindowDockID(window->DockId, ImGuiCond_FirstUseEver);
}

}  // namespace

const trace::Trace* shown_trace(const Workspace& workspace, std::size_t side,
                                std::string_view panel) {
  const LessonModel* lesson = workspace.lesson();
  const bool open = workspace.revealed() || (lesson && lesson->run_asked);
  if (!open || side >= workspace.sides().size() || workspace.hides(panel)) return nullptr;
  const TraceView& view = workspace.sides()[side].view;
  return view ? view->trace.get() : nullptr;
}

RunPointer shown_run(const Workspace& workspace, std::size_t side, std::string_view panel) {
  const trace::Trace* trace = shown_trace(workspace, side, panel);
  if (!trace) return nullptr;
  const RunPointer& run = workspace.sides()[side].run;
  return run && run->trace.get() == trace ? run : nullptr;
}

bool has_scaling_data(const SideModel& side, const trace::Trace* trace) {
  // Before the first row of another training: as it was.
  if (trace && trace->steps().empty() && is_training(side) && side.run)
    trace = side.run->trace.get();
  if (!trace || trace->steps().empty()) return false;
  const trace::TrainingStep& first = trace->steps()[0];
  if (std::isfinite(first.used_scale)) return true;
  return analysis::trains_narrow(side.config) && first.has_gradients;
}

bool has_loss(const Workspace& workspace) {
  return any_side(workspace, "loss", has_a_loss);
}

bool has_loss_scaling(const Workspace& workspace) {
  return any_side(workspace, "loss-scaling", has_scaling_data);
}

bool has_memory(const Workspace& workspace) {
  return any_side(workspace, "memory", [](const SideModel&, const trace::Trace* trace) {
    return analysis::counts_memory(*trace) && trace->end() > 0;
  });
}

PanelOptions chart_panel(const char* beside, bool* open, std::string secondary) {
  stand_beside(beside);
  PanelOptions options;
  options.open = open;
  options.padded = false;
  options.scrolls = false;
  options.secondary = std::move(secondary);
  return options;
}

Box padded_room(const Theme& theme, float above, float below) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  return {{at.x + theme.size.pad, at.y + above},
          {at.x + size.x - theme.size.pad, at.y + size.y - below}};
}

float draw_side_title(const Theme& theme, const Workspace& workspace, std::size_t side, ImVec2 at) {
  if (workspace.sides().size() < 2) return at.x;
  return at.x +
         draw_side_mark(ImGui::GetWindowDrawList(), theme, at, side == 0 ? 'A' : 'B', side == 0) +
         theme.px(9);
}

void draw_sentence(const Theme& theme, const Box& box, Color color, const std::string& sentence) {
  if (box.width() <= 0 || box.height() <= 0) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->PushClipRect(box.min, box.max, true);
  draw->AddText(theme.font.text, theme.size.small, box.min, color, sentence.data(),
                sentence.data() + sentence.size(), box.width());
  draw->PopClipRect();
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(box.min, box.max))
    ImGui::SetTooltip("%s", sentence.c_str());
}

Box draw_faults(const PanelContext& context, const Box& room,
                const std::array<std::string, 2>& by_side, bool alone) {
  const Theme& theme = context.theme;
  const std::size_t sides = context.workspace.sides().size();
  std::string all;
  float lines = 0;
  for (std::size_t side = 0; side < std::min(sides, by_side.size()); ++side) {
    if (by_side[side].empty()) continue;
    if (!all.empty()) all += "\n";
    if (sides > 1) all += SideModel::label_of(side) + ": ";
    all += by_side[side];
    lines += 2;
  }
  if (all.empty()) return room;
  const float tall = lines * 1.3F * theme.size.small;
  const float top = alone ? room.min.y : std::max(room.min.y, room.max.y - tall);
  draw_sentence(theme, {{room.min.x, top}, room.max}, theme.bad, all);
  return {room.min, {room.max.x, std::max(room.min.y, top - theme.px(6))}};
}

}  // namespace trainscope::ui
