#include "ui/panels/comparison/code.h"

#include <algorithm>
#include <utility>

#include "ui/panels/comparison/source_text.h"
#include "ui/panels/timelines/details.h"

namespace trainscope::ui {
namespace {

constexpr float kSwitchWidth = 30;  // of A or B in the head, at scale 1
constexpr float kListingTop = 4;

// Of a line of the listing, in a panel with so much room: lines stand closer where there is little.
float row_height(const Theme& theme, float room) {
  return theme.px(room < theme.px(180) ? 18 : room < theme.px(220) ? 20 : 23);
}

// The innermost span with a line on a host lane at that time.
std::uint16_t line_at(const IndexedTrace& view, Nanos time) {
  for (const trace::LaneIndex& lane : view.index.lanes) {
    if (view.trace->lanes()[lane.lane].kind != trace::LaneKind::kHostThread) continue;
    for (auto row = lane.rows.rbegin(); row != lane.rows.rend(); ++row) {
      const std::size_t at = trace::first_ending_after(*view.trace, *row, time);
      if (at >= row->spans.size()) continue;
      const trace::Span& span = view.trace->spans()[row->spans[at]];
      if (span.start <= time && span.line > 0) return span.line;
    }
  }
  return 0;
}

// Brings a line that begins at `top`, and ends where one writes now, into sight when it becomes
// another. The first one that is followed comes as from the listing's top, wherever that is now.
void follow(Attention& attention, std::uint16_t number, float top, float height) {
  const bool first = std::exchange(attention.followed_line, number) == 0;
  const float scrolled = first ? ImGui::GetScrollY() : 0;
  const float above = top - ImGui::GetWindowPos().y + scrolled;
  if (above < 0 || above + height > ImGui::GetWindowHeight())
    ImGui::SetScrollHereY(0.5F);
  else if (first)
    ImGui::SetScrollY(0);
}

void draw_line(const PanelContext& context, std::size_t number, const std::string& line, bool lit,
               float row) {
  const Theme& theme = context.theme;
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = theme.size.label, left = theme.px(46);
  const SourceRows source = source_rows(theme, line, width - left - theme.px(8));
  const float height = row * static_cast<float>(source.rows.size());
  ImGui::PushID(static_cast<int>(number));
  ImGui::InvisibleButton("line", {std::max(width, 1.0F), height});
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  // The playhead walks the listing.
  if (lit && context.attention.followed_line != number)
    follow(context.attention, static_cast<std::uint16_t>(number), at.y, height);
  if (hovered) context.attention.code_line = static_cast<std::uint16_t>(number);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (lit || hovered)
    draw->AddRectFilled(at, {at.x + width, at.y + height},
                        lit ? theme.accent_soft : mixed(theme.panel, theme.text, 0.05F));
  if (lit) draw->AddRectFilled(at, {at.x + theme.px(3), at.y + height}, theme.accent);
  draw_text_middle(draw, theme.font.mono, size, at.x + theme.px(30), at.y + row / 2,
                   lit ? theme.accent : theme.faint, std::to_string(number), 1);
  draw_source(theme, {at.x + left, at.y + (row - size) / 2}, row, source);
}

// Switches between A's and B's listing, in the panel's head.
void side_switch(const PanelContext& context, ImVec2 right_middle) {
  const Theme& theme = context.theme;
  const float width = theme.px(kSwitchWidth), height = theme.px(20);
  for (std::size_t i = 0; i < 2; ++i) {
    const float x = right_middle.x - width * static_cast<float>(2 - i);
    ImGui::SetCursorScreenPos({x, right_middle.y - height / 2});
    if (press_area(i == 0 ? "side A" : "side B", {width, height})) context.attention.code_side = i;
    const bool on = context.attention.code_side == i;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    if (on)
      draw->AddRectFilled(box.min, box.max, theme.accent_soft, theme.px(4));
    else if (ImGui::IsItemHovered())
      draw->AddRectFilled(box.min, box.max, mixed(theme.head, theme.text, 0.08F), theme.px(4));
    draw_text_middle(draw, on ? theme.font.strong : theme.font.text, theme.size.label,
                     box.centre().x, box.centre().y, on ? theme.accent : theme.muted,
                     i == 0 ? "A" : "B", 0.5F);
  }
}

void draw_listing(const PanelContext& context, const SideModel& side, float height) {
  const float row = row_height(context.theme, ImGui::GetContentRegionAvail().y);
  ImGui::BeginChild("##listing", {0, height}, ImGuiChildFlags_NavFlattened);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const std::uint16_t lit = lit_line(context.workspace, context.attention);
  context.attention.code_line = 0;
  ImGui::Dummy({0, context.theme.px(kListingTop)});
  const auto& lines = side.outline->listing.lines;
  for (std::size_t i = 0; i < lines.size(); ++i)
    draw_line(context, i + 1, lines[i], lit == i + 1, row);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

bool is_roomy(const Theme& theme, float room) {
  return room >= theme.px(310);
}

// Of the card below the listing; 0: there is none. Where there is little room only a span that is
// selected has one, which scrolls, and five lines stay.
float card_height(const Theme& theme, const Attention& attention, float room) {
  constexpr float kLines = 5, kLeast = 60, kSpan = 128, kHint = 76;
  const bool roomy = is_roomy(theme, room);
  const SpanRef span = roomy ? span_of_interest(attention) : attention.timeline.selected;
  if (span.span == trace::kNone) return roomy ? theme.px(kHint) : 0;
  const float lines = kLines * row_height(theme, room) + theme.px(kListingTop);
  return std::clamp(room - lines, theme.px(kLeast), theme.px(kSpan));
}

// In the listing's place too, where there is none.
void draw_card(const PanelContext& context, float height, DetailsRoom in) {
  const Theme& theme = context.theme;
  const float inset = theme.px(8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x - 2 * inset;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x + inset, at.y},
                                            {at.x + inset + width, at.y + height - inset},
                                            theme.card, theme.size.corner);
  ImGui::SetCursorScreenPos({at.x + inset, at.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                      ImVec2(theme.px(12), theme.px(in == DetailsRoom::kLow ? 6 : 10)));
  ImGui::BeginChild("##details", {width, height - inset},
                    ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  draw_details(context, in);
  ImGui::EndChild();
}

}  // namespace

std::uint16_t lit_line(const Workspace& workspace, const Attention& attention) {
  if (!workspace.revealed()) return 0;
  const std::size_t side = attention.code_side;
  if (side >= workspace.sides().size() || !workspace.sides()[side].view) return 0;
  const IndexedTrace& view = *workspace.sides()[side].view;
  const SpanRef chosen = span_of_interest(attention);
  if (chosen.span < view.trace->spans().size() && static_cast<std::size_t>(chosen.side) == side)
    return view.trace->spans()[chosen.span].line;
  if (attention.focused_line > 0 && attention.focused_side == side) return attention.focused_line;
  return line_at(view, playhead_of(workspace, side));
}

void draw_code(const PanelContext& context, const char* name, bool* open) {
  const Theme& theme = context.theme;
  const auto& sides = context.workspace.sides();
  context.attention.code_side = std::min(context.attention.code_side, sides.size() - 1);
  PanelOptions options;
  options.open = open;
  options.padded = false;
  options.scrolls = false;
  if (sides.size() == 2) options.kept_free = theme.px(2 * kSwitchWidth);
  if (begin_panel(context, name, options)) {
    const SideModel& side = sides[context.attention.code_side];
    if (is_imported(side) && side.error.empty()) {
      ImGui::Dummy({0, theme.px(4)});
      draw_card(context, ImGui::GetContentRegionAvail().y, DetailsRoom::kTall);
    } else if (!side.outline || context.workspace.hides("code")) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::SetCursorScreenPos({at.x + theme.size.pad, at.y + theme.px(14)});
      const char* why = side.outline ? "The code is shown once the question is answered."
                                     : "The listing is being written.";
      text(theme.font.text, theme.size.small, side.error.empty() ? theme.muted : theme.bad,
           side.error.empty() ? why : side.error, true);
    } else {
      const float room = ImGui::GetContentRegionAvail().y;
      const float card = card_height(theme, context.attention, room);
      draw_listing(context, side, room - card);
      if (card > 0)
        draw_card(context, ImGui::GetContentRegionAvail().y,
                  is_roomy(theme, room) ? DetailsRoom::kCard : DetailsRoom::kLow);
    }
  }
  ImGui::EndChild();
  if (sides.size() == 2) {
    const ImVec2 at = ImGui::GetWindowPos();
    const float inset = theme.px(open ? 36 : 12);
    side_switch(context, {at.x + ImGui::GetWindowWidth() - inset, at.y + theme.size.head / 2});
  }
  ImGui::End();
}

}  // namespace trainscope::ui
