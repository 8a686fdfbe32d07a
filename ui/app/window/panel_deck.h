// The window's panels: which are drawn, where there is something to show in them, and which of
// those that share a place is in front.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "ui/app/window/layout.h"
#include "ui/app/window/scheduler.h"
#include "ui/panels/charts/loss.h"
#include "ui/panels/charts/loss_scaling.h"
#include "ui/panels/charts/operations.h"
#include "ui/panels/charts/roofline.h"
#include "ui/panels/comparison/compare.h"
#include "ui/panels/comparison/knobs.h"
#include "ui/panels/comparison/runs.h"
#include "ui/panels/comparison/summary.h"
#include "ui/panels/comparison/sweep.h"
#include "ui/panels/gpus/gradient_flow.h"
#include "ui/panels/gpus/sm_array.h"
#include "ui/panels/lesson/lesson.h"
#include "ui/panels/memory/copy_path.h"
#include "ui/panels/memory/memory.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// What each panel remembers from one frame to the next.
struct PanelStates {
  TimelinesPanel timelines;
  LessonPanel lesson;
  KnobsPanel knobs;
  ComparePanel compare;
  SummaryPanel summary;
  CopyPathPanel copy_path;
  LossPanel loss;
  LossScalingPanel loss_scaling;
  MemoryPanel memory;
  SmArrayPanel sm_array;
  GradientFlowPanel gradient_flow;
  RooflinePanel roofline;
  OperationsPanel operations;
  RunsPanel runs;
  SweepPanel sweep;
};

// Panels are named as lessons name them: "knobs", "copy-path".
class PanelDeck {
 public:
  PanelDeck(Workspace& workspace, Attention& attention)
      : workspace_(workspace), attention_(attention) {}

  PanelStates states;
  PanelsOpen shown;

  void draw(const PanelContext& context);
  // Those that were asked for (Attention::asked_panel). Once the panels have been drawn: only then
  // they have a place.
  void bring_forward(RenderScheduler& scheduler);

  // Whether what is on the screen can have a panel of that name, open or not.
  bool has(std::string_view name) const;
  // As a person does: in front of a room it is looked at, and has the room for that.
  void open_by_hand(const std::string& name);
  // Away when it is in front, else open and to the front.
  void toggle(const std::string& name);
  // What was opened by hand is of a step that is left.
  void forget_hand() { opened_by_hand_.clear(); }

  // For the panels to write to (PanelContext::chosen_panel); in front of a room it is looked at as
  // what was opened by hand.
  std::string& chosen_panel() { return chosen_panel_; }

  // Every panel goes back to its place.
  void reset() { stale_ = true; }
  // What the arrangement was made for; unknown at first.
  std::optional<Room> room() const { return room_; }
  void set_room(Room room) { room_ = room; }

 private:
  void take_chosen_panel();
  void dock(const PanelContext& context, Arrangement arrangement, Room room);
  void draw_single(const PanelContext& context);
  void draw_tools(const PanelContext& context, Room room);
  void draw_for_a_room(const PanelContext& context);
  // Those that there is something to show in: training, memory, blocks on SMs.
  void draw_states(const PanelContext& context, bool single);

  Workspace& workspace_;
  Attention& attention_;
  // What a lecturer has opened in a room, on that step: it is looked at as what a step points at.
  std::string opened_by_hand_;
  std::string chosen_panel_;
  bool stale_ = false;
  // What is below the timelines wanted room, by arrangement, when that was last drawn.
  std::array<std::optional<bool>, 4> wanted_room_;
  CardWidth card_ = CardWidth::kUsual;  // in front of a room, when it was last drawn
  std::optional<Room> room_;
};

// The one in front below the timelines, whoever has opened it; knobs go with their step.
std::string panel_in_front(const Workspace& workspace);

// It shows a picture: few rows of words or sliders are read in less room.
bool has_picture(std::string_view panel);

// The lesson's step is done by turning one, or it has been left to explore.
bool wants_knobs(const Workspace& workspace);

}  // namespace trainscope::ui
