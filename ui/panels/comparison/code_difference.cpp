#include "ui/panels/comparison/code_difference.h"

#include <algorithm>

#include "base/text.h"
#include "ui/app/views/code_difference.h"
#include "ui/panels/comparison/source_text.h"

namespace trainscope::ui {
namespace {

const scenario::Focus* code_focus(const scenario::Step& step) {
  const auto names = [](const scenario::Focus& focus) {
    return focus.line > 0 || !focus.code.empty();
  };
  if (step.focus && names(*step.focus)) return &*step.focus;
  if (step.question && step.question->span && names(*step.question->span))
    return &*step.question->span;
  return nullptr;
}

// The line of a side that the step points at; 0: none.
std::size_t line_of_step(const Workspace& workspace, std::size_t side) {
  const LessonModel* lesson = workspace.lesson();
  const scenario::Focus* focus = lesson ? code_focus(lesson->step()) : nullptr;
  if (!focus || (!focus->run.empty() && focus->run != workspace.sides()[side].label)) return 0;
  if (focus->code.empty()) return static_cast<std::size_t>(focus->line);
  const auto lines = scenario::lines_with(focus->code, workspace.sides()[side].outline->listing);
  return lines.empty() ? 0 : static_cast<std::size_t>(lines.front());
}

void draw_row(const Theme& theme, const CodeRow& row) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float apart = theme.px(22), left = theme.px(74);
  const float width = ImGui::GetContentRegionAvail().x;
  const SourceRows source = source_rows(theme, row.text, width - left - theme.px(8));
  const float height = apart * static_cast<float>(source.rows.size());
  const bool differs = row.of == CodeRow::Of::kA || row.of == CodeRow::Of::kB;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (row.lit || differs)
    draw->AddRectFilled(at, {at.x + width, at.y + height},
                        row.lit ? theme.accent_soft : theme.warn_soft);
  if (row.lit) draw->AddRectFilled(at, {at.x + theme.px(3), at.y + height}, theme.accent);
  const float middle = at.y + apart / 2;
  if (differs) {
    const bool of_a = row.of == CodeRow::Of::kA;
    draw_side_mark(draw, theme, {at.x + theme.px(10), middle}, of_a ? 'A' : 'B', of_a);
  }
  const std::string number = row.of == CodeRow::Of::kGap ? "" : std::to_string(row.number);
  draw_text_middle(draw, theme.font.mono, theme.size.label, at.x + theme.px(62), middle,
                   row.lit ? theme.accent : theme.faint, number, 1);
  if (row.of == CodeRow::Of::kGap)
    draw_dashed_line(draw, {at.x + left, middle}, {at.x + width - theme.px(16), middle}, theme.line,
                     theme.size.border, theme.px(4), theme.px(4));
  draw_source(theme, {at.x + left, middle - theme.size.label / 2}, apart, source);
  ImGui::Dummy({width, row.of == CodeRow::Of::kGap ? apart / 2 : height});
}

// Where the lines are the same it is the knobs alone that differ.
std::string same_words(const Workspace& workspace) {
  const std::string names =
      joined(program::differing_knobs(workspace.sides()[0].config, workspace.sides()[1].config));
  const std::string same = "A and B run the same lines";
  return names.empty() ? same + "." : same + "; they differ in " + names + ".";
}

void draw_rows(const PanelContext& context) {
  const auto& sides = context.workspace.sides();
  const auto rows =
      code_difference(sides[0].outline->listing.lines, sides[1].outline->listing.lines,
                      line_of_step(context.workspace, 0), line_of_step(context.workspace, 1));
  const bool differ = std::any_of(rows.begin(), rows.end(), [](const CodeRow& row) {
    return row.of == CodeRow::Of::kA || row.of == CodeRow::Of::kB;
  });
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  for (const CodeRow& row : rows) {
    draw_row(context.theme, row);
    if (!row.lit || context.attention.followed_line == row.number) continue;
    context.attention.followed_line = static_cast<std::uint16_t>(row.number);
    ImGui::SetScrollHereY(0.5F);
  }
  ImGui::PopStyleVar();
  if (!differ)
    text(context.theme.font.text, context.theme.size.small, context.theme.muted,
         same_words(context.workspace), true);
}

}  // namespace

bool names_code(const scenario::Step& step) {
  return code_focus(step) != nullptr;
}

void draw_code_difference(const PanelContext& context, const char* name, bool* open) {
  const auto& sides = context.workspace.sides();
  PanelOptions options;
  options.open = open;
  if (begin_panel(context, name, options)) {
    const bool written = sides.size() == 2 && sides[0].outline && sides[1].outline;
    if (written && !context.workspace.hides("code"))
      draw_rows(context);
    else
      text(context.theme.font.text, context.theme.size.small, context.theme.muted,
           written ? "The code is shown once the question is answered."
                   : "The listings are being written.",
           true);
  }
  end_panel();
}

}  // namespace trainscope::ui
