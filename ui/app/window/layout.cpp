#include "ui/app/window/layout.h"

#include <imgui_internal.h>

#include <algorithm>

namespace trainscope::ui {
namespace {

const char* dock_name(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::kLesson:
      return "dock lesson";
    case Arrangement::kPair:
      return "dock pair";
    case Arrangement::kSingle:
      return "dock single";
    case Arrangement::kPresent:
      return "dock present";
  }
  return "";
}

// Splits a column or row of so many pixels off a node; returns what is left.
ImGuiID split(ImGuiID node, ImGuiDir side, float pixels, ImGuiID& part) {
  const ImVec2 size = ImGui::DockBuilderGetNode(node)->Size;
  const bool across = side == ImGuiDir_Left || side == ImGuiDir_Right;
  const float share = std::clamp(pixels / std::max(across ? size.x : size.y, 1.0F), 0.05F, 0.9F);
  ImGuiID rest = 0;
  part = ImGui::DockBuilderSplitNode(node, side, share, nullptr, &rest);
  return rest;
}

void dock(const char* panel, ImGuiID node) {
  ImGui::DockBuilderDockWindow(panel, node);
}

// What is below the timelines takes the whole width, unless the window is as low as a laptop's:
// there the lesson needs the whole height, and the code more of what is left.
void arrange_pair(const Theme& theme, ImGuiID root, ImVec2 size, bool lesson, bool tall) {
  ImGuiID below = 0, left = 0, right = 0, code = 0, rest = root;
  const bool laptop = size.y < theme.px(800);
  const auto split_lesson = [&] {
    if (!lesson) return;
    rest =
        split(rest, ImGuiDir_Left, std::clamp(size.x * 0.192F, theme.px(290), theme.px(460)), left);
    dock(kLessonPanel, left);
  };
  const float low = tall ? std::clamp(size.y * 0.38F, theme.px(240), theme.px(430))
                         : std::clamp(size.y * 0.265F, theme.px(190), theme.px(290));
  if (laptop) split_lesson();
  rest = split(rest, ImGuiDir_Down, low, below);
  if (!laptop) split_lesson();
  rest =
      split(rest, ImGuiDir_Right, std::clamp(size.x * 0.213F, theme.px(280), theme.px(480)), right);
  const float code_height = (size.y - low) * (laptop ? 0.52F : 0.46F);
  const ImGuiID knobs = split(right, ImGuiDir_Down, code_height, code);
  dock(kTimelinesPanel, rest);
  dock(kKnobsPanel, knobs);
  dock(kCodePanel, code);
  dock(kPairDetailsPanel, code);
  for (const char* panel :
       {kComparePanel, kCopyPathPanel, kLossPanel, kLossScalingPanel, kMemoryPanel, kSmArrayPanel,
        kGradientFlowPanel, kRooflinePanel, kOperationsPanel, kRunsPanel, kSweepPanel})
    dock(panel, below);
}

// What the timelines of so many sides want for so many lanes of each.
float timelines_height(const Theme& theme, int lanes, int sides) {
  const auto& size = theme.size;
  const float side = size.strip + static_cast<float>(lanes) * size.lane_min;
  return size.head + size.axis + static_cast<float>(sides) * side + theme.px(4);
}

// The panels below the timelines take `wanted`; where type is large, what these leave, and a least
// height of their own in any case.
float height_below(const Theme& theme, float wanted, float room, int lanes, int sides = 2) {
  if (!theme.large) return wanted;
  const float least = std::min(theme.px(150), room * 0.5F);
  return std::clamp(room - theme.size.gap - timelines_height(theme, lanes, sides), least,
                    std::max(wanted, least));
}

// The lesson keeps the whole height: reading is what one does with it.
void arrange_compact_pair(const Theme& theme, ImGuiID root, ImVec2 size, bool lesson, bool tall) {
  ImGuiID below = 0, left = 0;
  if (lesson) {
    const float width = std::clamp(size.x * 0.32F, theme.px(250), theme.px(400));
    root = split(root, ImGuiDir_Left, std::min(width, size.x * 0.4F), left);
    dock(kLessonPanel, left);
  }
  const float low =
      std::clamp(size.y * (tall ? 0.46F : 0.34F), theme.px(150), theme.px(tall ? 400 : 290));
  const float tools = height_below(theme, std::min(low, size.y * 0.5F), size.y, 3);
  dock(kTimelinesPanel, split(root, ImGuiDir_Down, tools, below));
  for (const char* panel :
       {kComparePanel, kDifferencePanel, kCopyPathPanel, kLossPanel, kLossScalingPanel,
        kMemoryPanel, kSmArrayPanel, kGradientFlowPanel, kRooflinePanel, kOperationsPanel,
        kRunsPanel, kSweepPanel, kKnobsPanel, kCodePanel, kPairDetailsPanel})
    dock(panel, below);
}

// To be read from the back of a room: the card, the timelines, where the difference went, or in
// more than half of the height (`tall`) what the lesson points at.
void arrange_present(const Theme& theme, ImGuiID root, ImVec2 size, bool tall, CardWidth card) {
  ImGuiID below = 0, left = 0;
  constexpr float kShares[] = {0.33F, 0.5F, 0.66F};  // by CardWidth
  root = split(root, ImGuiDir_Left, size.x * kShares[static_cast<std::size_t>(card)], left);
  dock(kLessonPanel, left);
  constexpr int kLeastLanes = 2;  // stand whole above what is pointed at
  const float spare = size.y - theme.size.gap - timelines_height(theme, kLeastLanes, 2);
  const float tools =
      tall ? std::min(size.y * 0.58F, std::max(spare, size.y * 0.4F))
           : height_below(theme, size.y * 0.38F, size.y, static_cast<int>(Present::kLanes));
  dock(kTimelinesPanel, split(root, ImGuiDir_Down, tools, below));
  for (const char* panel :
       {kDifferencePanel, kComparePanel, kCopyPathPanel, kLossPanel, kLossScalingPanel,
        kMemoryPanel, kSmArrayPanel, kGradientFlowPanel, kRooflinePanel, kOperationsPanel,
        kRunsPanel, kSweepPanel, kKnobsPanel, kCodePanel})
    dock(panel, below);
}

// Memory stands beside the other charts, unless these want the whole width (`wide`).
void arrange_single(const Theme& theme, ImGuiID root, ImVec2 size, bool wide) {
  ImGuiID right = 0, summary = 0;
  const float width =
      std::min(std::clamp(size.x * 0.24F, theme.px(300), theme.px(480)), size.x * 0.42F);
  ImGuiID rest = split(root, ImGuiDir_Right, width, right);
  const ImGuiID details = split(right, ImGuiDir_Down, size.y * 0.64F, summary);
  // Where a run has nothing to show in them the timeline takes their room.
  ImGuiID below = 0, memory = 0;
  constexpr int kLanes = 6;  // steps, two threads, three of a GPU
  const float wanted = std::clamp(size.y * 0.46F, theme.px(260), theme.px(520));
  rest = split(rest, ImGuiDir_Down, height_below(theme, wanted, size.y, kLanes, 1), below);
  if (const float across = size.x - width; across > theme.px(1080) && !wide)
    below = split(below, ImGuiDir_Right, across * 0.5F, memory);
  for (const char* panel :
       {kSingleLossPanel, kSingleLossScalingPanel, kSingleSmArrayPanel, kSingleGradientFlowPanel,
        kSingleRooflinePanel, kSingleOperationsPanel, kSingleRunsPanel, kSingleSweepPanel})
    dock(panel, below);
  dock(kSingleMemoryPanel, memory ? memory : below);
  dock(kTimelinePanel, rest);
  dock(kDetailsPanel, details);
  dock(kSingleCodePanel, details);
  dock(kSummaryPanel, summary);
  dock(kSingleCopyPathPanel, summary);
}

// In the order in which they come to the front. What no run shows, or an arrangement does not have,
// is not there.
constexpr const char* kAllPanels[] = {kTimelinesPanel,
                                      kComparePanel,
                                      kDifferencePanel,
                                      kCopyPathPanel,
                                      kLossPanel,
                                      kLossScalingPanel,
                                      kMemoryPanel,
                                      kSmArrayPanel,
                                      kGradientFlowPanel,
                                      kRooflinePanel,
                                      kOperationsPanel,
                                      kRunsPanel,
                                      kSweepPanel,
                                      kKnobsPanel,
                                      kCodePanel,
                                      kPairDetailsPanel,
                                      kTimelinePanel,
                                      kDetailsPanel,
                                      kSingleCodePanel,
                                      kSummaryPanel,
                                      kSingleCopyPathPanel,
                                      kSingleLossPanel,
                                      kSingleLossScalingPanel,
                                      kSingleMemoryPanel,
                                      kSingleSmArrayPanel,
                                      kSingleGradientFlowPanel,
                                      kSingleRooflinePanel,
                                      kSingleOperationsPanel,
                                      kSingleRunsPanel,
                                      kSingleSweepPanel};

// All in one place, the lesson beside it where there is room for two.
void arrange_in_one(const Theme& theme, ImGuiID root, ImVec2 size, bool beside) {
  ImGuiID left = root;
  if (beside) root = split(root, ImGuiDir_Left, std::min(size.x * 0.36F, theme.px(300)), left);
  dock(kLessonPanel, left);
  for (const char* panel : kAllPanels) dock(panel, root);
}

void arrange(const Theme& theme, Arrangement arrangement, Room room, bool much, CardWidth card,
             ImGuiID root, ImVec2 size) {
  ImGui::DockBuilderRemoveNode(root);
  ImGui::DockBuilderAddNode(root, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(root, size);
  const bool lesson = arrangement == Arrangement::kLesson || arrangement == Arrangement::kPresent;
  if (room == Room::kLow || room == Room::kTiny)
    arrange_in_one(theme, root, size, lesson && room == Room::kLow);
  else if (arrangement == Arrangement::kSingle)
    arrange_single(theme, root, size, much);
  else if (arrangement == Arrangement::kPresent)
    arrange_present(theme, root, size, much, card);
  else if (room == Room::kClose)
    arrange_compact_pair(theme, root, size, lesson, much);
  else
    arrange_pair(theme, root, size, lesson, much);
  ImGui::DockBuilderFinish(root);
}

// Lessons, pairs and rooms share panels: another arrangement may have taken them.
bool stands_elsewhere(const char* panel, ImGuiID root) {
  const ImGuiWindow* window = ImGui::FindWindowByName(panel);
  return window && window->DockNode && ImGui::DockNodeGetRootNode(window->DockNode)->ID != root;
}

bool is_taken(Arrangement arrangement, ImGuiID root) {
  if (arrangement == Arrangement::kSingle) return false;
  const bool lesson = arrangement != Arrangement::kPair && stands_elsewhere(kLessonPanel, root);
  return lesson || stands_elsewhere(kTimelinesPanel, root);
}

}  // namespace

Arrangement arrangement_of(const Workspace& workspace) {
  if (workspace.screen() == Screen::kLesson)
    return workspace.present.on ? Arrangement::kPresent : Arrangement::kLesson;
  return workspace.sides().size() == 2 ? Arrangement::kPair : Arrangement::kSingle;
}

Room room_for_panels(const Theme& theme) {
  const ImVec2 size = ImGui::GetMainViewport()->WorkSize;
  if (size.x < theme.px(520)) return Room::kTiny;
  if (size.y < theme.px(420)) return Room::kLow;
  return size.x < theme.px(1180) ? Room::kClose : Room::kWide;
}

void dock_panels(const Theme& theme, Arrangement arrangement, Room room, bool much, CardWidth card,
                 bool reset) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float gap = theme.size.gap, top = theme.size.top_bar;
  const ImVec2 size{viewport->WorkSize.x - 2 * gap, viewport->WorkSize.y - top - 2 * gap};
  ImGui::SetNextWindowPos({viewport->WorkPos.x + gap, viewport->WorkPos.y + top + gap});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::Begin(dock_name(arrangement), nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleVar(2);
  const ImGuiID root = ImGui::GetID("root");
  if (reset || is_taken(arrangement, root) || !ImGui::DockBuilderGetNode(root))
    arrange(theme, arrangement, room, much, card, root, size);
  ImGui::PushStyleColor(ImGuiCol_DockingEmptyBg, static_cast<ImU32>(theme.ground));
  // Between panels one sees the ground; a line shows where one may drag.
  // (ImGui takes the colours of its separators between docks from these.)
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme.ground));
  for (const ImGuiCol lit : {ImGuiCol_ResizeGripHovered, ImGuiCol_ResizeGripActive})
    ImGui::PushStyleColor(lit, static_cast<ImU32>(mixed(theme.ground, theme.accent, 0.30F)));
  ImGui::DockSpace(
      root, {0, 0},
      int{ImGuiDockNodeFlags_AutoHideTabBar} | int{ImGuiDockNodeFlags_NoWindowMenuButton});
  ImGui::PopStyleColor(4);
  ImGui::End();
}

}  // namespace trainscope::ui
