// The application around a window: one frame after another, on the display or off screen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/app/files/exporter.h"
#include "ui/app/files/file_opener.h"
#include "ui/app/lesson/step_guide.h"
#include "ui/app/window/panel_deck.h"
#include "ui/app/window/theme.h"
#include "ui/app/window/window.h"
#include "ui/app/workspace/message_log.h"
#include "ui/app/workspace/workspace.h"
#include "ui/panels/lesson/tour.h"
#include "ui/panels/sheets/machine_chooser.h"
#include "ui/panels/sheets/palette.h"
#include "ui/panels/sheets/sheet.h"
#include "ui/panels/sheets/shelf.h"
#include "ui/panels/window/context.h"
#include "ui/panels/window/foot.h"

namespace trainscope::ui {

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
  PanelDeck& deck() { return deck_; }
  const PanelDeck& deck() const { return deck_; }
  FileOpener& files() { return files_; }
  Exporter& exporter() { return exporter_; }
  Window& window() { return *window_; }
  const Window& window() const { return *window_; }

  // ---- How it looks ----
  ThemeMode theme_mode() const { return theme_.mode; }
  void set_theme(ThemeMode mode);
  // Of everything, over the display's own.
  void set_zoom(float zoom);
  float zoom() const { return zoom_; }
  // What the shelf takes below one another, in pixels, once it has been drawn.
  float shelf_height() const;
  // A lesson in front of a room: ui/app/lesson/present.h.
  void set_present(bool on);
  // Whose colours that has; else the projector's.
  void set_room_theme(ThemeMode mode) { room_theme_ = mode; }
  void next_language();

  // ---- Sheets ----
  void open_palette();
  void toggle_help() { help_open_ = !help_open_; }
  void toggle_terms() { terms_open_ = !terms_open_; }
  void toggle_log() { log_open_ = !log_open_; }
  void toggle_notes() { notes_open_ = !notes_open_; }
  // From its first card; on the shelf it opens the lesson that comes next, to have something to
  // point at.
  void show_tour();
  const Tour& tour() const { return tour_; }
  void ask_for_link();
  void copy_link();
  // Says what is wrong with it where it cannot be read.
  void open_link(const std::string& text);

  // ---- What is looked at ----
  // At all of what is shown, with lanes, rows and listing as at first.
  void look_anew();
  // Selects a span and brings it into view, the playhead to its start. It is no answer of a lesson.
  void select_span(const SpanRef& span);
  // By a lesson's name of it: "knobs", "copy-path".
  void show_panel(const std::string& name) { attention_.asked_panel = name; }
  void show_me() { guide_.show_me(); }

  // ---- What is compared ----
  void copy_beside();
  // `setting`: what the replay changes, "replay.host_speed=2"; empty: nothing.
  void replay_beside(const std::string& settings = {});
  void close_beside();
  // Leaves the lesson's path and comes back, with the view as it was.
  void explore();
  void return_to_lesson();
  // For side 0 (A), 1 (B), or both (-1).
  void open_machines(int side);
  // "A", "B" or "AB". In a lesson this is a fork: the lesson waits.
  void choose_machine(std::string_view sides, const std::string& id);
  // Over values around those that the knob has now; empty: the knob that is pointed at.
  void sweep_knob(const std::string& knob);

 private:
  PanelContext context();
  void dress();
  void take_shortcuts();
  void advance_playhead();
  void draw_sheets(const PanelContext& context);
  void draw_foot(const PanelContext& context);
  void run_asked();

  Window* window_;
  Theme theme_;
  float zoom_ = 1;
  float dressed_scale_ = 0;
  ThemeMode theme_before_ = ThemeMode::kDark;  // that in front of a room
  ThemeMode room_theme_ = ThemeMode::kProjector;

  Workspace workspace_;
  Attention attention_;
  std::optional<Attention> attention_before_;  // of the lesson, while exploring
  PanelDeck deck_;
  StepGuide guide_;
  FileOpener files_;
  Exporter exporter_;

  ShelfPanel shelf_;
  PalettePanel palette_;
  MachineChooser machines_;
  PathSheet link_sheet_;
  Tour tour_;
  bool help_open_ = false;
  bool terms_open_ = false;
  bool notes_open_ = false;
  bool log_open_ = false;
  MessageLog log_;
  NoticeBar notice_;

  std::vector<std::string> asked_;
  std::function<bool(std::string_view)> can_;
  bool animating_ = false;
};

}  // namespace trainscope::ui
