// The application's panels: which are drawn, and which goes to the front.

#include <algorithm>
#include <optional>
#include <utility>

#include "scenario/progress.h"
#include "ui/app/application.h"
#include "ui/app/chosen_panel.h"
#include "ui/app/line_up.h"
#include "ui/app/moment.h"
#include "ui/app/search_range.h"
#include "ui/panels/code_difference.h"
#include "ui/panels/side_data.h"
#include "ui/panels/timelines.h"

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
  if (panel.pair == kComparePanel && arrangement_of(workspace) == Arrangement::kPresent)
    return kDifferencePanel;
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

// The lesson's step is done by turning one, or it has been left to explore.
bool wants_knobs(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  return lesson && (workspace.forked() || lesson->step().kind == scenario::StepKind::kVary);
}

// A step that explains a span of the timelines.
bool explains_span(const scenario::Step& step) {
  return step.kind == scenario::StepKind::kExplain && step.focus && !step.focus->lane.empty();
}

// What a step asks to be found; null: it asks for no span.
const scenario::Focus* asked_span(const scenario::Step& step) {
  const auto& question = step.question;
  return question && question->kind == scenario::QuestionKind::kFindSpan ? &*question->span
                                                                         : nullptr;
}

// A knob, or a line of the listing.
bool points_at_control(const scenario::Focus& focus) {
  return focus.panel.empty() && focus.lane.empty();
}

// A step that has a panel in front, too, leaves the knobs where they stand.
void light_knob(const scenario::Step& step, Attention& attention) {
  if (!step.focus || step.focus->knob.empty() || step.focus->panel.empty()) return;
  attention.lit_knob = step.focus->knob;
  attention.follow_knob = true;
}

// The side is there, and what stands beside it will not change any more.
bool is_there(const scenario::Focus& focus, const Workspace& workspace) {
  const auto& sides = workspace.sides();
  const std::size_t side = focus.run == "B" ? 1 : 0;
  return side < sides.size() && sides[side].run && std::ranges::none_of(sides, &SideModel::busy);
}

// A room looks at one thing: what the step points at, once it may be seen; the timelines, where a
// span is asked for.
bool points_below_timelines(const LessonModel& lesson) {
  const auto& focus = lesson.step().focus;
  return lesson.progress.revealed() && focus && !focus->panel.empty() &&
         focus->panel != "timeline" && !asked_span(lesson.step());
}

// Few rows of words or sliders are read in less.
bool has_picture(std::string_view panel) {
  return !panel.empty() && panel != "knobs" && panel != "code" && panel != "compare" &&
         panel != "lesson" && panel != "timeline";
}

// The one in front below the timelines, whoever has opened it; knobs go with their step.
std::string panel_in_front(const Workspace& workspace) {
  for (const NamedPanel& panel : kPanels) {
    if (panel.name == "lesson" || panel.name == "timeline") continue;
    if (panel.name == "knobs" && !wants_knobs(workspace)) continue;
    const char* window = window_of(panel, workspace);
    if (window && is_in_front(window)) return std::string(panel.name);
  }
  return "compare";
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
void Application::show_panel_asked_for() {
  if (const NamedPanel* panel = find_panel(std::exchange(attention_.tab_to_show, "")))
    if (const char* window = window_of(*panel, workspace_);
        window && panels_.*open_of(*panel, workspace_))
      show_tab(window);
  std::string asked = std::exchange(attention_.asked_panel, "");
  if (is_part_of_flow(asked)) gradient_flow_.part = std::exchange(asked, "gradient-flow");
  const NamedPanel* panel = find_panel(asked);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (!window) return;
  // Asked for by hand, a lesson's own sweep is what there is to begin with.
  if (asked == "sweep" && !workspace_.sweep_form()) workspace_.start_lesson_sweep();
  bool& open = panels_.*open_of(*panel, workspace_);
  if (open) return bring_to_front(window);
  open = true;
  attention_.asked_panel = asked;  // again, in the next frame
  window_->scheduler().request_frames(3);
}

void Application::show_what_step_means() {
  const LessonModel* lesson = workspace_.lesson();
  if (!lesson || !lesson->progress.revealed()) return;
  const std::pair step{lesson->lesson.id, lesson->progress.step()};
  if (step == pointed_at_) return;
  const bool at_span = explains_span(lesson->step());
  const scenario::Focus* asked = asked_span(lesson->step());
  if (at_span && !is_there(*lesson->step().focus, workspace_)) return;
  if (asked && !is_there(*asked, workspace_)) return;
  pointed_at_ = step;
  opened_by_hand_.clear();
  attention_.focused_line = 0;
  // A room that has gone past lanes by N sees what is spoken of all the same.
  if (at_span || asked) workspace_.present.lanes = Present::kLanes;
  show_explained_span(at_span ? &*lesson->step().focus : nullptr);
  if (asked) show_where_to_look(*asked);
  if (const auto& focus = lesson->step().focus; focus && points_at_control(*focus))
    show_focus(*focus, workspace_, attention_, false);
  light_knob(lesson->step(), attention_);
  if (const auto& focus = lesson->step().focus; focus && !focus->panel.empty())
    show_panel(focus->panel);
  else if (wants_knobs(workspace_))
    show_panel("knobs");
  else if (workspace_.present.on && names_code(lesson->step()) &&
           ((lesson->step().focus && points_at_control(*lesson->step().focus)) ||
            !has_picture(panel_in_front(workspace_))))
    show_panel("code");
  if (shows_sweep(lesson->step())) workspace_.start_lesson_sweep();
}

// The whole again once the step is left, unless the learner has moved on to something else. The
// playhead stands where what is shown begins: from there it plays through the span.
void Application::show_explained_span(const scenario::Focus* focus) {
  TimelineState& timeline = attention_.timeline;
  const auto shown = std::exchange(explained_range_, std::nullopt);
  if (const auto offset = std::exchange(explained_offset_, std::nullopt);
      offset && workspace_.offset() == *offset)
    workspace_.set_offset(0);
  if (focus) line_up_with(*focus);
  if (!focus || !show_focus(*focus, workspace_, attention_, true)) {
    if (shown && *shown == destination(timeline)) asked_.push_back("view.fit");
    return;
  }
  explained_range_ = destination(timeline);
  const std::size_t side = focus->run == "B" ? 1 : 0;
  put_playhead(side, explained_range_->start - (side > 0 ? workspace_.offset() : 0));
}

// What compares shows the same of both sides below each other, unless a person has moved B.
void Application::line_up_with(const scenario::Focus& focus) {
  const auto& sides = workspace_.sides();
  if (sides.size() != 2 || workspace_.offset() != explained_offset_.value_or(0)) return;
  if (!sides[0].run || !sides[1].run) return;
  const std::size_t side = focus.run == "B" ? 1 : 0;
  const auto meant = scenario::shown_span(focus, *sides[side].run);
  if (!meant) return;
  const analysis::Run &a = *sides[0].run, &b = *sides[1].run;
  const Nanos length = sides[side].run->trace->spans()[*meant].duration;
  const auto around = static_cast<Nanos>(std::max(focus.pad, 2.0) * static_cast<double>(length));
  // A line says of which work it is: its like is of that line, whatever else bears its name.
  const bool of_line = focus.line > 0 || !focus.code.empty();
  const auto offset = of_line ? offset_to_compare(a, b, side == 1, *meant)
                              : offset_to_compare(a, b, side == 1, *meant, around);
  if (!offset || *offset == workspace_.offset()) return;
  workspace_.set_offset(*offset);
  explained_offset_ = workspace_.offset();
}

// Its row comes into sight, and so much of the run that it can be found and clicked.
void Application::show_where_to_look(const scenario::Focus& asked) {
  const std::size_t side = asked.run == "B" ? 1 : 0;
  const analysis::Run& run = *workspace_.sides()[side].run;
  const auto meant = scenario::shown_span(asked, run);
  if (!meant) return;
  const trace::Span& span = run.trace->spans()[*meant];
  TimelineState& timeline = attention_.timeline;
  timeline.reveal = {static_cast<Side>(side), *meant};
  std::erase(timeline.collapsed[side], span.lane);
  const auto range = range_to_search(*run.trace, *meant, workspace_.end());
  if (!range) return;
  line_up_with(asked);
  const Nanos offset = side > 0 ? workspace_.offset() : 0;
  constexpr double kRoom = 0.1;
  show_range(timeline, {range->start + offset, range->end + offset}, kRoom);
  explained_range_ = destination(timeline);
  // What panels show at the playhead is of the step that is looked at.
  const Nanos here = workspace_.playhead_of(side);
  if (here < range->start || here >= range->end)
    workspace_.playhead.time =
        std::clamp<Nanos>(workspace_.playhead_at(side, range->start), 0, workspace_.playhead_end());
}

bool Application::has_panel(std::string_view name) const {
  const NamedPanel* panel = find_panel(is_part_of_flow(name) ? "gradient-flow" : name);
  return panel && window_of(*panel, workspace_);
}

void Application::open_panel(const std::string& name) {
  opened_by_hand_ = is_part_of_flow(name) ? "gradient-flow" : name;
  show_panel(name);
}

void Application::toggle_panel(const std::string& name) {
  const NamedPanel* panel = find_panel(name);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (window && panels_.*open_of(*panel, workspace_) && is_in_front(window)) {
    panels_.*open_of(*panel, workspace_) = false;
    opened_by_hand_ = name == opened_by_hand_ ? "" : opened_by_hand_;
    return;
  }
  open_panel(name);
}

// By its title among those of panels that share a place.
void Application::note_chosen_panel() {
  const std::string chosen = take_chosen_panel();
  for (const NamedPanel& panel : kPanels)
    if (const char* window = window_of(panel, workspace_); window && chosen == window)
      opened_by_hand_ = panel.name;
}

void Application::draw_panels(const PanelContext& context) {
  const Arrangement arrangement = arrangement_of(workspace_);
  const Room room = room_for_panels(theme_);
  if (layout_stale_) panels_ = {};
  if (arrangement == Arrangement::kPresent) note_chosen_panel();
  const std::string in_front = panel_in_front(workspace_);
  const bool wants = wants_room(workspace_, opened_by_hand_.empty() ? nullptr : &opened_by_hand_);
  const bool follows = arrangement == Arrangement::kPresent || arrangement == Arrangement::kSingle;
  std::optional<bool>& wanted = wanted_room_.at(static_cast<std::size_t>(arrangement));
  const bool turned = follows && wanted.value_or(wants) != wants;
  dock_panels(theme_, arrangement, room, wants,
              layout_stale_ || turned || room != room_.value_or(room));
  if (turned && arrangement == Arrangement::kPresent)
    show_panel(opened_by_hand_.empty() ? in_front : opened_by_hand_);
  wanted = wants;
  layout_stale_ = false;
  room_ = room;
  if (arrangement == Arrangement::kSingle) {
    if (panels_.timelines) draw_timelines(context, timelines_, kTimelinePanel, &panels_.timelines);
    if (panels_.code)
      has_listing(workspace_) ? draw_code(context, kSingleCodePanel, &panels_.code)
                              : draw_details_panel(context, kDetailsPanel, &panels_.code);
    if (panels_.compare) draw_summary(context, summary_, kSummaryPanel, &panels_.compare);
    if (panels_.copy_path)
      draw_copy_path(context, copy_path_, kSingleCopyPathPanel, kSummaryPanel, &panels_.copy_path);
    draw_states(context, true);
    return;
  }
  if (arrangement != Arrangement::kPair && panels_.lesson)
    draw_lesson(context, lesson_, kLessonPanel, &panels_.lesson);
  if (panels_.timelines) draw_timelines(context, timelines_, kTimelinesPanel, &panels_.timelines);
  arrangement == Arrangement::kPresent ? draw_for_a_room(context) : draw_tools(context, room);
}

void Application::draw_for_a_room(const PanelContext& context) {
  if (panels_.compare)
    draw_compare(context, compare_, kDifferencePanel, &panels_.compare, ComparePart::kWaterfall);
  if (panels_.copy_path)
    draw_copy_path(context, copy_path_, kCopyPathPanel, kDifferencePanel, &panels_.copy_path);
  if (panels_.code && !all_imported(workspace_))
    draw_code_difference(context, kCodePanel, &panels_.code);
  draw_states(context, false);
  if (panels_.knobs && wants_knobs(workspace_))
    draw_knobs(context, knobs_, kKnobsPanel, &panels_.knobs);
}

// Where there is little room they share one place, as tabs in this order.
void Application::draw_tools(const PanelContext& context, Room room) {
  const bool compact = room != Room::kWide;
  if (panels_.compare)
    draw_compare(context, compare_, kComparePanel, &panels_.compare,
                 compact ? ComparePart::kTable : ComparePart::kBoth);
  if (panels_.compare && compact)
    draw_compare(context, compare_, kDifferencePanel, &panels_.compare, ComparePart::kWaterfall);
  if (panels_.copy_path)
    draw_copy_path(context, copy_path_, kCopyPathPanel, kComparePanel, &panels_.copy_path);
  draw_states(context, false);
  const bool read_only = all_imported(workspace_);
  if (panels_.knobs && !read_only) draw_knobs(context, knobs_, kKnobsPanel, &panels_.knobs);
  if (panels_.code && !read_only) draw_code(context, kCodePanel, &panels_.code);
  if (panels_.code && read_only) draw_details_panel(context, kPairDetailsPanel, &panels_.code);
}

void Application::draw_states(const PanelContext& context, bool single) {
  const char* beside = single ? kTimelinePanel : kComparePanel;
  if (panels_.loss && has_loss(workspace_))
    draw_loss(context, loss_, single ? kSingleLossPanel : kLossPanel, beside, &panels_.loss);
  if (panels_.loss_scaling && has_loss_scaling(workspace_))
    draw_loss_scaling(context, loss_scaling_, single ? kSingleLossScalingPanel : kLossScalingPanel,
                      beside, &panels_.loss_scaling);
  if (panels_.memory && has_memory(workspace_))
    draw_memory(context, memory_, single ? kSingleMemoryPanel : kMemoryPanel, beside,
                &panels_.memory);
  if (panels_.sm_array && has_sm_array(workspace_))
    draw_sm_array(context, sm_array_, single ? kSingleSmArrayPanel : kSmArrayPanel, beside,
                  &panels_.sm_array);
  if (panels_.gradient_flow && has_gradient_flow(workspace_))
    draw_gradient_flow(context, gradient_flow_,
                       single ? kSingleGradientFlowPanel : kGradientFlowPanel, beside,
                       &panels_.gradient_flow);
  if (panels_.roofline && shows_roofline(context, roofline_))
    draw_roofline(context, roofline_, single ? kSingleRooflinePanel : kRooflinePanel, beside,
                  &panels_.roofline);
  bool& operations = single ? panels_.single_operations : panels_.operations;
  if (operations && has_operations(workspace_))
    draw_operations(context, operations_, single ? kSingleOperationsPanel : kOperationsPanel,
                    beside, &operations);
  if (panels_.runs && has_runs(workspace_))
    draw_runs(context, runs_, single ? kSingleRunsPanel : kRunsPanel, beside, &panels_.runs);
  if (panels_.sweep && workspace_.can_sweep())
    draw_sweep_panel(context, sweep_, single ? kSingleSweepPanel : kSweepPanel, beside,
                     &panels_.sweep);
}

}  // namespace trainscope::ui
