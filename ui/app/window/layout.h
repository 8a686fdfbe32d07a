// Where the panels stand: the default arrangement of each screen, docked.
#pragma once

#include <imgui.h>

#include "ui/app/window/room.h"
#include "ui/app/window/theme.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

// Panels by screen; the part before ## is the panel's title.
inline constexpr const char* kLessonPanel = "Lesson##lesson";
inline constexpr const char* kTimelinesPanel = "Timelines##pair";
inline constexpr const char* kKnobsPanel = "Knobs##pair";
inline constexpr const char* kCodePanel = "Code##pair";
inline constexpr const char* kPairDetailsPanel = "Details##pair";  // in place of both listings
inline constexpr const char* kComparePanel = "Compare##pair";
inline constexpr const char* kCopyPathPanel = "Copy path##pair";
inline constexpr const char* kLossPanel = "Loss##pair";
inline constexpr const char* kLossScalingPanel = "Loss scaling##pair";
inline constexpr const char* kMemoryPanel = "Memory##pair";
inline constexpr const char* kSmArrayPanel = "SM array##pair";
inline constexpr const char* kGradientFlowPanel = "Gradient flow##pair";
inline constexpr const char* kRooflinePanel = "Roofline##pair";
inline constexpr const char* kOperationsPanel = "Operations##pair";
inline constexpr const char* kRunsPanel = "Runs##pair";
inline constexpr const char* kSweepPanel = "Sweep##pair";
inline constexpr const char* kDifferencePanel = "Difference##pair";  // a part of it, on its own
inline constexpr const char* kTimelinePanel = "Timeline##single";
inline constexpr const char* kDetailsPanel = "Details##single";
inline constexpr const char* kSingleCodePanel = "Code##single";  // in its place, with a listing
inline constexpr const char* kSummaryPanel = "Summary##single";
inline constexpr const char* kSingleCopyPathPanel = "Copy path##single";
inline constexpr const char* kSingleLossPanel = "Loss##single";
inline constexpr const char* kSingleLossScalingPanel = "Loss scaling##single";
inline constexpr const char* kSingleMemoryPanel = "Memory##single";
inline constexpr const char* kSingleSmArrayPanel = "SM array##single";
inline constexpr const char* kSingleGradientFlowPanel = "Gradient flow##single";
inline constexpr const char* kSingleRooflinePanel = "Roofline##single";
inline constexpr const char* kSingleOperationsPanel = "Operations##single";
inline constexpr const char* kSingleRunsPanel = "Runs##single";
inline constexpr const char* kSingleSweepPanel = "Sweep##single";

struct PanelsOpen {
  bool lesson = true;
  bool timelines = true;
  bool knobs = true;
  bool code = true;
  bool compare = true;
  bool copy_path = true;
  bool loss = true;
  bool loss_scaling = true;
  bool memory = true;
  bool sm_array = true;
  bool gradient_flow = true;
  bool roofline = true;
  bool operations = true;
  bool single_operations = false;  // until they are asked for: the timeline has their room
  bool runs = false;               // until one is kept
  bool sweep = false;              // until one is asked for
};

// Little is where the window is small, the scale large, or the theme the projector's.
Room room_for_panels(const Theme& theme);

enum class Arrangement : std::uint8_t { kLesson, kPair, kSingle, kPresent };
Arrangement arrangement_of(const Workspace& workspace);

// In front of a room: a question's options take the timelines' place while they are voted on, as
// far as they need it.
enum class CardWidth : std::uint8_t { kUsual, kWide, kWidest };

// The room below the top bar, with panels docked in it. `reset` puts every panel back in its place.
// Where there is much to show below the timelines (`much`) that place is given more height; of one
// run, where it is high already, the whole width.
void dock_panels(const Theme& theme, Arrangement arrangement, Room room, bool much, CardWidth card,
                 bool reset);

}  // namespace trainscope::ui
