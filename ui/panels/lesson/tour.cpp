#include "ui/panels/lesson/tour.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include "ui/app/window/layout.h"
#include "ui/panels/lesson/markdown.h"

namespace trainscope::ui {
namespace {

constexpr const char* kPopup = "##tour";

// By screen: with two sides, and with one.
struct Windows {
  const char* pair;
  const char* single;
};

Windows windows_of(TourTarget target) {
  switch (target) {
    case TourTarget::kLesson:
      return {kLessonPanel, nullptr};
    case TourTarget::kTimelines:
      return {kTimelinesPanel, kTimelinePanel};
    case TourTarget::kKnobs:
      return {kKnobsPanel, kDetailsPanel};
    case TourTarget::kCompare:
      return {kComparePanel, kSummaryPanel};
    case TourTarget::kFindAction:
      break;
  }
  return {nullptr, nullptr};
}

const char* window_of(const PanelContext& context, TourTarget target) {
  const Windows windows = windows_of(target);
  return arrangement_of(context.workspace) == Arrangement::kSingle ? windows.single : windows.pair;
}

// Where it stands now; the middle of the window where it is not there.
Box box_of(const PanelContext& context, TourTarget target, const Box& room) {
  if (target == TourTarget::kFindAction) return context.attention.find_action;
  const char* name = window_of(context, target);
  const ImGuiWindow* window = name ? ImGui::FindWindowByName(name) : nullptr;
  if (!window || !window->WasActive || window->Hidden) return {room.centre(), room.centre()};
  return {window->Pos, {window->Pos.x + window->Size.x, window->Pos.y + window->Size.y}};
}

// Everything but the box, darker.
void dim(ImDrawList* draw, const Theme& theme, const Box& room, const Box& box) {
  const ImU32 veil = IM_COL32(0, 0, 0, theme.mode == ThemeMode::kDark ? 150 : 110);
  draw->AddRectFilled(room.min, {room.max.x, box.min.y}, veil);
  draw->AddRectFilled({room.min.x, box.max.y}, room.max, veil);
  draw->AddRectFilled({room.min.x, box.min.y}, {box.min.x, box.max.y}, veil);
  draw->AddRectFilled({box.max.x, box.min.y}, {room.max.x, box.max.y}, veil);
  if (box.width() > 0)
    draw->AddRect(box.min, box.max, theme.accent, theme.size.corner, theme.px(2));
}

void draw_buttons(const PanelContext& context, Tour& tour) {
  const Theme& theme = context.theme;
  const bool last = tour.card + 1 == tour_cards().size();
  const bool go_on = button(theme, last ? "Begin" : "Next", ButtonKind::kPrimary, theme.px(86));
  ImGui::SameLine(0, theme.px(8));
  const bool back = button(theme, "Back", ButtonKind::kQuiet, 0, tour.card > 0);
  ImGui::SameLine(0, theme.px(8));
  if (!last && button(theme, "Skip the tour", ButtonKind::kLink)) tour.end();
  if (go_on) tour.next();
  if (back) tour.back();
}

void draw_card(const PanelContext& context, Tour& tour) {
  const Theme& theme = context.theme;
  const TourCard& card = tour_cards()[tour.card];
  text(theme.font.text, theme.size.label, theme.faint,
       fmt::format("{} of {}", tour.card + 1, tour_cards().size()));
  text(theme.font.strong, theme.size.heading, theme.text, card.title);
  markdown(theme, card.text);
  ImGui::Dummy({0, theme.px(4)});
  draw_buttons(context, tour);
}

void take_keys(Tour& tour) {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key, false); };
  if (pressed(ImGuiKey_Escape)) return tour.end();
  if (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || pressed(ImGuiKey_RightArrow))
    tour.next();
  else if (pressed(ImGuiKey_LeftArrow) || pressed(ImGuiKey_Backspace))
    tour.back();
}

// What a card is about comes to the front where it shares its place with others.
void bring_forward(const PanelContext& context, TourTarget target) {
  const char* name = window_of(context, target);
  if (name && ImGui::FindWindowByName(name) && !is_in_front(name)) show_tab(name);
}

void close() {
  if (!ImGui::BeginPopup(kPopup)) return;
  ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace

void draw_tour(const PanelContext& context, Tour& tour) {
  if (!tour.open) return;
  // Before the popup is looked for: Escape has closed it by now.
  if (tour.shown) take_keys(tour);
  if (!tour.open) return close();
  const Theme& theme = context.theme;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const Box room{viewport->Pos,
                 {viewport->Pos.x + viewport->Size.x, viewport->Pos.y + viewport->Size.y}};
  if (!ImGui::IsPopupOpen(kPopup)) ImGui::OpenPopup(kPopup);
  bring_forward(context, tour_cards()[tour.card].target);
  ImGui::SetNextWindowPos(room.min);
  ImGui::SetNextWindowSize({room.width(), room.height()});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool drawn = ImGui::BeginPopup(
      kPopup, ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                  ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (!drawn) return;
  const Box target = box_of(context, tour_cards()[tour.card].target, room);
  dim(ImGui::GetWindowDrawList(), theme, room, target);
  // The card's height is that of its words, as measured in the frame before.
  static constexpr float kWidth = 380;
  const ImGuiID id = ImGui::GetID("##height");
  ImGuiStorage* storage = ImGui::GetStateStorage();
  const ImVec2 size{theme.px(kWidth), storage->GetFloat(id, theme.px(190))};
  ImGui::SetCursorScreenPos(place_card(target, size, room, theme.px(12)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, static_cast<ImU32>(theme.panel));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme.accent));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(18), theme.px(14)));
  ImGui::BeginChild("##card", {size.x, 0}, ImGuiChildFlags_Borders | ImGuiChildFlags_AutoResizeY,
                    ImGuiWindowFlags_NoNav);
  draw_card(context, tour);
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
  storage->SetFloat(id, ImGui::GetItemRectSize().y);
  tour.shown = true;
  if (!tour.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace trainscope::ui
