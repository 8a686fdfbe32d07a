// The window's panels: which are drawn, and which goes to the front.

#include "ui/app/window/panel_deck.h"

#include <algorithm>
#include <utility>

#include "ui/app/lesson/room_view.h"
#include "ui/app/lesson/step_guide.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/panels/comparison/code.h"
#include "ui/panels/comparison/code_difference.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/timelines/details.h"

namespace trainscope::ui {
namespace {

// A lesson's name of a panel, and its windows: of a pair's screen and of one run's.
struct NamedPanel {
  std::string_view name;
  bool PanelsOpen::* open;
  const char* pair;
  const char* single;
  bool PanelsOpen::* open_single = nullptr;  // where that is another matter
};

constexpr NamedPanel kPanels[] = {
    {"lesson", &PanelsOpen::lesson, kLessonPanel, nullptr},
    {"timeline", &PanelsOpen::timelines, kTimelinesPanel, kTimelinePanel},
    {"knobs", &PanelsOpen::knobs, kKnobsPanel, nullptr},
    {"code", &PanelsOpen::code, kCodePanel, kSingleCodePanel},
    {"compare", &PanelsOpen::compare, kComparePanel, kSummaryPanel},
    {"difference", &PanelsOpen::compare, kDifferencePanel, nullptr},  // of a room
    {"copy-path", &PanelsOpen::copy_path, kCopyPathPanel, kSingleCopyPathPanel},
    {"loss", &PanelsOpen::loss, kLossPanel, kSingleLossPanel},
    {"loss-scaling", &PanelsOpen::loss_scaling, kLossScalingPanel, kSingleLossScalingPanel},
    {"memory", &PanelsOpen::memory, kMemoryPanel, kSingleMemoryPanel},
    {"sm-array", &PanelsOpen::sm_array, kSmArrayPanel, kSingleSmArrayPanel},
    {"gradient-flow", &PanelsOpen::gradient_flow, kGradientFlowPanel, kSingleGradientFlowPanel},
    {"roofline", &PanelsOpen::roofline, kRooflinePanel, kSingleRooflinePanel},
    {"operations", &PanelsOpen::operations, kOperationsPanel, kSingleOperationsPanel,
     &PanelsOpen::single_operations},
    {"runs", &PanelsOpen::runs, kRunsPanel, kSingleRunsPanel},
    {"sweep", &PanelsOpen::sweep, kSweepPanel, kSingleSweepPanel}};

const NamedPanel* find_panel(std::string_view name) {
  for (const NamedPanel& panel : kPanels)
    if (panel.name == name) return &panel;
  return nullptr;
}

// Two traces of somebody's: nothing to turn, and no listing.
bool all_imported(const Workspace& workspace) {
  return std::all_of(workspace.sides().begin(), workspace.sides().end(), is_imported);
}

// One run that was built from knobs, and so has the lines of its program.
bool has_listing(const Workspace& workspace) {
  return workspace.sides().size() == 1 && !is_imported(workspace.sides()[0]) &&
         workspace.sides()[0].outline;
}

const char* window_of(const NamedPanel& panel, const Workspace& workspace) {
  if (panel.single == kSingleCodePanel && workspace.sides().size() == 1 && !has_listing(workspace))
    return kDetailsPanel;
  if (panel.pair == kCodePanel && workspace.sides().size() == 2 && all_imported(workspace))
    return kPairDetailsPanel;
  if (panel.pair == kDifferencePanel && arrangement_of(workspace) != Arrangement::kPresent)
    return nullptr;
  return arrangement_of(workspace) == Arrangement::kSingle ? panel.single : panel.pair;
}

// What has a name of its own beside that of its panel, the gradient flow.
bool is_part_of_flow(std::string_view name) {
  return name == "scaling" || name == "numbers";
}

bool PanelsOpen::* open_of(const NamedPanel& panel, const Workspace& workspace) {
  const bool single = arrangement_of(workspace) == Arrangement::kSingle;
  return single && panel.open_single ? panel.open_single : panel.open;
}

}  // namespace

bool wants_knobs(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  return lesson && (workspace.forked() || lesson->step().kind == scenario::StepKind::kVary);
}

bool has_picture(std::string_view panel) {
  return !panel.empty() && panel != "knobs" && panel != "code" && panel != "compare" &&
         panel != "difference" && panel != "lesson" && panel != "timeline";
}

std::string panel_in_front(const Workspace& workspace) {
  for (const NamedPanel& panel : kPanels) {
    if (panel.name == "lesson" || panel.name == "timeline") continue;
    if (panel.name == "knobs" && !wants_knobs(workspace)) continue;
    const char* window = window_of(panel, workspace);
    if (window && is_in_front(window)) return std::string(panel.name);
  }
  return arrangement_of(workspace) == Arrangement::kPresent ? "difference" : "compare";
}

namespace {

// A room looks at one thing: what the step points at, once it may be seen; the timelines, where a
// span is asked for.
bool points_below_timelines(const LessonModel& lesson) {
  const auto& focus = lesson.step().focus;
  return lesson.progress.revealed() && focus && !focus->panel.empty() &&
         focus->panel != "timeline" && !asked_span(lesson.step());
}

// What is below the timelines wants room: the SMs with their map, and of a pair, which has less
// height there, charts of a training and the GPUs of a collective. `by_hand`: the panel that a
// lecturer has opened since, or null.
bool wants_room(const Workspace& workspace, const std::string* by_hand) {
  const Arrangement arrangement = arrangement_of(workspace);
  if (arrangement == Arrangement::kPresent)
    return by_hand ? has_picture(*by_hand) : points_below_timelines(*workspace.lesson());
  const auto& sides = workspace.sides();
  return std::any_of(sides.begin(), sides.end(), [&](const SideModel& side) {
    const std::string& workload = side.config.word("workload");
    const bool of_sms = workload == "kernel" || workload == "gemm";
    const bool of_pair = workload == "train" || workload == "collective";
    return side.file.empty() && (of_sms || (of_pair && arrangement != Arrangement::kSingle));
  });
}

}  // namespace

// Once the panels have been drawn: only then they have a place.
void PanelDeck::bring_forward(RenderScheduler& scheduler) {
  if (const NamedPanel* panel = find_panel(std::exchange(attention_.tab_to_show, "")))
    if (const char* window = window_of(*panel, workspace_);
        window && shown.*open_of(*panel, workspace_))
      show_tab(window);
  std::string asked = std::exchange(attention_.asked_panel, "");
  if (is_part_of_flow(asked)) states.gradient_flow.part = std::exchange(asked, "gradient-flow");
  const NamedPanel* panel = find_panel(asked);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (!window) return;
  // Asked for by hand, a lesson's own sweep is what there is to begin with.
  if (asked == "sweep" && !workspace_.sweep_form) start_lesson_sweep(workspace_);
  bool& open = shown.*open_of(*panel, workspace_);
  if (open) return bring_to_front(window);
  open = true;
  attention_.asked_panel = asked;  // again, in the next frame
  scheduler.request_frames(3);
}

bool PanelDeck::has(std::string_view name) const {
  const NamedPanel* panel = find_panel(is_part_of_flow(name) ? "gradient-flow" : name);
  return panel && window_of(*panel, workspace_);
}

void PanelDeck::open_by_hand(const std::string& name) {
  opened_by_hand_ = is_part_of_flow(name) ? "gradient-flow" : name;
  attention_.asked_panel = name;
}

void PanelDeck::toggle(const std::string& name) {
  const NamedPanel* panel = find_panel(name);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (window && shown.*open_of(*panel, workspace_) && is_in_front(window)) {
    shown.*open_of(*panel, workspace_) = false;
    opened_by_hand_ = name == opened_by_hand_ ? "" : opened_by_hand_;
    return;
  }
  open_by_hand(name);
}

// By its title among those of panels that share a place.
void PanelDeck::take_chosen_panel() {
  const std::string chosen = std::exchange(chosen_panel_, {});
  for (const NamedPanel& panel : kPanels)
    if (const char* window = window_of(panel, workspace_); window && chosen == window)
      opened_by_hand_ = panel.name;
}

void PanelDeck::draw(const PanelContext& context) {
  const Arrangement arrangement = arrangement_of(workspace_);
  const Room room = room_for_panels(context.theme);
  dock(context, arrangement, room);
  if (arrangement == Arrangement::kSingle) return draw_single(context);
  if (arrangement != Arrangement::kPair && shown.lesson)
    draw_lesson(context, states.lesson, kLessonPanel, &shown.lesson);
  if (shown.timelines) draw_timelines(context, states.timelines, kTimelinesPanel, &shown.timelines);
  arrangement == Arrangement::kPresent ? draw_for_a_room(context) : draw_tools(context, room);
}

// Anew where the panels or the room for them are others; in front of a room and of one run also
// where what is below the timelines wants another height.
void PanelDeck::dock(const PanelContext& context, Arrangement arrangement, Room room) {
  if (stale_) shown = {};
  if (arrangement == Arrangement::kPresent) take_chosen_panel();
  const std::string in_front = panel_in_front(workspace_);
  const bool wants = wants_room(workspace_, opened_by_hand_.empty() ? nullptr : &opened_by_hand_);
  const bool follows = arrangement == Arrangement::kPresent || arrangement == Arrangement::kSingle;
  std::optional<bool>& wanted = wanted_room_.at(static_cast<std::size_t>(arrangement));
  const bool turned = follows && wanted.value_or(wants) != wants;
  const CardWidth card = open_choice(workspace_) ? states.lesson.choice_width : CardWidth::kUsual;
  const bool resized = arrangement == Arrangement::kPresent && card != card_;
  dock_panels(context.theme, arrangement, room, wants, card,
              stale_ || turned || resized || room != room_.value_or(room));
  const bool moved = (turned || resized) && arrangement == Arrangement::kPresent;
  if (moved && attention_.asked_panel.empty())
    attention_.asked_panel = opened_by_hand_.empty() ? in_front : opened_by_hand_;
  wanted = wants;
  card_ = card;
  stale_ = false;
  room_ = room;
}

void PanelDeck::draw_single(const PanelContext& context) {
  if (shown.timelines) draw_timelines(context, states.timelines, kTimelinePanel, &shown.timelines);
  if (shown.code)
    has_listing(workspace_) ? draw_code(context, kSingleCodePanel, &shown.code)
                            : draw_details_panel(context, kDetailsPanel, &shown.code);
  if (shown.compare) draw_summary(context, states.summary, kSummaryPanel, &shown.compare);
  if (shown.copy_path)
    draw_copy_path(context, states.copy_path, kSingleCopyPathPanel, kSummaryPanel,
                   &shown.copy_path);
  draw_states(context, true);
}

void PanelDeck::draw_for_a_room(const PanelContext& context) {
  if (shown.compare)
    draw_compare(context, states.compare, kDifferencePanel, &shown.compare,
                 ComparePart::kWaterfall);
  if (shown.compare)
    draw_compare(context, states.compare, kComparePanel, &shown.compare, ComparePart::kTable);
  if (shown.copy_path)
    draw_copy_path(context, states.copy_path, kCopyPathPanel, kDifferencePanel, &shown.copy_path);
  if (shown.code && !all_imported(workspace_))
    draw_code_difference(context, kCodePanel, &shown.code);
  draw_states(context, false);
  if (shown.knobs && wants_knobs(workspace_))
    draw_knobs(context, states.knobs, kKnobsPanel, &shown.knobs);
}

// Where there is little room they share one place, as tabs in this order.
void PanelDeck::draw_tools(const PanelContext& context, Room room) {
  const bool compact = room != Room::kWide;
  if (shown.compare)
    draw_compare(context, states.compare, kComparePanel, &shown.compare,
                 compact ? ComparePart::kTable : ComparePart::kBoth);
  if (shown.compare && compact)
    draw_compare(context, states.compare, kDifferencePanel, &shown.compare,
                 ComparePart::kWaterfall);
  if (shown.copy_path)
    draw_copy_path(context, states.copy_path, kCopyPathPanel, kComparePanel, &shown.copy_path);
  draw_states(context, false);
  const bool read_only = all_imported(workspace_);
  if (shown.knobs && !read_only) draw_knobs(context, states.knobs, kKnobsPanel, &shown.knobs);
  if (shown.code && !read_only) draw_code(context, kCodePanel, &shown.code);
  if (shown.code && read_only) draw_details_panel(context, kPairDetailsPanel, &shown.code);
}

void PanelDeck::draw_states(const PanelContext& context, bool single) {
  const char* beside = single ? kTimelinePanel : kComparePanel;
  if (shown.loss && has_loss(workspace_))
    draw_loss(context, states.loss, single ? kSingleLossPanel : kLossPanel, beside, &shown.loss);
  if (shown.loss_scaling && has_loss_scaling(workspace_))
    draw_loss_scaling(context, states.loss_scaling,
                      single ? kSingleLossScalingPanel : kLossScalingPanel, beside,
                      &shown.loss_scaling);
  if (shown.memory && has_memory(workspace_))
    draw_memory(context, states.memory, single ? kSingleMemoryPanel : kMemoryPanel, beside,
                &shown.memory);
  if (shown.sm_array && has_sm_array(workspace_))
    draw_sm_array(context, states.sm_array, single ? kSingleSmArrayPanel : kSmArrayPanel, beside,
                  &shown.sm_array);
  if (shown.gradient_flow && has_gradient_flow(workspace_))
    draw_gradient_flow(context, states.gradient_flow,
                       single ? kSingleGradientFlowPanel : kGradientFlowPanel, beside,
                       &shown.gradient_flow);
  if (shown.roofline && shows_roofline(context, states.roofline))
    draw_roofline(context, states.roofline, single ? kSingleRooflinePanel : kRooflinePanel, beside,
                  &shown.roofline);
  bool& operations = single ? shown.single_operations : shown.operations;
  if (operations && has_operations(workspace_))
    draw_operations(context, states.operations, single ? kSingleOperationsPanel : kOperationsPanel,
                    beside, &operations);
  if (shown.runs && has_runs(workspace_))
    draw_runs(context, states.runs, single ? kSingleRunsPanel : kRunsPanel, beside, &shown.runs);
  if (shown.sweep && can_sweep(workspace_))
    draw_sweep_panel(context, states.sweep, single ? kSingleSweepPanel : kSweepPanel, beside,
                     &shown.sweep);
}

}  // namespace trainscope::ui
