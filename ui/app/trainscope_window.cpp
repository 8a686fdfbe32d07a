#include "ui/app/trainscope_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "ui/app/application.h"
#include "ui/app/session_file.h"
#include "ui/app/settings.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

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

void reopen(Application& app, const SessionFile& session) {
  app.open_link(session.left_behind());
  if (app.workspace().notice.empty())
    app.workspace().notice =
        "Trainscope was not closed the last time. What was open then is open again.";
}

void keep_session(Workspace& workspace, SessionFile& session) {
  try {
    session.keep(workspace.can_link() ? scenario::write_link(workspace.link()) : "");
  } catch (const Error& error) {
    workspace.notice = std::string("What is open cannot be kept for a crash: ") + error.what();
  }
}

// The step asked for, else the first one after the run.
std::size_t step_to_draw(const scenario::Lesson& lesson, const PictureRequest& request) {
  if (request.step) return std::min(*request.step, lesson.steps.size() - 1);
  for (std::size_t i = 0; i + 1 < lesson.steps.size(); ++i)
    if (lesson.steps[i].kind == scenario::StepKind::kRun) return i + 1;
  return lesson.steps.size() - 1;
}

void give_answer(scenario::Progress& progress, const scenario::Answer& answer) {
  if (answer.option >= 0) progress.choose(answer.option);
  if (answer.number) progress.enter(*answer.number);
  if (!answer.text.empty()) progress.write(answer.text);
  progress.commit();
}

// Answers, runs and goes on until the step is reached.
void walk_to(Application& app, std::size_t step, const std::optional<scenario::Answer>& answer) {
  LessonModel& model = *app.workspace().lesson();
  bool answered = false;
  while (model.progress.step() < step) {
    const scenario::Step& now = model.step();
    if (now.question && answer && !answered) {
      give_answer(model.progress, *answer);
      answered = true;
    }
    if (now.question && !model.progress.can_go_on()) model.progress.skip();
    if (now.kind == scenario::StepKind::kRun) {
      app.workspace().run_lesson();
      app.settle();
      if (!model.progress.revealed())
        throw InputError("The lesson " + model.lesson.id +
                         " did not run: " + app.workspace().sides().front().error +
                         app.workspace().sides().back().error);
    }
    app.workspace().next_step();
  }
}

void open_for_picture(Application& app, const PictureRequest& request) {
  app.workspace().set_language(request.lesson ? request.lesson->language : request.language);
  if (request.shelf) return;
  if (!request.lesson) {
    app.workspace().open_runs(request.runs);
    app.look_anew();
    return;
  }
  app.workspace().open_lesson(*request.lesson);
  app.settle();
  if (request.runs.size() == 2) app.workspace().adopt(request.runs);
  walk_to(app, step_to_draw(*request.lesson, request), request.answer);
}

}  // namespace

int open_window(const WindowRequest& request) {
  Settings settings = load_settings();
  WindowOptions options;
  options.scale = request.scale;
  options.ini_file = settings_folder() / "layout.ini";
  options.forgiving = true;
  Window window(options);
  Application app(window, request.theme.value_or(settings.theme));
  app.set_zoom(settings.zoom);
  app.set_room(settings.room);
  app.workspace().set_student(request.student);
  app.workspace().set_language(request.language.empty() ? settings.language : request.language);
  app.workspace().keep_learner_in(settings_folder());
  app.keep_recent_in(settings_folder());
  for (const fs::path& file : request.files) app.recent().add(file);
  if (request.theme) app.set_room_theme(*request.theme);
  if (request.present) app.set_present(true);
  SessionFile session(settings_folder());
  open_first(app.workspace(), request);
  app.look_anew();
  if (names_nothing(request) && !session.left_behind().empty()) reopen(app, session);
  // Who brings a file of their own wants to see that.
  const bool tours = !settings.toured && names_nothing(request);
  if (tours) app.show_tour();
  for (const std::string& warning : window.warnings()) app.workspace().notice = warning;
  while (window.wait()) {
    window.begin_frame();
    app.draw();
    window.end_frame();
    keep_session(app.workspace(), session);
    if (tours && !settings.toured && !app.tour().open) {
      settings.toured = true;
      save_settings(settings);
    }
  }
  session.close();
  app.set_present(false);
  settings.theme = app.theme_mode();
  settings.zoom = app.zoom();
  settings.language = app.workspace().language();
  settings.room = app.room().value_or(settings.room);
  save_settings(settings);
  return 0;
}

namespace {

WindowOptions off_screen(const PictureRequest& request) {
  WindowOptions options;
  options.width = request.width;
  options.height = request.height;
  options.scale = request.scale;
  options.off_screen = true;
  return options;
}

// Of a picture that shows the shelf to its end.
int height_of_shelf(PictureRequest request) {
  request.height = request.width;
  Window window(off_screen(request));
  Application app(window, request.theme.value_or(ThemeMode::kDark));
  open_for_picture(app, request);
  app.settle();
  const int height = static_cast<int>(std::ceil(app.shelf_height()));
  if (height > kLargestPicture)
    throw InputError(fmt::format(
        "the whole course takes {} pixels at this scale, and a picture has at most {}; give a "
        "smaller --scale, or with --size a part of it",
        height, kLargestPicture));
  return height;
}

// What was asked for and is not there for what is drawn, as a sentence; empty: nothing.
std::string missing_in(const Application& app, const PictureRequest& request) {
  std::string layout = "layout." + request.panel;
  std::replace(layout.begin(), layout.end(), '-', '_');
  const bool asked = !request.panel.empty();
  if (asked && (!app.has_panel(request.panel) || (find_action(layout) && !app.can(layout))))
    return "The panel " + request.panel +
           " has nothing to show of this; the picture is without it.";
  if (request.action && !app.can(*request.action))
    return "The action " + *request.action + " cannot be done here; the picture is without it.";
  return "";
}

std::string draw_sized(const PictureRequest& request, const fs::path& png) {
  Window window(off_screen(request));
  Application app(window, request.theme.value_or(ThemeMode::kDark));
  if (request.theme) app.set_room_theme(*request.theme);
  if (request.present) app.set_present(true);
  open_for_picture(app, request);
  app.settle();
  // It would stand over what the picture is of.
  std::string said = std::exchange(app.workspace().notice, {});
  if (request.present) app.workspace().present.reveal_all();
  if (request.playhead)
    app.workspace().playhead.time =
        std::clamp<Nanos>(*request.playhead, 0, app.workspace().playhead_end());
  if (const std::string missing = missing_in(app, request); !missing.empty())
    said += (said.empty() ? "" : " ") + missing;
  if (!request.panel.empty()) app.show_panel(request.panel);
  // The action may ask for another panel, in another place.
  app.settle();
  if (request.action) app.run(*request.action);
  app.settle();
  // How far the listing is scrolled tells of the frames so far, and threads decide how many.
  app.attention().followed_line = 0;
  app.settle();
  write_png(png, window.capture());
  return said;
}

}  // namespace

std::string draw_picture(const PictureRequest& request, const fs::path& png) {
  if (!request.lesson && request.runs.empty() && !request.shelf)
    throw InputError("There is nothing to draw: name a lesson, a config or a trace.");
  PictureRequest sized = request;
  if (request.height == 0) sized.height = height_of_shelf(request);
  return draw_sized(sized, png);
}

}  // namespace trainscope::ui
