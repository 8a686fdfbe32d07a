#include "ui/panels/timelines/note_bar.h"

#include <fmt/format.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

// "Note 2 of 5"
std::string count_words(const PanelContext& context) {
  const std::vector<NoteRef> order = notes_in_order(context.workspace);
  const auto at = std::find(order.begin(), order.end(), context.attention.notes.selected);
  return fmt::format("Note {} of {}", at - order.begin() + 1, order.size());
}

// "A stream 7, 1.20 ms to 1.31 ms"
std::string place_words(const PanelContext& context, const TimelineInput& input) {
  const NoteRef selected = context.attention.notes.selected;
  const auto side = static_cast<std::size_t>(selected.side);
  if (side >= input.sides.size() || selected.note >= input.sides[side].notes.size()) return "";
  const std::string mark = input.sides.size() < 2 ? "" : side == 0 ? "A " : "B ";
  return mark + note_place_words(*input.sides[side].trace, input.sides[side].notes[selected.note]);
}

// The links at the right, as far as there is room; returns where they begin.
float draw_links(const PanelContext& context, float right, float least, float top) {
  const Theme& theme = context.theme;
  constexpr std::pair<const char*, const char*> kLinks[] = {{"Done##note", "timeline.leave"},
                                                            {"Delete##note", "note.delete"},
                                                            {"Edit##note", "note.edit"},
                                                            {"Next##note", "note.next"},
                                                            {"Previous##note", "note.previous"}};
  for (const auto& [label, action] : kLinks) {
    const std::string_view words(label, std::string_view(label).find('#'));
    const float wanted = small_link_width(theme, words);
    if (right - wanted < least) break;
    right -= wanted;
    ImGui::SetCursorScreenPos({right, top});
    if (button(theme, label, ButtonKind::kLink, 0, context.can(action))) context.ask(action);
  }
  return right;
}

}  // namespace

float note_bar_height(const PanelContext& context) {
  return selected_note(context.workspace, context.attention.notes)
             ? context.theme.size.button + context.theme.px(4)
             : 0;
}

void draw_note_bar(const PanelContext& context, const TimelineInput& input, float height) {
  const Theme& theme = context.theme;
  const analysis::RunNote* note = selected_note(context.workspace, context.attention.notes);
  if (!note) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, middle = at.y + height / 2;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddLine(at, {at.x + width, at.y}, theme.line, theme.size.border);
  float x = at.x + theme.px(12);
  const std::string count = count_words(context);
  const float counted = text_size(theme.font.strong, theme.size.small, count).x;
  const float right = draw_links(context, at.x + width - theme.px(8), x + counted + theme.px(80),
                                 middle - theme.size.button / 2);
  const auto say = [&](ImFont* font, float size, Color color, const std::string& words) {
    const std::string shown = shortened(font, size, words, std::max(right - x, 0.0F));
    draw_text_middle(draw, font, size, x, middle, color, shown);
    x += text_size(font, size, shown).x + theme.px(12);
  };
  say(theme.font.strong, theme.size.small, theme.accent, count);
  say(theme.font.text, theme.size.small, theme.text, note->text);
  if (x + theme.px(60) < right)
    say(theme.font.text, theme.size.label, theme.muted, place_words(context, input));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

namespace {

// True once what is in the field is to be kept.
bool draw_field(const PanelContext& context, float width) {
  const Theme& theme = context.theme;
  NoteDesk& desk = context.attention.notes;
  if (desk.just_opened) {
    ImGui::SetKeyboardFocusHere();
    context.ask("animate");
  }
  ImGui::SetNextItemWidth(width);
  const bool entered =
      ImGui::InputTextWithHint("##note", "A note: Enter keeps it, Escape leaves it",
                               &desk.note.text, ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemActive()) desk.just_opened = false;
  const bool typing = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  if (typing && ImGui::IsKeyPressed(ImGuiKey_Escape)) desk.open = false;
  ImGui::SameLine();
  return button(theme, "Keep##note", ButtonKind::kPrimary) || entered;
}

}  // namespace

void draw_note_field(const PanelContext& context, ImVec2 at, const Box& room) {
  const Theme& theme = context.theme;
  const float wide = std::min(theme.px(420), room.width());
  const float tall = theme.size.button + theme.px(12);
  at.x = std::max(room.min.x, std::min(at.x, room.max.x - wide));
  at.y = std::max(room.min.y, std::min(at.y, room.max.y - tall));
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize({wide, tall});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(6), theme.px(6)));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme.accent));
  ImGui::PushFont(theme.font.text, theme.size.small);
  ImGui::Begin("##note field", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings);
  const float button_room = text_size(theme.font.text, theme.size.small, "Keep").x + theme.px(64);
  const bool kept = draw_field(context, std::max(wide - button_room, theme.px(60)));
  ImGui::End();
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  if (kept) context.ask("note.keep");
}

}  // namespace trainscope::ui
