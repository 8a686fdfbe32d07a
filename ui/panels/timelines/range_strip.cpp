#include "ui/panels/timelines/range_strip.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

constexpr float kMostOfRoom = 0.34F;

float head_height(const Theme& theme) {
  return theme.size.button + theme.px(8);
}

float row_height(const Theme& theme) {
  return theme.size.small + theme.px(9);
}

// While one drags across very many spans, the sums wait for the mouse to be let go.
bool is_too_much_for_a_drag(const TimelineInput& input) {
  constexpr std::uint32_t kMost = 400'000;
  std::uint32_t spans = 0;
  for (const TimelineSide& side : input.sides) spans += side.index ? side.index->span_count : 0;
  return spans > kMost;
}

void refresh(RangeStrip& strip, const TimelineInput& input, const TimelineState& state) {
  bool same = strip.range == state.range;
  for (std::size_t i = 0; i < std::min<std::size_t>(input.sides.size(), 2); ++i)
    same = same && strip.of[i] == input.sides[i].index && strip.hidden[i] == input.sides[i].hidden;
  if (same) return;
  if (state.drag == TimelineState::Drag::kRange && is_too_much_for_a_drag(input)) {
    strip.rows.clear();
    strip.range.reset();
    return;
  }
  strip.range = state.range;
  for (std::size_t i = 0; i < std::min<std::size_t>(input.sides.size(), 2); ++i) {
    strip.of[i] = input.sides[i].index;
    strip.hidden[i] = input.sides[i].hidden;
  }
  strip.rows = range_rows(input, *state.range);
}

// Which columns there is room for.
struct Columns {
  std::size_t sides = 1;
  bool bars = true, spans = true, bytes = false;
  int count() const {
    return 1 + static_cast<int>(sides) * (2 + static_cast<int>(spans) + static_cast<int>(bytes));
  }
};

float figure_width(const Theme& theme, std::string_view widest) {
  return text_size(theme.font.mono, theme.size.label, widest).x + theme.px(6);
}

constexpr std::string_view kBusy = "999.99 ms", kShare = "100 %", kSpans = "9999999",
                           kBytes = "1023.9 MiB";

Columns columns_for(const Theme& theme, const RangeStrip& strip, std::size_t sides, float width) {
  Columns columns;
  columns.sides = sides;
  for (const RangeRow& row : strip.rows)
    for (const auto& cell : row.cells) columns.bytes |= cell && !cell->bytes.empty();
  const auto wanted = [&] {
    const float pad = theme.px(16);
    float side = figure_width(theme, kBusy) + figure_width(theme, kShare) + 2 * pad;
    if (columns.bars) side += theme.px(60);
    if (columns.spans) side += figure_width(theme, kSpans) + pad;
    if (columns.bytes) side += figure_width(theme, kBytes) + pad;
    return theme.px(150) + side * static_cast<float>(sides);
  };
  for (bool* optional : {&columns.bytes, &columns.spans, &columns.bars})
    if (wanted() > width) *optional = false;
  return columns;
}

void figure(const Theme& theme, Color color, const std::string& words) {
  const float width = text_size(theme.font.mono, theme.size.label, words).x;
  const float room = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.mono, theme.size.label,
                   at.x + std::max(room, width), at.y + theme.size.small / 2, color, words, 1);
  ImGui::Dummy({1, theme.size.small});
}

// A solid bar is A's, an outlined one B's, as everywhere.
void share_cell(const Theme& theme, const RangeCell& cell, std::size_t side, bool bar) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, half = theme.px(4);
  const float text_room = figure_width(theme, kShare), middle = at.y + theme.size.small / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float length = std::max(room - text_room, 0.0F);
  if (bar && length > theme.px(12)) {
    const float right = at.x + length * static_cast<float>(cell.share);
    draw->AddRectFilled({at.x, middle - half}, {at.x + length, middle + half},
                        faded(theme.text, 0.08F), half / 2);
    if (side == 0)
      draw->AddRectFilled({at.x, middle - half}, {right, middle + half}, theme.muted, half / 2);
    else if (right - at.x > theme.px(2))
      draw->AddRect({at.x, middle - half}, {right, middle + half}, theme.muted, half / 2,
                    theme.px(1.5F));
  }
  figure(theme, theme.text, fmt::format("{:.0f} %", cell.share * 100));
}

void draw_cells(const Theme& theme, const RangeRow& row, std::size_t side, const Columns& columns) {
  const auto& cell = row.cells[side];
  const auto column = [&](const std::string& words, Color color) {
    ImGui::TableNextColumn();
    figure(theme, color, words);
  };
  ImGui::TableNextColumn();
  if (cell) share_cell(theme, *cell, side, columns.bars);
  column(cell ? cell->busy : "", theme.text);
  if (columns.spans) column(cell ? cell->spans : "", theme.muted);
  if (columns.bytes) column(cell ? cell->bytes : "", theme.muted);
}

void set_up_columns(const Theme& theme, const Columns& columns) {
  const float pad = theme.px(2);
  ImGui::TableSetupColumn("lane", ImGuiTableColumnFlags_WidthStretch, 1.4F);
  for (std::size_t i = 0; i < columns.sides; ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (columns.bars)
      ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthStretch, 1.0F);
    else
      ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed,
                              figure_width(theme, kShare) + pad);
    ImGui::TableSetupColumn("busy", ImGuiTableColumnFlags_WidthFixed,
                            figure_width(theme, kBusy) + pad);
    if (columns.spans)
      ImGui::TableSetupColumn("spans", ImGuiTableColumnFlags_WidthFixed,
                              figure_width(theme, kSpans) + pad);
    if (columns.bytes)
      ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed,
                              figure_width(theme, kBytes) + pad);
    ImGui::PopID();
  }
}

void head_word(const Theme& theme, const std::string& words) {
  const float room = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.label, at.x + room,
                   at.y + theme.size.small / 2, theme.faint,
                   shortened(theme.font.text, theme.size.label, words, room), 1);
  ImGui::Dummy({1, theme.size.small});
}

void draw_head_row(const Theme& theme, const Columns& columns) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  text(theme.font.text, theme.size.label, theme.faint, "lane");
  for (std::size_t i = 0; i < columns.sides; ++i) {
    const std::string side = columns.sides < 2 ? "" : i == 0 ? "A " : "B ";
    ImGui::TableNextColumn();
    head_word(theme, side + "busy");
    ImGui::TableNextColumn();
    head_word(theme, "time");
    if (columns.spans) ImGui::TableNextColumn(), head_word(theme, "spans");
    if (columns.bytes) ImGui::TableNextColumn(), head_word(theme, "copied");
  }
}

void draw_rows(const Theme& theme, const RangeStrip& strip, const Columns& columns) {
  draw_head_row(theme, columns);
  for (const RangeRow& row : strip.rows) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const float room = ImGui::GetContentRegionAvail().x;
    text(theme.font.text, theme.size.small, theme.muted,
         shortened(theme.font.text, theme.size.small, row.lane, room));
    for (std::size_t i = 0; i < columns.sides; ++i) draw_cells(theme, row, i, columns);
  }
}

// "Selected 2.31 ms" and where; to the right what can be done with it, as far as there is room.
void draw_head(const PanelContext& context, const TimeRange& range) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, middle = at.y + theme.size.button / 2;
  const std::string length = format_nanos(static_cast<double>(range.end - range.start));
  constexpr std::pair<const char*, const char*> kButtons[] = {
      {"Clear", "timeline.leave"}, {"Zoom to it", "timeline.zoom_to"}, {"Play it", "play.toggle"}};
  float right = at.x + width;
  const float least = at.x + text_size(theme.font.strong, theme.size.small, length).x + theme.px(8);
  for (const auto& [label, action] : kButtons) {
    const float wanted = small_link_width(theme, label);
    if (right - wanted < least) break;
    right -= wanted;
    ImGui::SetCursorScreenPos({right, at.y});
    if (button(theme, label, ButtonKind::kLink)) context.ask(action);
  }
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text_middle(draw, theme.font.strong, theme.size.small, at.x, middle, theme.text, length);
  const float left = least + theme.px(6);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, middle, theme.muted,
                   shortened(theme.font.text, theme.size.label, range_words(range),
                             std::max(right - left - theme.px(8), 0.0F)));
}

}  // namespace

float range_strip_height(const PanelContext& context, RangeStrip& strip, const TimelineInput& input,
                         float room) {
  const Theme& theme = context.theme;
  const TimelineState& state = context.attention.timeline;
  const bool shown = std::any_of(input.sides.begin(), input.sides.end(),
                                 [](const TimelineSide& side) { return side.trace && side.index; });
  if (!state.range || !shown) return 0;
  refresh(strip, input, state);
  const float pads = theme.px(10);
  const float least = head_height(theme) + pads;
  if (room < least * 3) return 0;
  const float most = std::max(room * kMostOfRoom, least);
  const float rows = static_cast<float>(strip.rows.size() + 1) * row_height(theme);
  const float wanted = least + (strip.rows.empty() ? 0 : rows + theme.px(4));
  // Fewer than two lanes are not worth a table that scrolls.
  return most < least + 3 * row_height(theme) ? least : std::min(wanted, most);
}

void draw_range_strip(const PanelContext& context, const RangeStrip& strip, float height) {
  const Theme& theme = context.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddLine(at, {at.x + width, at.y}, theme.line, theme.size.border);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(4)));
  if (ImGui::BeginChild("##range", {width, height},
                        ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened)) {
    draw_head(context, *context.attention.timeline.range);
    const float room = height - head_height(theme) - theme.px(10);
    const std::size_t sides = std::min<std::size_t>(context.workspace.sides().size(), 2);
    if (!strip.rows.empty() && room > row_height(theme)) {
      const Columns columns = columns_for(theme, strip, sides, width);
      ImGui::SetCursorScreenPos({at.x + theme.px(12), at.y + theme.px(4) + head_height(theme)});
      ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(theme.px(6), theme.px(4)));
      if (ImGui::BeginTable("##lanes", columns.count(), ImGuiTableFlags_ScrollY, {0, room})) {
        ImGui::TableSetupScrollFreeze(0, 1);
        set_up_columns(theme, columns);
        draw_rows(theme, strip, columns);
        ImGui::EndTable();
      }
      ImGui::PopStyleVar();
    }
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
