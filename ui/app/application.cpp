#include "ui/app/application.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/error.h"
#include "scenario/progress.h"
#include "ui/app/action_table.h"
#include "ui/app/moment.h"
#include "ui/app/settings.h"
#include "ui/app/shortcuts.h"
#include "ui/panels/side_data.h"
#include "ui/panels/top_bar.h"

namespace trainscope::ui {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

}  // namespace

Application::Application(Window& window, ThemeMode mode, analysis::GpuRuns::OpenDevice gpu)
    : window_(&window), workspace_([&window] { window.wake(); }, std::move(gpu)) {
  theme_.mode = mode;
  can_ = [this](std::string_view action) { return can(action); };
}

// ---- Actions -----------------------------------------------------------------------------------

bool Application::can(std::string_view action) const {
  if (action.starts_with(kOpenRecent) || action.starts_with(kOpenLesson)) return true;
  const Binding* binding = find_binding(action);
  return binding && binding->enabled(*this);
}

void Application::run(std::string_view action) {
  static constexpr std::string_view kMachinesOf = "machines-of ";
  static constexpr std::string_view kChooseMachine = "choose-machine ";
  static constexpr std::string_view kDropRun = "runs-drop ", kTakeRun = "runs-take ";
  static constexpr std::string_view kSweepKnob = "sweep-knob ", kSweepTake = "sweep-take ";
  static constexpr std::string_view kWhatIf = "what-if ";
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
  } else if (action.starts_with(kWhatIf)) {
    replay_beside(std::string(action.substr(kWhatIf.size())));
  } else if (action.starts_with(kDropRun)) {
    workspace_.drop_kept(std::stoul(std::string(action.substr(kDropRun.size()))));
  } else if (action.starts_with(kTakeRun)) {
    if (const auto sides = workspace_.sides_with_knobs(); !sides.empty())
      workspace_.take_kept(sides.back(), std::stoul(std::string(action.substr(kTakeRun.size()))));
  } else if (action.starts_with(kSweepTake)) {
    const std::string words(action.substr(kSweepTake.size()));
    workspace_.take_sweep_point(words.starts_with('1') ? 1 : 0, std::stoul(words.substr(2)));
  } else if (action.starts_with(kOpenRecent)) {
    const std::size_t number = std::stoul(std::string(action.substr(kOpenRecent.size())));
    if (number < recent_.files().size()) try_open(std::filesystem::path(recent_.files()[number]));
  } else if (action.starts_with(kOpenLesson)) {
    const std::string id(action.substr(kOpenLesson.size()));
    for (const scenario::Lesson& lesson : workspace_.shelf())
      if (lesson.id == id) {
        attention_ = {};
        recent_.add(lesson.file);
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

// The projector's theme, or the one that was asked for, comes with it and goes with it.
void Application::set_present(bool on) {
  if (workspace_.present.on == on) return;
  workspace_.present.on = on;
  if (on) theme_before_ = theme_.mode;
  set_theme(on ? room_theme_ : theme_before_);
  layout_stale_ = true;
  // In the other arrangement, too, what the step points at is in front, else the difference.
  opened_by_hand_.clear();
  const LessonModel* lesson = workspace_.lesson();
  if (!lesson) return;
  const auto& focus = lesson->step().focus;
  if (lesson->progress.revealed() && focus && !focus->panel.empty())
    show_panel(focus->panel);
  else if (on)
    show_panel("compare");
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
  lesson.shown = true;
  workspace_.solve();
  if (!find && !step.focus) return;
  const bool is_there = find ? show_answer(*step.question->span)
                             : show_focus(*step.focus, workspace_, attention_, true);
  if (!is_there) workspace_.notice = "The lesson points at something that this run does not have.";
  // Being shown is not finding.
  if (find && !lesson.progress.answer(lesson.progress.step()).committed) workspace_.skip_question();
}

// Among its neighbours, with the playhead on it, whose words tell the step and what goes on.
bool Application::show_answer(scenario::Focus asked) {
  const std::size_t side = asked.run == "B" ? 1 : 0;
  const RunPointer& run = workspace_.sides()[side].run;
  const auto meant = run ? scenario::shown_span(asked, *run) : std::nullopt;
  if (!meant) return false;
  const trace::Span& span = run->trace->spans()[*meant];
  constexpr double kAround = 2;  // its length on each side, where there is so much to see
  const auto length = static_cast<double>(std::max<Nanos>(span.duration, 1));
  asked.pad = std::clamp((static_cast<double>(workspace_.end()) / length - 1) / 2, asked.pad,
                         std::max(asked.pad, kAround));
  line_up_with(asked);
  if (!show_focus(asked, workspace_, attention_, true)) return false;
  explained_range_ = destination(attention_.timeline);
  put_playhead(side, span.start);
  return true;
}

void Application::put_playhead(std::size_t side, Nanos time) {
  workspace_.playhead.time =
      std::clamp<Nanos>(workspace_.playhead_at(side, time), 0, workspace_.playhead_end());
}

// ---- A frame -----------------------------------------------------------------------------------

void Application::dress() {
  const bool room = workspace_.present.on;
  const float scale = (room ? window_->scale_in_a_room() : window_->scale()) * zoom_;
  if (scale == dressed_scale_) return;
  // Panels keep their size in a window that grows, and what is written in them has grown.
  if (room && dressed_scale_ > 0) layout_stale_ = true;
  theme_ = make_theme(theme_.mode, scale, window_->fonts(), room);
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
  // A panel that was brought to the front has the keys, but no item of it: the ring would stand
  // nowhere, and Dear ImGui's Tab only enters a window in which it does not stand.
  if (!ImGui::IsAnyItemFocused()) ImGui::SetNavCursorVisible(false);
  const bool leaves = can("timeline.leave");
  const bool item_has_keys = ImGui::GetIO().NavVisible && !attention_.timeline_has_keys;
  for (const ActionInfo& action : actions()) {
    // The timelines read these themselves when they have the keys.
    const bool theirs = action.id.starts_with("view.") && attention_.timeline_has_keys;
    // What was entered last is left first: the lesson's own path is returned to after that.
    const bool later = leaves && action.id == "lesson.return";
    if (theirs || later || !is_pressed(action, item_has_keys)) continue;
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
  const Nanos before = playhead.time;
  playhead.time +=
      static_cast<Nanos>(std::llround(static_cast<double>(view.end - view.start) * share));
  const auto pause = workspace_.pause_time();
  if (pause && before < *pause && playhead.time >= *pause) {
    playhead.time = *pause;
    playhead.playing = false;
    return;
  }
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

void Application::draw() {
  dress();
  workspace_.take_reports();
  workspace_.reload_if_saved();
  take_opened();
  take_exported();
  log_.take(workspace_);
  take_files();
  open_next_beside();
  animating_ = opening_.busy() || exporting_.busy();
  const PanelContext shared = context();
  take_shortcuts();
  attention_.pointed_knob.clear();  // the panels tell it anew
  advance_playhead();
  draw_top_bar(shared);
  if (workspace_.screen() == Screen::kShelf) {
    draw_shelf(shared, shelf_);
  } else {
    shelf_ = {};
    draw_panels(shared);
  }
  show_what_step_means();
  show_panel_asked_for();
  // The sheet that asked for the name is gone from this frame.
  const bool picture_was_due = !picture_due_.empty() && picture_frames_++ > 1;
  draw_sheets(shared);
  draw_notice();
  draw_progress();
  draw_opening();
  draw_exporting();
  if (picture_was_due) save_picture();
  run_asked();
  workspace_.keep_answers();
  // What a thread works out is looked for, though nobody moves the mouse.
  if (opening_.busy() || exporting_.busy())
    window_->scheduler().draw_at(RenderScheduler::Clock::now() + kBetweenLooks);
}

float Application::shelf_height() const {
  return ui::shelf_height(theme_);
}

void Application::settle() {
  // Panels measure themselves in one frame and stand right in the next.
  for (int quiet = 0, frames = 0; quiet < 4 && frames < 5000; ++frames) {
    window_->begin_frame();
    draw();
    window_->end_frame();
    const bool busy = workspace_.busy() || workspace_.outlining() || workspace_.sweep().busy() ||
                      workspace_.revisit_busy() || opening_.busy() || beside_next_ ||
                      exporting_.busy();
    quiet = busy || animating_ ? 0 : quiet + 1;
    if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace trainscope::ui
