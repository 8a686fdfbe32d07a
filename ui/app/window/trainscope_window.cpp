#include "ui/app/window/trainscope_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "ui/app/window/application.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

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
    app.workspace().open_runs(request.runs, request.file);
    app.look_anew();
    return;
  }
  app.workspace().open_lesson(*request.lesson);
  app.settle();
  if (request.runs.size() == 2) app.workspace().adopt(request.runs);
  walk_to(app, step_to_draw(*request.lesson, request), request.answer);
}

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

// Why an action that is asked for cannot be done with what is open, where more is known of it.
std::string refusal_of(const Application& app, const std::string& action) {
  const Workspace& workspace = app.workspace();
  if (action != "runs.what_if") return " cannot be done here";
  if (workspace.screen() != Screen::kRuns || workspace.sides().size() != 1)
    return " is of one trace alone, and a replay stands beside it";
  const SideModel& side = workspace.sides().front();
  if (side.run && side.run->program)
    return " is of imported traces; a run has knobs, and runs.copy_beside puts it beside itself";
  return " needs the streams of a GPU and threads of the host, which this trace has not both";
}

// What was asked for and is not there for what is drawn, as a sentence; empty: nothing.
std::string missing_in(const Application& app, const PictureRequest& request) {
  std::string layout = "layout." + request.panel;
  std::replace(layout.begin(), layout.end(), '-', '_');
  const bool asked = !request.panel.empty();
  if (asked && (!app.deck().has(request.panel) || (find_action(layout) && !app.can(layout))))
    return "The panel " + request.panel +
           " has nothing to show of this; the picture is without it.";
  if (request.action && !app.can(*request.action))
    return "The action " + *request.action + refusal_of(app, *request.action) +
           "; the picture is without it.";
  return "";
}

// The view moves to the playhead where that is outside of it, and stays as long.
void show_playhead(Application& app) {
  TimelineState& timeline = app.attention().timeline;
  const Nanos time = app.workspace().playhead.time;
  const TimeRange view = destination(timeline);
  if (view.start <= time && time <= view.end) return;
  // Long enough that nothing comes closer.
  bring_into_view(timeline, {time, time + (view.end - view.start) / 100});
}

// A sentence where the action changes nothing of what is drawn; `first`: none stands before it.
std::string run_for_picture(Window& window, Application& app, const std::string& action,
                            bool first) {
  if (!app.can(action)) return "";  // that has been said
  const Picture before = window.capture();
  app.run(action);
  app.settle();
  if (window.capture().rgba != before.rgba) return "";
  return (first ? "" : " ") + ("The action " + action + " changes nothing of the picture.");
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
  if (request.playhead) {
    app.workspace().playhead.time =
        std::clamp<Nanos>(*request.playhead, 0, playhead_end(app.workspace()));
    show_playhead(app);
  }
  if (const std::string missing = missing_in(app, request); !missing.empty())
    said += (said.empty() ? "" : " ") + missing;
  if (!request.panel.empty()) app.deck().open_by_hand(request.panel);
  // The action may ask for another panel, in another place.
  app.settle();
  if (request.action) said += run_for_picture(window, app, *request.action, said.empty());
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
