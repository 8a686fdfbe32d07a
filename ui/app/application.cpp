#include "ui/app/application.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "ui/app/action_table.h"
#include "ui/app/export.h"
#include "ui/app/moment.h"
#include "ui/app/settings.h"
#include "ui/app/shortcuts.h"
#include "ui/panels/running.h"
#include "ui/panels/shelf.h"
#include "ui/panels/side_data.h"
#include "ui/panels/top_bar.h"

namespace trainscope::ui {
namespace {

bool shows_sweep(const scenario::Step& step) {
  return step.focus && step.focus->panel == "sweep";
}

}  // namespace

Application::Application(Window& window, ThemeMode mode)
    : window_(&window), workspace_([&window] { window.wake(); }) {
  theme_.mode = mode;
  can_ = [this](std::string_view action) { return can(action); };
}

// ---- Actions -----------------------------------------------------------------------------------

bool Application::can(std::string_view action) const {
  const Binding* binding = find_binding(action);
  return binding && binding->enabled(*this);
}

void Application::run(std::string_view action) {
  static constexpr std::string_view kOpenLesson = "open-lesson ";
  static constexpr std::string_view kMachinesOf = "machines-of ";
  static constexpr std::string_view kChooseMachine = "choose-machine ";
  static constexpr std::string_view kDropRun = "runs-drop ", kTakeRun = "runs-take ";
  static constexpr std::string_view kSweepKnob = "sweep-knob ", kSweepTake = "sweep-take ";
  if (action == "animate") {
    animating_ = true;
    window_->scheduler().request_frames(2);
  } else if (action.starts_with(kMachinesOf)) {
    open_machines(action.ends_with('A') ? 0 : 1);
  } else if (action.starts_with(kChooseMachine)) {
    const std::string_view words = action.substr(kChooseMachine.size());
    const std::size_t blank = words.find(' ');
    choose_machine(words.substr(0, blank), std::string(words.substr(blank + 1)));
  } else if (action.starts_with(kSweepKnob)) {
    sweep_knob(std::string(action.substr(kSweepKnob.size())));
  } else if (action.starts_with(kDropRun)) {
    workspace_.drop_kept(std::stoul(std::string(action.substr(kDropRun.size()))));
  } else if (action.starts_with(kTakeRun)) {
    const std::size_t side = workspace_.sides().size() - 1;
    workspace_.take_kept(side, std::stoul(std::string(action.substr(kTakeRun.size()))));
  } else if (action.starts_with(kSweepTake)) {
    const std::string words(action.substr(kSweepTake.size()));
    workspace_.take_sweep_point(words.starts_with('1') ? 1 : 0, std::stoul(words.substr(2)));
  } else if (action.starts_with(kOpenLesson)) {
    const std::string id(action.substr(kOpenLesson.size()));
    for (const scenario::Lesson& lesson : workspace_.shelf())
      if (lesson.id == id) {
        attention_ = {};
        workspace_.open_lesson(lesson);
        break;
      }
  } else if (const Binding* binding = find_binding(action); binding && binding->enabled(*this)) {
    binding->run(*this);
  }
}

void Application::run_asked() {
  const std::vector<std::string> asked = std::exchange(asked_, {});
  for (const std::string& action : asked) run(action);
  if (!asked.empty()) window_->scheduler().request_frames(2);
}

void Application::set_theme(ThemeMode mode) {
  // The projector's panels stand otherwise: there is room for fewer side by side.
  if ((mode == ThemeMode::kProjector) != (theme_.mode == ThemeMode::kProjector))
    layout_stale_ = true;
  theme_.mode = mode;
  dressed_scale_ = 0;
}

void Application::set_zoom(float zoom) {
  zoom_ = std::clamp(zoom, kLeastZoom, kMostZoom);
  layout_stale_ = true;
}

void Application::open_palette() {
  palette_ = {};
  palette_.open = palette_.just_opened = true;
}

void Application::ask_for_trace() {
  trace_sheet_.open = trace_sheet_.just_opened = true;
}

void Application::ask_for_export() {
  export_sheet_.open = export_sheet_.just_opened = true;
  const LessonModel* lesson = workspace_.lesson();
  if (export_sheet_.path.empty())
    export_sheet_.path = (lesson ? lesson->lesson.id : std::string("trainscope")) + ".html";
}

// A picture is of the next frame, without the sheet.
void Application::export_to(const std::string& file) {
  if (file.ends_with(".png")) {
    picture_due_ = file;
    return;
  }
  try {
    workspace_.notice = write_export(workspace_, file);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

// With what was copied, where that is a link.
void Application::ask_for_link() {
  link_sheet_.open = link_sheet_.just_opened = true;
  const char* copied = ImGui::GetClipboardText();
  if (copied && std::string_view(copied).starts_with(scenario::kLinkBegins))
    link_sheet_.path = copied;
}

void Application::copy_link() {
  const std::string link = scenario::write_link(workspace_.link());
  ImGui::SetClipboardText(link.c_str());
  workspace_.notice = "Copied: " + link;
}

void Application::open_link(const std::string& text) {
  try {
    const scenario::Link link = scenario::parse_link(text);
    attention_ = {};
    workspace_.open_link(link);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

void Application::ask_for_picture() {
  picture_sheet_.open = picture_sheet_.just_opened = true;
  if (picture_sheet_.path.empty()) picture_sheet_.path = "trainscope.png";
}

// The projector's theme comes with it, and goes with it.
void Application::set_present(bool on) {
  if (workspace_.present.on == on) return;
  workspace_.present.on = on;
  if (on) theme_before_ = theme_.mode;
  set_theme(on ? ThemeMode::kProjector : theme_before_);
  layout_stale_ = true;
}

void Application::ask_for_operations() {
  operations_sheet_.open = operations_sheet_.just_opened = true;
  if (operations_sheet_.path.empty()) operations_sheet_.path = "operations.csv";
}

void Application::explore() {
  attention_before_ = attention_;
  workspace_.explore();
}

void Application::open_machines(int side) {
  if (workspace_.has_machines()) open_machine_chooser(machines_, workspace_, side);
}

void Application::choose_machine(std::string_view sides, const std::string& id) {
  if (!workspace_.machine_refusal(id).empty()) return;
  if (workspace_.can_explore()) explore();
  for (const char side : sides) workspace_.set_machine(static_cast<std::size_t>(side - 'A'), id);
}

void Application::sweep_knob(const std::string& knob) {
  if (!workspace_.can_sweep()) return;
  begin_sweep(workspace_, sweep_, knob.empty() ? knob_to_sweep(workspace_, attention_) : knob);
  show_panel("sweep");
}

void Application::return_to_lesson() {
  workspace_.return_to_lesson();
  if (attention_before_) attention_ = *attention_before_;
  attention_before_.reset();
  if (const LessonModel* lesson = workspace_.lesson(); lesson && shows_sweep(lesson->step()))
    workspace_.start_lesson_sweep();
}

void Application::select_span(const SpanRef& span) {
  const auto side = static_cast<std::size_t>(span.side);
  const trace::Span& found = workspace_.sides()[side].view->trace->spans()[span.span];
  TimelineState& timeline = attention_.timeline;
  timeline.selected = timeline.reveal = span;
  bring_into_view(timeline, {found.start, found.end()});
  const bool by_step = side > 0 && workspace_.playhead.by_step && workspace_.can_align_steps();
  const auto& sides = workspace_.sides();
  const Nanos time =
      by_step ? same_step(*sides[side].view, *sides[0].view, found.start) : found.start;
  workspace_.playhead.time = std::clamp<Nanos>(time, 0, workspace_.playhead_end());
  attention_.code_side = side;
}

void Application::show_me() {
  LessonModel& lesson = *workspace_.lesson();
  const scenario::Step& step = lesson.step();
  const bool find = step.question && step.question->kind == scenario::QuestionKind::kFindSpan;
  const scenario::Focus& focus = find ? *step.question->span : *step.focus;
  if (!show_focus(focus, workspace_, attention_, find))
    workspace_.notice = "The lesson points at something that this run does not have.";
  // Being shown is not finding.
  if (find && !lesson.progress.answer(lesson.progress.step()).committed) workspace_.skip_question();
}

// ---- A frame -----------------------------------------------------------------------------------

void Application::dress() {
  const float scale = window_->scale() * zoom_;
  if (scale == dressed_scale_) return;
  theme_ = make_theme(theme_.mode, scale, window_->fonts());
  apply(theme_);
  window_->set_ground(theme_.ground);
  dressed_scale_ = scale;
}

PanelContext Application::context() {
  return {theme_, workspace_, attention_, asked_, can_};
}

void Application::take_shortcuts() {
  const bool sheet = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup);
  if (sheet) return;
  const bool leaves = can("timeline.leave");
  for (const ActionInfo& action : actions()) {
    // The timelines read these themselves when the mouse is over them.
    const bool theirs = (action.id.starts_with("view.") && attention_.timeline_has_keys) ||
                        (attention_.timeline_hovered && is_timeline_key(action.shortcut));
    // What was entered last is left first: the lesson's own path is returned to after that.
    const bool later = leaves && action.id == "lesson.return";
    if (theirs || later || !is_pressed(action)) continue;
    // In front of a room the space bar reveals what comes next.
    const bool reveals = action.id == "play.toggle" && can("present.reveal");
    asked_.push_back(reveals ? "present.reveal" : action.id);
  }
}

void Application::advance_playhead() {
  Playhead& playhead = workspace_.playhead;
  if (!playhead.playing) return;
  const TimeRange& view = attention_.timeline.view;
  const double share =
      std::min(static_cast<double>(ImGui::GetIO().DeltaTime), 0.1) / playhead.seconds;
  playhead.time +=
      static_cast<Nanos>(std::llround(static_cast<double>(view.end - view.start) * share));
  const auto& range = attention_.timeline.range;
  if (range && playhead.time >= std::min(range->end, workspace_.playhead_end()))
    playhead.time = std::clamp<Nanos>(range->start, 0, workspace_.playhead_end());
  if (playhead.time >= workspace_.playhead_end()) {
    playhead.time = workspace_.playhead_end();
    playhead.playing = false;
  }
  // The view turns the page when the playhead leaves it.
  if (playhead.playing && playhead.time > view.end && attention_.timeline.progress >= 1)
    pan(attention_.timeline, 0.9);
  window_->scheduler().animate_for(0.1);
}

namespace {

// A lesson's name of a panel, and its windows: of a pair's screen and of one run's.
struct NamedPanel {
  std::string_view name;
  bool PanelsOpen::* open;
  const char* pair;
  const char* single;
};

const NamedPanel* find_panel(std::string_view name) {
  static constexpr NamedPanel kPanels[] = {
      {"lesson", &PanelsOpen::lesson, kLessonPanel, nullptr},
      {"timeline", &PanelsOpen::timelines, kTimelinesPanel, kTimelinePanel},
      {"knobs", &PanelsOpen::knobs, kKnobsPanel, nullptr},
      {"code", &PanelsOpen::code, kCodePanel, kDetailsPanel},
      {"compare", &PanelsOpen::compare, kComparePanel, kSummaryPanel},
      {"copy-path", &PanelsOpen::copy_path, kCopyPathPanel, kSingleCopyPathPanel},
      {"loss", &PanelsOpen::loss, kLossPanel, kSingleLossPanel},
      {"loss-scaling", &PanelsOpen::loss_scaling, kLossScalingPanel, kSingleLossScalingPanel},
      {"memory", &PanelsOpen::memory, kMemoryPanel, kSingleMemoryPanel},
      {"sm-array", &PanelsOpen::sm_array, kSmArrayPanel, kSingleSmArrayPanel},
      {"gradient-flow", &PanelsOpen::gradient_flow, kGradientFlowPanel, kSingleGradientFlowPanel},
      {"roofline", &PanelsOpen::roofline, kRooflinePanel, kSingleRooflinePanel},
      {"operations", &PanelsOpen::operations, kOperationsPanel, nullptr},
      {"runs", &PanelsOpen::runs, kRunsPanel, kSingleRunsPanel},
      {"sweep", &PanelsOpen::sweep, kSweepPanel, kSingleSweepPanel}};
  for (const NamedPanel& panel : kPanels)
    if (panel.name == name) return &panel;
  return nullptr;
}

const char* window_of(const NamedPanel& panel, const Workspace& workspace) {
  return arrangement_of(workspace) == Arrangement::kSingle ? panel.single : panel.pair;
}

// What is below the timelines wants room: charts of a training, the SMs, the GPUs of a collective.
bool wants_height(const Workspace& workspace) {
  const auto& sides = workspace.sides();
  return std::any_of(sides.begin(), sides.end(), [](const SideModel& side) {
    const std::string& workload = side.config.word("workload");
    const bool wants = workload == "train" || workload == "kernel" || workload == "gemm" ||
                       workload == "collective";
    return side.file.empty() && wants;
  });
}

}  // namespace

// Once the panels have been drawn: only then they have a place.
void Application::show_panel_asked_for() {
  if (const NamedPanel* panel = find_panel(std::exchange(attention_.tab_to_show, "")))
    if (const char* window = window_of(*panel, workspace_); window && panels_.*panel->open)
      show_tab(window);
  const std::string asked = std::exchange(attention_.asked_panel, "");
  const NamedPanel* panel = find_panel(asked);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (!window) return;
  // Asked for by hand, a lesson's own sweep is what there is to begin with.
  if (asked == "sweep" && !workspace_.sweep_form()) workspace_.start_lesson_sweep();
  if (panels_.*panel->open) return bring_to_front(window);
  panels_.*panel->open = true;
  attention_.asked_panel = asked;  // again, in the next frame
  window_->scheduler().request_frames(3);
}

void Application::show_panel_of_step() {
  const LessonModel* lesson = workspace_.lesson();
  if (!lesson || !lesson->progress.revealed()) return;
  const std::pair step{lesson->lesson.id, lesson->progress.step()};
  if (step == pointed_at_) return;
  pointed_at_ = step;
  if (const auto& focus = lesson->step().focus; focus && !focus->panel.empty())
    show_panel(focus->panel);
  if (shows_sweep(lesson->step())) workspace_.start_lesson_sweep();
}

void Application::toggle_panel(const std::string& name) {
  const NamedPanel* panel = find_panel(name);
  const char* window = panel ? window_of(*panel, workspace_) : nullptr;
  if (window && panels_.*panel->open && is_in_front(window))
    panels_.*panel->open = false;
  else
    show_panel(name);
}

void Application::draw_panels(const PanelContext& context) {
  const Arrangement arrangement = arrangement_of(workspace_);
  const bool compact = is_compact(theme_);
  if (layout_stale_) panels_ = {};
  dock_panels(theme_, arrangement, compact, wants_height(workspace_),
              layout_stale_ || compact != compact_.value_or(compact));
  layout_stale_ = false;
  compact_ = compact;
  if (arrangement == Arrangement::kSingle) {
    if (panels_.timelines) draw_timelines(context, timelines_, kTimelinePanel, &panels_.timelines);
    if (panels_.code) draw_details_panel(context, kDetailsPanel, &panels_.code);
    if (panels_.compare) draw_summary(context, summary_, kSummaryPanel, &panels_.compare);
    if (panels_.copy_path)
      draw_copy_path(context, copy_path_, kSingleCopyPathPanel, kSummaryPanel, &panels_.copy_path);
    draw_states(context, true);
    return;
  }
  if (arrangement != Arrangement::kPair && panels_.lesson)
    draw_lesson(context, lesson_, kLessonPanel, &panels_.lesson);
  if (panels_.timelines) draw_timelines(context, timelines_, kTimelinesPanel, &panels_.timelines);
  arrangement == Arrangement::kPresent ? draw_for_a_room(context) : draw_tools(context, compact);
}

void Application::draw_for_a_room(const PanelContext& context) {
  if (panels_.compare)
    draw_compare(context, compare_, kDifferencePanel, &panels_.compare, ComparePart::kWaterfall);
  if (panels_.copy_path)
    draw_copy_path(context, copy_path_, kCopyPathPanel, kDifferencePanel, &panels_.copy_path);
  draw_states(context, false);
}

// Where there is little room they share one place, as tabs in this order.
void Application::draw_tools(const PanelContext& context, bool compact) {
  if (panels_.compare)
    draw_compare(context, compare_, kComparePanel, &panels_.compare,
                 compact ? ComparePart::kTable : ComparePart::kBoth);
  if (panels_.compare && compact)
    draw_compare(context, compare_, kDifferencePanel, &panels_.compare, ComparePart::kWaterfall);
  if (panels_.copy_path)
    draw_copy_path(context, copy_path_, kCopyPathPanel, kComparePanel, &panels_.copy_path);
  draw_states(context, false);
  if (panels_.knobs) draw_knobs(context, knobs_, kKnobsPanel, &panels_.knobs);
  if (panels_.code) draw_code(context, kCodePanel, &panels_.code);
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
  if (!single && panels_.operations && has_operations(workspace_))
    draw_operations(context, operations_, kOperationsPanel, beside, &panels_.operations);
  if (panels_.runs && has_runs(workspace_))
    draw_runs(context, runs_, single ? kSingleRunsPanel : kRunsPanel, beside, &panels_.runs);
  if (panels_.sweep && workspace_.can_sweep())
    draw_sweep_panel(context, sweep_, single ? kSingleSweepPanel : kSweepPanel, beside,
                     &panels_.sweep);
}

void Application::draw_sheets(const PanelContext& context) {
  draw_all_parameters(context, knobs_, attention_.all_parameters);
  draw_palette(context, palette_);
  draw_machine_chooser(context, machines_);
  draw_help(context, help_open_);
  draw_terms(context, terms_open_);
  draw_notes(context, notes_open_);
  draw_log(context, log_, log_open_);
  if (draw_path_sheet(context, trace_sheet_, "Open a trace##sheet",
                      "The path of a trace of PyTorch's profiler: .json or .json.gz", "Open")) {
    attention_ = {};
    workspace_.open_trace(trace_sheet_.path);
  }
  if (draw_path_sheet(context, link_sheet_, "Open a link##sheet",
                      "One line that begins with trainscope:1, as \"Copy a link\" writes it",
                      "Open"))
    open_link(link_sheet_.path);
  if (draw_path_sheet(context, export_sheet_, "Export##sheet",
                      "The file's ending says what is written: .html a report, .json or .json.gz "
                      "a Chrome trace of each run, .csv the metrics, .tsrun the runs themselves, "
                      ".png a picture",
                      "Write"))
    export_to(export_sheet_.path);
  if (draw_path_sheet(context, picture_sheet_, "Save a picture##sheet",
                      "The window as it is now, as a PNG file", "Save"))
    picture_due_ = picture_sheet_.path;
  if (draw_path_sheet(context, operations_sheet_, "Save the operations##sheet",
                      "A line an operation, with its times in A and in B, as a CSV file", "Save"))
    save_operations();
  if (!picture_due_.empty()) window_->scheduler().request_frames(3);
}

// A sentence at the foot of the window, until it is clicked.
void Application::draw_notice() {
  if (workspace_.notice.empty()) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y - theme_.px(28)},
                          ImGuiCond_Always, {0.5F, 1});
  ImGui::SetNextWindowSize({std::min(theme_.px(620), viewport->WorkSize.x * 0.9F), 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme_.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme_.warn));
  ImGui::Begin("##notice", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
  text(theme_.font.text, theme_.size.small, theme_.text, workspace_.notice, true);
  if (button(theme_, "Close", ButtonKind::kLink)) workspace_.notice.clear();
  ImGui::End();
}

// At the foot of the window, once a run takes long enough to be waited for.
void Application::draw_progress() {
  constexpr auto kPatience = std::chrono::milliseconds(400);
  const auto now = std::chrono::steady_clock::now();
  std::vector<const SideModel*> slow;
  for (const SideModel& side : workspace_.sides())
    if (side.busy && now - side.progress.begun > kPatience) slow.push_back(&side);
  if (slow.empty()) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2,
                           viewport->WorkPos.y + viewport->WorkSize.y - theme_.px(28)},
                          ImGuiCond_Always, {0.5F, 1});
  ImGui::SetNextWindowSize({std::min(theme_.px(460), viewport->WorkSize.x * 0.9F), 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, static_cast<ImU32>(theme_.head));
  ImGui::PushStyleColor(ImGuiCol_Border, static_cast<ImU32>(theme_.accent));
  ImGui::Begin("##running", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
  for (const SideModel* side : slow) draw_running(theme_, *side);
  if (button(theme_, "Cancel", ButtonKind::kQuiet)) asked_.emplace_back("run.cancel");
  ImGui::End();
}

void Application::save_picture_if_due() {
  if (picture_due_.empty()) return;
  try {
    // The last finished frame: the sheet that asked for the name is gone from it by now.
    write_png(picture_due_, window_->capture());
    workspace_.notice = "The picture is in " + picture_due_.string() + ".";
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
  picture_due_.clear();
  picture_frames_ = 0;
}

void Application::save_operations() {
  try {
    refresh_operations(workspace_, operations_);
    write_file(operations_sheet_.path, analysis::operations_csv(operations_.rows));
    workspace_.notice = "The operations are in " + operations_sheet_.path + ".";
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

void Application::draw() {
  dress();
  workspace_.take_reports();
  log_.take(workspace_);
  for (const auto& file : window_->take_dropped_files()) {
    attention_ = {};
    workspace_.open_trace(file);
  }
  animating_ = false;
  const PanelContext shared = context();
  take_shortcuts();
  attention_.pointed_knob.clear();  // the panels tell it anew
  advance_playhead();
  draw_top_bar(shared);
  if (workspace_.screen() == Screen::kShelf)
    draw_shelf(shared);
  else
    draw_panels(shared);
  show_panel_of_step();
  show_panel_asked_for();
  // The sheet that asked for the name is still in the frame before this one.
  const bool picture_was_due = !picture_due_.empty() && picture_frames_++ > 1;
  draw_sheets(shared);
  draw_notice();
  draw_progress();
  if (picture_was_due) save_picture_if_due();
  run_asked();
  workspace_.keep_answers();
}

void Application::settle() {
  // Panels measure themselves in one frame and stand right in the next.
  for (int quiet = 0, frames = 0; quiet < 4 && frames < 5000; ++frames) {
    window_->begin_frame();
    draw();
    window_->end_frame();
    const bool busy = workspace_.busy() || workspace_.sweep().busy();
    quiet = busy || animating_ ? 0 : quiet + 1;
    if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace trainscope::ui
