#include "ui/panels/comparison/compare.h"

#include <algorithm>
#include <cmath>

#include "ui/panels/comparison/waterfall.h"

namespace trainscope::ui {
namespace {

// Where the table's columns stand.
struct Columns {
  float name, name_end, a, b, ratio, bars, end;  // a, b, ratio: right edges
  bool with_ratio = true;
};

using Figure = std::string CompareRow::*;

float widest(const Theme& theme, const std::vector<CompareRow>& rows, Figure figure) {
  float width = 0;
  for (const CompareRow& row : rows)
    width = std::max(width, text_size(theme.font.mono, theme.size.label, row.*figure).x);
  return width;
}

// The figures flush right, as near to one another as can be; the ratio goes where the name would
// have no room.
void stand_closely(const Theme& theme, Columns& columns, float a, float b, float ratio) {
  const float gap = theme.px(14), all = columns.end - columns.name;
  columns.with_ratio = all - (a + b + ratio + 3 * gap) >= theme.px(90);
  columns.ratio = columns.end;
  columns.b = columns.with_ratio ? columns.ratio - ratio - gap : columns.end;
  columns.a = columns.b - b - gap;
  columns.name_end = columns.a - a - gap;
  columns.bars = columns.end;
}

Columns columns_of(const Theme& theme, const std::vector<CompareRow>& rows, float left,
                   float width) {
  const float figure = theme.px(112), gap = theme.px(14);
  const float a = widest(theme, rows, &CompareRow::a), b = widest(theme, rows, &CompareRow::b);
  const float ratio = widest(theme, rows, &CompareRow::ratio);
  Columns columns{};
  columns.name = left + theme.px(8);
  columns.end = left + width - theme.px(10);
  const float name_width = std::clamp(width * 0.30F, theme.px(150), theme.px(235));
  columns.a = columns.name + name_width + figure * 0.75F;
  columns.name_end = columns.a - a - gap;
  columns.b = columns.a + std::max(figure, b + gap);
  columns.ratio = columns.b + std::max(theme.px(68), ratio + gap);
  columns.bars = columns.ratio + theme.px(24);
  if (columns.ratio > columns.end) stand_closely(theme, columns, a, b, ratio);
  return columns;
}

void head_row(const Theme& theme, const Columns& columns) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme.px(22), middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto word = [&](float x, const char* text, float align) {
    draw_text_middle(draw, theme.font.text, theme.size.label, x, middle, theme.faint, text, align);
  };
  word(columns.name, "metric", 0);
  word(columns.a, "A", 1);
  word(columns.b, "B", 1);
  if (columns.with_ratio) word(columns.ratio, "B / A", 1);
  ImGui::Dummy({columns.end - at.x, height});
}

// A solid, B outlined: told apart without colour.
void side_bars(const Theme& theme, const Columns& columns, const CompareRow& row, float middle) {
  const float room = columns.end - columns.bars;
  if (room < theme.px(40)) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float thick = theme.px(7), gap = theme.px(1.5F), corner = theme.px(2);
  const float least = theme.px(2);
  const float a = std::max(room * row.share_a, least), b = std::max(room * row.share_b, least);
  draw->AddRectFilled({columns.bars, middle - gap - thick}, {columns.bars + a, middle - gap},
                      theme.text, corner);
  draw->AddRect({columns.bars + 0.5F, middle + gap + 0.5F},
                {columns.bars + b - 0.5F, middle + gap + thick - 0.5F}, theme.text, corner,
                theme.px(1.2F));
}

void metric_row(const Theme& theme, const Columns& columns, const CompareRow& row, bool toned) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme.px(29), middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (toned)
    draw->AddRectFilled({columns.name - theme.px(8), at.y},
                        {columns.end + theme.px(6), at.y + height}, theme.lane_tone, theme.px(3));
  const float room = columns.name_end - columns.name;
  draw_text_middle(draw, theme.font.text, theme.size.small, columns.name, middle, theme.text,
                   shortened(theme.font.text, theme.size.small, row.metric->label, room));
  const auto figure = [&](float right, const std::string& text, Color color) {
    draw_text_middle(draw, theme.font.mono, theme.size.label, right, middle, color, text, 1);
  };
  figure(columns.a, row.a, theme.text);
  figure(columns.b, row.b, theme.text);
  if (columns.with_ratio) figure(columns.ratio, row.ratio, theme.muted);
  if (row.ratio != "?" && !row.ratio.empty()) side_bars(theme, columns, row, middle);
  ImGui::PushID(row.metric);
  ImGui::InvisibleButton("row", {columns.end - at.x, height});
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s: %s", row.metric->name.c_str(), row.metric->help.c_str());
  ImGui::PopID();
}

void draw_table(const Theme& theme, const Comparison& comparison, float width) {
  ImGui::BeginChild("##table", {width, 0}, ImGuiChildFlags_None);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const bool scrolls = static_cast<float>(comparison.rows.size()) * theme.px(29) + theme.px(22) >
                       ImGui::GetContentRegionAvail().y;
  const float room = ImGui::GetContentRegionAvail().x - (scrolls ? 0 : theme.px(4));
  const Columns columns = columns_of(theme, comparison.rows, ImGui::GetCursorScreenPos().x, room);
  head_row(theme, columns);
  bool toned = false;
  for (const CompareRow& row : comparison.rows) metric_row(theme, columns, row, toned = !toned);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

void ghost_bar(const Theme& theme, const Box& box, const std::string& words) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = mixed(theme.panel, theme.faint, 0.55F);
  const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
  for (int i = 0; i < 4; ++i)
    draw_dashed_line(draw, corners[i], corners[(i + 1) % 4], color, theme.size.border, theme.px(5),
                     theme.px(4));
  draw_text_middle(draw, theme.font.text, theme.size.small, box.centre().x, box.centre().y,
                   theme.faint, words, 0.5F);
}

// Before the result, or while a side is missing.
void draw_unknown_waterfall(const Theme& theme, const std::string& words) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  draw_text(ImGui::GetWindowDrawList(), theme.font.strong, theme.size.small,
            {at.x, at.y + theme.px(3)}, theme.muted, "Where the difference went");
  const float gap = theme.px(12), inset = theme.px(16);  // as of the bars that will stand here
  const float width = std::min((room.x - inset - 2 * gap) / 3, theme.px(210));
  const Box bars{{at.x, at.y + theme.px(46)}, {at.x + 3 * width, at.y + room.y - theme.px(30)}};
  if (bars.height() < theme.px(30)) return ImGui::Dummy(room);
  // All alike: their heights say nothing.
  for (int i = 0; i < 3; ++i) {
    const float left = at.x + static_cast<float>(i) * (width + gap);
    ghost_bar(theme, {{left, bars.min.y}, {left + width, bars.max.y}}, words);
  }
  ImGui::Dummy(room);
}

void refresh(const Workspace& workspace, ComparePanel& panel) {
  const auto& sides = workspace.sides();
  if (panel.a == sides[0].run && panel.b == sides[1].run) return;
  panel.a = sides[0].run;
  panel.b = sides[1].run;
  panel.comparison = {};
  if (panel.a && panel.b)
    panel.comparison = compare_runs(*panel.a, *panel.b,
                                    workspace.lesson() ? &workspace.lesson()->lesson : nullptr);
}

void draw_part(const Theme& theme, const Workspace& workspace, const ComparePanel& panel,
               bool known, ComparePart part) {
  const bool both = known && panel.a && panel.b;
  const float inset = theme.px(10), width = ImGui::GetContentRegionAvail().x;
  const float wide = std::max(width * 0.435F, std::min(theme.px(520), width * 0.6F));
  const float left = part == ComparePart::kBoth ? wide : width - inset;
  const ImVec2 origin = ImGui::GetWindowPos();
  if (part != ComparePart::kWaterfall) {
    ImGui::SetCursorPos({inset * 0.5F, inset * 0.8F});
    // Nor before a room has heard of its predictions.
    if ((both && !owes_verdict(workspace)) || !workspace.lesson())
      draw_table(theme, panel.comparison, left);
    else
      draw_table(theme, unknown_comparison(workspace.lesson()->lesson), left);
  }
  if (part == ComparePart::kTable) return;
  const float beside = part == ComparePart::kBoth ? left + theme.px(34) : theme.size.pad;
  ImGui::SetCursorScreenPos({origin.x + beside, origin.y + inset * 0.8F});
  const bool in_turn = workspace.present.on && workspace.lesson() && !workspace.forked();
  if (both && in_turn)
    draw_waterfall(theme, panel.comparison, workspace.present.causes);
  else if (both)
    draw_waterfall(theme, panel.comparison);
  else
    draw_unknown_waterfall(theme, known ? "a side is missing" : "?");
}

}  // namespace

void draw_compare(const PanelContext& context, ComparePanel& panel, const char* name, bool* open,
                  ComparePart part) {
  const Workspace& workspace = context.workspace;
  const bool known = workspace.revealed() && !workspace.hides("compare");
  if (known) refresh(workspace, panel);
  const bool both = known && panel.a && panel.b;
  PanelOptions options;
  options.open = open;
  options.padded = false;
  options.scrolls = false;
  const bool told = both && !owes_verdict(workspace);
  options.secondary = told ? panel.comparison.headline : known ? "" : "after the run";
  if (begin_panel(context, name, options)) draw_part(context.theme, workspace, panel, known, part);
  end_panel();
}

}  // namespace trainscope::ui
