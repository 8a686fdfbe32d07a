#include "ui/panels/timelines/path_bar.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

// A run of which the timelines show what it did; while it goes on there is no end to begin from.
RunPointer shown_run(const Workspace& workspace, std::size_t side) {
  if (side >= workspace.sides().size() || !workspace.revealed()) return nullptr;
  const SideModel& model = workspace.sides()[side];
  const bool is_shown =
      model.run && !model.busy && model.view && model.view->trace.get() == model.run->trace.get();
  return is_shown ? model.run : nullptr;
}

// What is being found for nobody.
void give_up(PathFinding& finding) {
  for (std::size_t side = 0; side < finding.found.size(); ++side) {
    if (!finding.found[side].busy()) continue;
    finding.found[side].drop();
    finding.asked[side] = nullptr;
  }
}

std::string words_of(const PanelContext& context, std::size_t side) {
  const SideModel& model = context.workspace.sides()[side];
  const PathFacts* facts = context.attention.path.of(side, model);
  if (facts) return path_words(*facts);
  if (const std::string& fault = context.attention.path.faults.at(side); !fault.empty())
    return fault;
  return shown_run(context.workspace, side) ? "being found" : "there is no run";
}

}  // namespace

void find_paths(const PanelContext& context, PathFinding& finding) {
  PathView& path = context.attention.path;
  if (!path.on) {
    give_up(finding);
    return;
  }
  for (std::size_t side = 0; side < finding.found.size(); ++side) {
    const RunPointer run = shown_run(context.workspace, side);
    if (run != finding.asked[side]) {
      finding.asked[side] = run;
      finding.found[side].drop();
      const TraceView view = run ? context.workspace.sides()[side].view : nullptr;
      if (run)
        finding.found[side].start(
            [run, view](const auto& stopped) { return find_path(run, view, stopped); });
    }
    if (finding.found[side].busy()) context.ask("animate");
    path.sides[side] = finding.found[side].get();
    path.faults[side] = finding.found[side].error();
  }
}

float path_bar_height(const PanelContext& context) {
  return context.attention.path.on ? context.theme.size.button + context.theme.px(4) : 0;
}

void draw_path_bar(const PanelContext& context, float height) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddLine(at, {at.x + width, at.y}, theme.line, theme.size.border);
  const float done = text_size(theme.font.text, theme.size.small, "Done").x + theme.px(16);
  float x = at.x + theme.px(12);
  const float right = at.x + width - theme.px(8) - done;
  const auto say = [&](ImFont* font, Color color, const std::string& words, float end) {
    const std::string shown = shortened(font, theme.size.small, words, std::max(end - x, 0.0F));
    draw_text_middle(draw, font, theme.size.small, x, middle, color, shown);
    x += text_size(font, theme.size.small, shown).x + theme.px(10);
  };
  say(theme.font.strong, theme.text, "Critical path", right);
  const std::size_t sides = context.workspace.sides().size();
  for (std::size_t side = 0; side < sides; ++side) {
    const float end = side + 1 < sides ? x + (right - x) / 2 : right;
    if (sides > 1) say(theme.font.strong, theme.text, SideModel::label_of(side), end);
    const float room = end - theme.px(6);
    const std::string words = words_of(context, side);
    const std::string& fault = context.attention.path.faults.at(side);
    const bool failed = !fault.empty() && words == fault;
    if (failed && ImGui::IsMouseHoveringRect({x, at.y}, {room, at.y + height}))
      ImGui::SetTooltip("%s", fault.c_str());
    say(theme.font.text, failed ? theme.bad : theme.muted,
        shortened_parts(theme.font.text, theme.size.small, words, room - x), room);
  }
  ImGui::SetCursorScreenPos({at.x + width - theme.px(8) - done, middle - theme.size.button / 2});
  ImGui::PushID("path");
  if (button(theme, "Done", ButtonKind::kLink)) context.ask("timeline.critical_path");
  ImGui::PopID();
}

}  // namespace trainscope::ui
