// The application around a window: one frame after another, on the display or off screen.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/run_file.h"
#include "ui/app/background.h"
#include "ui/app/export.h"
#include "ui/app/layout.h"
#include "ui/app/message_log.h"
#include "ui/app/recent_files.h"
#include "ui/app/theme.h"
#include "ui/app/window.h"
#include "ui/app/workspace.h"
#include "ui/panels/code.h"
#include "ui/panels/compare.h"
#include "ui/panels/context.h"
#include "ui/panels/copy_path.h"
#include "ui/panels/gradient_flow.h"
#include "ui/panels/knobs.h"
#include "ui/panels/lesson.h"
#include "ui/panels/loss.h"
#include "ui/panels/loss_scaling.h"
#include "ui/panels/machine_chooser.h"
#include "ui/panels/memory.h"
#include "ui/panels/open_sheet.h"
#include "ui/panels/operations.h"
#include "ui/panels/palette.h"
#include "ui/panels/roofline.h"
#include "ui/panels/runs.h"
#include "ui/panels/sheet.h"
#include "ui/panels/shelf.h"
#include "ui/panels/sm_array.h"
#include "ui/panels/summary.h"
#include "ui/panels/sweep.h"
#include "ui/panels/timelines.h"
#include "ui/panels/tour.h"

namespace trainscope::ui {

// Where a file that is opened goes: in place of all, or beside A.
enum class Place : std::uint8_t { kAlone, kBeside };

class Application {
 public:
  Application(Window& window, ThemeMode mode,
              analysis::GpuRuns::OpenDevice gpu = analysis::plugged_in_device);

  // Everything between the window's begin_frame and end_frame.
  void draw();

  // Draws frames until nothing runs and nothing moves. Off screen.
  void settle();

  // Actions, by the ids of action_list.h.
  bool can(std::string_view action) const;
  void run(std::string_view action);

  Workspace& workspace() { return workspace_; }
  const Workspace& workspace() const { return workspace_; }
  Attention& attention() { return attention_; }
  const Attention& attention() const { return attention_; }
  PanelsOpen& panels() { return panels_; }
  ThemeMode theme_mode() const { return theme_.mode; }
  void set_theme(ThemeMode mode);
  // Of everything, over the display's own.
  void set_zoom(float zoom);
  float zoom() const { return zoom_; }
  // What the layout was made for; unknown at first.
  std::optional<Room> room() const { return room_; }
  void set_room(Room room) { room_ = room; }
  const OperationsPanel& operations() const { return operations_; }
  // What the shelf takes below one another, in pixels, once it has been drawn.
  float shelf_height() const;
  Window& window() { return *window_; }
  const Window& window() const { return *window_; }

  void reset_layout() { layout_stale_ = true; }
  void open_palette();
  void toggle_help() { help_open_ = !help_open_; }
  void toggle_terms() { terms_open_ = !terms_open_; }
  void toggle_log() { log_open_ = !log_open_; }
  void toggle_notes() { notes_open_ = !notes_open_; }
  // A lesson in front of a room: ui/app/present.h.
  void set_present(bool on);
  // Whose colours that has; else the projector's.
  void set_room_theme(ThemeMode mode) { room_theme_ = mode; }
  // The sheet that walks through folders.
  void ask_for_file(Place place);
  // Whatever it holds: a lesson, a saved run, a trace, a config, a machine. Throws InputError with
  // what is wrong or what to open instead.
  void open_file(const std::filesystem::path& file);
  // The same; what is wrong is a notice.
  void try_open(const std::filesystem::path& file);
  // A run, trace or config as B, where there is an A; else alone. Throws as open_file.
  void open_beside(const std::filesystem::path& file);
  // Of two that can be compared the second comes beside the first. What is wrong is a notice.
  void open_dropped(const std::vector<std::filesystem::path>& files);
  // At all of what is shown, with lanes, rows and listing as at first.
  void look_anew();
  void copy_beside();
  // `setting`: what the replay changes, "replay.host_speed=2"; empty: nothing.
  void replay_beside(const std::string& settings = {});
  void close_beside();
  void keep_recent_in(const std::filesystem::path& folder) { recent_ = RecentFiles(folder); }
  RecentFiles& recent() { return recent_; }
  void next_language();
  // From its first card; on the shelf it opens the lesson that comes next, to have something to
  // point at.
  void show_tour();
  const Tour& tour() const { return tour_; }
  void ask_for_link();
  void copy_link();
  // Says what is wrong with it where it cannot be read.
  void open_link(const std::string& text);
  void ask_for_picture();
  void ask_for_export();
  void ask_for_operations();
  // Leaves the lesson's path and comes back, with the view as it was.
  void explore();
  // For side 0 (A), 1 (B), or both (-1).
  void open_machines(int side);
  // "A", "B" or "AB". In a lesson this is a fork: the lesson waits.
  void choose_machine(std::string_view sides, const std::string& id);
  void return_to_lesson();
  void show_me();
  // Selects a span and brings it into view, the playhead to its start. It is no answer of a lesson.
  void select_span(const SpanRef& span);
  // By a lesson's name of it: "knobs", "copy-path".
  void show_panel(const std::string& name) { attention_.asked_panel = name; }
  // Whether what is on the screen can have a panel of that name, open or not.
  bool has_panel(std::string_view name) const;
  // The same, as a person does: in front of a room it is looked at, and has the room for that.
  void open_panel(const std::string& name);
  // Away when it is in front, else open and to the front.
  void toggle_panel(const std::string& name);
  // Over values around those that the knob has now; empty: the knob that is pointed at.
  void sweep_knob(const std::string& knob);

 private:
  PanelContext context();
  void dress();
  void take_shortcuts();
  void advance_playhead();
  void draw_panels(const PanelContext& context);
  void note_chosen_panel();
  void draw_tools(const PanelContext& context, Room room);
  void draw_for_a_room(const PanelContext& context);
  // Those that there is something to show in: training, memory, blocks on SMs.
  void draw_states(const PanelContext& context, bool single);
  void draw_sheets(const PanelContext& context);
  void draw_file_sheet(const PanelContext& context);
  void draw_path_sheets(const PanelContext& context);
  void draw_notice();
  void time_notice();
  void draw_progress();
  void draw_opening();
  void draw_exporting();
  void begin_to_open(const std::filesystem::path& file, Place place);
  void take_opened();
  void take_files();
  void open_next_beside();
  void run_asked();
  void save_picture();
  void export_to(const std::string& file);
  void begin_to_export(const std::string& file);
  void take_exported();
  void save_operations();
  void show_panel_asked_for();
  // A step that points at a panel brings it to the front, one that explains a span zooms to it, and
  // one that asks for a span brings its lane into sight, once its runs are there.
  void show_what_step_means();
  void show_explained_span(const scenario::Focus* focus);  // null: the step explains none
  void show_where_to_look(const scenario::Focus& asked);   // of a step that asks for a span
  bool show_answer(scenario::Focus asked);                 // false: the run has no such span
  void line_up_with(const scenario::Focus& focus);
  void put_playhead(std::size_t side, Nanos time);  // at a side's own time

  Window* window_;
  Theme theme_;
  float zoom_ = 1;
  float dressed_scale_ = 0;
  Workspace workspace_;
  Attention attention_;
  // What a lecturer has opened in a room, on that step: it is looked at as what a step points at.
  std::string opened_by_hand_;
  std::string timed_notice_;  // in front of a room: it goes by itself
  std::chrono::steady_clock::time_point notice_since_;
  std::pair<std::string, std::size_t> pointed_at_;  // the lesson and step of which it was shown
  std::optional<TimeRange> explained_range_;        // what was zoomed to for that step
  std::optional<Nanos> explained_offset_;           // of B, so that the same work meets
  std::optional<Attention> attention_before_;       // of the lesson, while exploring
  PanelsOpen panels_;
  bool layout_stale_ = false;
  // What is below the timelines wanted room, by arrangement, when that was last drawn.
  std::array<std::optional<bool>, 4> wanted_room_;
  std::optional<Room> room_;

  TimelinesPanel timelines_;
  LessonPanel lesson_;
  KnobsPanel knobs_;
  ComparePanel compare_;
  SummaryPanel summary_;
  CopyPathPanel copy_path_;
  LossPanel loss_;
  LossScalingPanel loss_scaling_;
  MemoryPanel memory_;
  SmArrayPanel sm_array_;
  GradientFlowPanel gradient_flow_;
  RooflinePanel roofline_;
  OperationsPanel operations_;
  RunsPanel runs_;
  SweepPanel sweep_;
  PalettePanel palette_;
  ShelfPanel shelf_;
  MachineChooser machines_;
  OpenSheet open_sheet_;
  // Saved runs that are being read: large ones take seconds.
  struct Opened {
    analysis::SavedRuns saved;
    std::string error;
  };
  Background<Opened> opening_;
  std::filesystem::path opening_file_;
  Place opening_place_ = Place::kAlone;
  Place asked_place_ = Place::kAlone;                 // of files that are being chosen
  std::optional<std::filesystem::path> beside_next_;  // once the file before it is open
  std::chrono::steady_clock::time_point opening_since_;
  RecentFiles recent_;
  // A file that is being written: a handout with its solutions, a long trace take seconds. Closing
  // the window waits for it.
  struct Exported {
    Written written;
    std::string error;
  };
  Background<Exported> exporting_;
  std::string exporting_file_;
  std::shared_ptr<std::atomic<bool>> exporting_cancelled_;
  std::chrono::steady_clock::time_point exporting_since_;
  PathSheet picture_sheet_;
  PathSheet link_sheet_;
  PathSheet export_sheet_;
  PathSheet operations_sheet_;
  Tour tour_;
  bool help_open_ = false;
  bool terms_open_ = false;
  bool notes_open_ = false;
  bool log_open_ = false;
  MessageLog log_;
  ThemeMode theme_before_ = ThemeMode::kDark;  // that in front of a room
  ThemeMode room_theme_ = ThemeMode::kProjector;
  std::vector<std::string> asked_;
  std::function<bool(std::string_view)> can_;
  std::filesystem::path picture_due_;
  int picture_frames_ = 0;  // drawn since it is due
  bool animating_ = false;
};

}  // namespace trainscope::ui
