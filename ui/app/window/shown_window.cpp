#include "ui/app/window/shown_window.h"

#include <utility>

#include "base/error.h"
#include "ui/app/workspace/window_link.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

WindowOptions options_of(const WindowRequest& request) {
  WindowOptions options;
  options.scale = request.scale;
  options.ini_file = settings_folder() / "layout.ini";
  options.forgiving = true;
  return options;
}

// The second comes beside the first.
void open_side(Workspace& workspace, const SideRequest& side) {
  const bool beside = workspace.can_open_beside();
  if (side.run && beside) {
    workspace.open_run_beside(side.run, side.file);
  } else if (side.run) {
    workspace.open_runs({side.run}, side.file);
  } else if (side.config && beside) {
    workspace.open_config_beside(*side.config);
  } else if (side.config) {
    scenario::Link link;
    link.knobs.a = *side.config;
    workspace.open_link(link);
  } else {
    beside ? workspace.open_trace_beside(side.file) : workspace.open_trace(side.file);
  }
}

void open_first(Workspace& workspace, const WindowRequest& request) {
  if (request.link)
    workspace.open_link(*request.link);
  else if (request.lesson)
    workspace.open_lesson(*request.lesson);
  else
    for (const SideRequest& side : request.sides) open_side(workspace, side);
}

bool names_nothing(const WindowRequest& request) {
  return !request.link && !request.lesson && request.sides.empty();
}

void reopen(Application& app, const SessionFile& session, bool silently) {
  app.open_link(session.left_behind());
  if (app.workspace().notice.empty() && !silently)
    app.workspace().notice =
        "Trainscope was not closed the last time. What was open then is open again.";
}

}  // namespace

ShownWindow::ShownWindow(const WindowRequest& request, analysis::GpuRuns::OpenDevice gpu)
    : settings_(load_settings()),
      window_(options_of(request)),
      app_(window_, request.theme.value_or(settings_.theme), std::move(gpu)),
      session_(settings_folder()),
      kept_(write_settings(settings_)) {
  app_.set_zoom(settings_.zoom);
  app_.deck().set_room(settings_.room);
  app_.workspace().record.set_student(request.student);
  app_.workspace().set_language(request.language.empty() ? settings_.language : request.language);
  app_.workspace().keep_learner_in(scenario::folder_of_student(settings_folder(), request.student));
  app_.files().keep_recent_in(settings_folder());
  for (const fs::path& file : request.files) app_.files().recent().add(file);
  if (request.theme) app_.set_room_theme(*request.theme);
  if (request.present) {
    app_.set_present(true);
    window_.set_full_screen(true);
  }
  open_first(app_.workspace(), request);
  app_.look_anew();
  if (names_nothing(request) && !session_.left_behind().empty())
    reopen(app_, session_, request.resumes);
  // Who brings a file of their own wants to see that.
  tours_ = !settings_.toured && names_nothing(request);
  if (tours_) app_.show_tour();
  for (const std::string& warning : window_.warnings()) app_.workspace().notice = warning;
}

void ShownWindow::draw_frame() {
  window_.begin_frame();
  app_.draw();
  window_.end_frame();
  keep_session();
  if (tours_ && !app_.tour().open) settings_.toured = true;
  keep_settings();
}

void ShownWindow::keep_session() {
  Workspace& workspace = app_.workspace();
  try {
    session_.keep(can_link(workspace) ? scenario::write_link(link_of(workspace)) : "");
  } catch (const Error& error) {
    workspace.notice = std::string("What is open cannot be kept for a crash: ") + error.what();
  }
}

// In front of a room the colours are the room's, and no choice.
void ShownWindow::keep_settings() {
  if (app_.workspace().present.on) return;
  settings_.theme = app_.theme_mode();
  settings_.zoom = app_.zoom();
  settings_.language = app_.workspace().shelf.language();
  settings_.room = app_.deck().room().value_or(settings_.room);
  if (std::string now = write_settings(settings_); now != kept_) {
    save_settings(settings_);
    kept_ = std::move(now);
  }
}

void ShownWindow::close() {
  session_.close();
  app_.set_present(false);
  keep_settings();
}

}  // namespace trainscope::ui
