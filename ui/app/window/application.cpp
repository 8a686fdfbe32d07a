#include "ui/app/window/application.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/error.h"
#include "scenario/course.h"
#include "scenario/translation.h"
#include "ui/app/actions/action_table.h"
#include "ui/app/actions/shortcuts.h"
#include "ui/app/lesson/room_view.h"
#include "ui/app/views/moment.h"
#include "ui/app/window/handover.h"
#include "ui/app/window/settings.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/app/workspace/window_link.h"
#include "ui/panels/window/top_bar.h"

namespace trainscope::ui {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

}  // namespace

Application::Application(Window& window, ThemeMode mode, analysis::GpuRuns::OpenDevice gpu)
    : window_(&window),
      workspace_([&window] { window.wake(); }, std::move(gpu)),
      deck_(workspace_, attention_),
      guide_(workspace_, attention_),
      files_(*this),
      exporter_(window, workspace_) {
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
    workspace_.kept.drop(std::stoul(std::string(action.substr(kDropRun.size()))));
  } else if (action.starts_with(kTakeRun)) {
    if (const auto sides = workspace_.sides_with_knobs(); !sides.empty())
      take_kept(workspace_, sides.back(), std::stoul(std::string(action.substr(kTakeRun.size()))));
  } else if (action.starts_with(kSweepTake)) {
    const std::string words(action.substr(kSweepTake.size()));
    take_sweep_point(workspace_, words.starts_with('1') ? 1 : 0, std::stoul(words.substr(2)));
  } else if (action.starts_with(kOpenRecent)) {
    const std::size_t number = std::stoul(std::string(action.substr(kOpenRecent.size())));
    const std::vector<std::filesystem::path>& recent = files_.recent().files();
    if (number < recent.size()) files_.try_open(std::filesystem::path(recent[number]));
  } else if (action.starts_with(kOpenLesson)) {
    const std::string id(action.substr(kOpenLesson.size()));
    for (const scenario::Lesson& lesson : workspace_.shelf.lessons())
      if (lesson.id == id) {
        attention_ = {};
        files_.recent().add(lesson.file);
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
  if ((mode == ThemeMode::kProjector) != (theme_.mode == ThemeMode::kProjector)) deck_.reset();
  theme_.mode = mode;
  dressed_scale_ = 0;
}

void Application::set_zoom(float zoom) {
  zoom_ = std::clamp(zoom, kLeastZoom, kMostZoom);
  deck_.reset();
}

// The projector's theme, or the one that was asked for, comes with it and goes with it.
void Application::set_present(bool on) {
  if (workspace_.present.on == on) return;
  workspace_.present.on = on;
  if (on) theme_before_ = theme_.mode;
  set_theme(on ? room_theme_ : theme_before_);
  deck_.reset();
  // In the other arrangement, too, what the step points at is in front, else the difference.
  deck_.forget_hand();
  const LessonModel* lesson = workspace_.lesson();
  if (!lesson) return;
  const auto& focus = lesson->step().focus;
  if (lesson->progress.revealed() && focus && !focus->panel.empty())
    show_panel(panel_to_show(workspace_, focus->panel));
  else if (on)
    show_panel("difference");
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
  if (!can_sweep(workspace_)) return;
  begin_sweep(workspace_, deck_.states.sweep,
              knob.empty() ? knob_to_sweep(workspace_, attention_) : knob);
  show_panel("sweep");
}

void Application::return_to_lesson() {
  workspace_.return_to_lesson();
  if (attention_before_) attention_ = *attention_before_;
  attention_before_.reset();
  if (const LessonModel* lesson = workspace_.lesson(); lesson && shows_sweep(lesson->step()))
    start_lesson_sweep(workspace_);
}

void Application::select_span(const SpanRef& span) {
  const auto side = static_cast<std::size_t>(span.side);
  const trace::Span& found = workspace_.sides()[side].view->trace->spans()[span.span];
  TimelineState& timeline = attention_.timeline;
  timeline.selected = timeline.reveal = span;
  bring_into_view(timeline, {found.start, found.end()});
  const bool by_step = side > 0 && workspace_.playhead.by_step && can_align_steps(workspace_);
  const auto& sides = workspace_.sides();
  const Nanos time =
      by_step ? same_step(*sides[side].view, *sides[0].view, found.start) : found.start;
  workspace_.playhead.time = std::clamp<Nanos>(time, 0, playhead_end(workspace_));
  attention_.code_side = side;
}

// ---- What is open ---------------------------------------------------------------------------

void Application::look_anew() {
  attention_ = {};
  deck_.states.timelines.seen = {};
  const std::vector<std::size_t> own = workspace_.sides_with_knobs();
  if (!own.empty()) attention_.code_side = own.front();  // the one with a listing
}

void Application::copy_beside() {
  workspace_.copy_beside();
  look_anew();
}

void Application::replay_beside(const std::string& settings) {
  workspace_.replay_beside(settings);
  look_anew();
}

void Application::close_beside() {
  workspace_.close_beside();
  look_anew();
}

void Application::show_tour() {
  if (workspace_.screen() == Screen::kShelf)
    for (const scenario::Track& track :
         scenario::course_of(workspace_.shelf.lessons(), workspace_.record.learner().records()))
      for (const scenario::CourseEntry& entry : track.lessons)
        if (entry.standing == scenario::Standing::kNext) run("open-lesson " + entry.lesson->id);
  tour_.begin();
}

void Application::next_language() {
  const std::vector<std::string> all = scenario::languages();
  const std::string now = workspace_.shelf.language().empty() ? std::string(scenario::kEnglish)
                                                              : workspace_.shelf.language();
  const auto at = std::find(all.begin(), all.end(), now);
  const bool last = at == all.end() || at + 1 == all.end();
  const std::string next = last ? all.front() : *(at + 1);
  workspace_.notice = "The lessons are shown in " + scenario::name_of_language(next) + ".";
  workspace_.set_language(next);
}

void Application::open_palette() {
  palette_ = {};
  palette_.open = palette_.just_opened = true;
  const std::vector<std::filesystem::path>& recent = files_.recent().files();
  for (std::size_t i = 0; i < recent.size(); ++i) {
    const std::filesystem::path& file = recent[i];
    palette_.more.push_back({std::string(kOpenRecent) + std::to_string(i),
                             "Open " + file.filename().string(), "", file.parent_path().string()});
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
  const std::string link = shared_link(scenario::write_link(link_of(workspace_)));
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

// ---- A frame -----------------------------------------------------------------------------------

void Application::dress() {
  const bool room = workspace_.present.on;
  const float scale = (room ? window_->scale_in_a_room() : window_->scale()) * zoom_;
  if (scale == dressed_scale_) return;
  // Panels keep their size in a window that grows, and what is written in them has grown.
  if (room && dressed_scale_ > 0) deck_.reset();
  theme_ = make_theme(theme_.mode, scale, window_->fonts(), room);
  apply(theme_);
  window_->set_ground(theme_.ground);
  dressed_scale_ = scale;
}

PanelContext Application::context() {
  return {theme_, workspace_, attention_, asked_, can_, deck_.chosen_panel()};
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
    // Dear ImGui goes from panel to panel by itself.
    const bool imguis = action.id == "layout.next_panel";
    if (theirs || later || imguis || !is_pressed(action, item_has_keys)) continue;
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
  const auto pause = pause_time(workspace_);
  if (pause && before < *pause && playhead.time >= *pause) {
    playhead.time = *pause;
    playhead.playing = false;
    return;
  }
  const auto& range = attention_.timeline.range;
  if (range && playhead.time >= std::min(range->end, playhead_end(workspace_)))
    playhead.time = std::clamp<Nanos>(range->start, 0, playhead_end(workspace_));
  if (playhead.time >= playhead_end(workspace_)) {
    playhead.time = playhead_end(workspace_);
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
  exporter_.take();
  files_.take();
  log_.take(workspace_);
  animating_ = files_.reading() || exporter_.busy() || workspace_.further_busy();
  const PanelContext shared = context();
  take_shortcuts();
  attention_.pointed_knob.clear();  // the panels tell it anew
  advance_playhead();
  draw_top_bar(shared);
  if (workspace_.screen() == Screen::kShelf) {
    draw_shelf(shared, shelf_);
  } else {
    shelf_ = {};
    deck_.draw(shared);
  }
  if (guide_.follow(asked_)) deck_.forget_hand();
  deck_.bring_forward(window_->scheduler());
  draw_sheets(shared);
  draw_foot(shared);
  exporter_.save_picture_if_due();
  run_asked();
  workspace_.keep_answers();
  // What a thread works out is looked for, though nobody moves the mouse.
  if (files_.reading() || exporter_.busy())
    window_->scheduler().draw_at(RenderScheduler::Clock::now() + kBetweenLooks);
}

void Application::draw_sheets(const PanelContext& context) {
  draw_all_parameters(context, deck_.states.knobs, attention_.all_parameters);
  draw_palette(context, palette_);
  draw_machine_chooser(context, machines_);
  draw_help(context, help_open_);
  draw_terms(context, terms_open_);
  draw_notes(context, notes_open_);
  draw_log(context, log_, log_open_);
  files_.draw_sheet(context);
  if (draw_path_sheet(context, link_sheet_, "Open a link##sheet",
                      "One line that begins with trainscope:1, as \"Copy a link\" writes it",
                      "Open"))
    open_link(link_sheet_.path);
  exporter_.draw_sheets(context, deck_.states.operations);
  draw_tour(context, tour_);
  if (tour_.open) window_->scheduler().request_frames(2);
}

void Application::draw_foot(const PanelContext& context) {
  if (const auto again = notice_.tick(workspace_)) window_->scheduler().draw_at(*again);
  notice_.draw(context, deck_.shown.lesson);
  draw_running_sides(context);
  files_.draw_progress(context);
  exporter_.draw_progress(context);
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
    const bool busy = workspace_.busy() || workspace_.outlining() || workspace_.sweep.busy() ||
                      workspace_.revisit_busy() || files_.busy() || exporter_.busy();
    quiet = busy || animating_ ? 0 : quiet + 1;
    if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace trainscope::ui
