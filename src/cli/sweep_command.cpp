// `trainscope sweep`: one run for each combination of some knobs' values.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/sides.h"
#include "cli/sweep_output.h"
#include "machine/machine.h"
#ifdef TRAINSCOPE_HAS_UI
#include "base/text.h"
#include "cli/picture_look.h"
#endif

namespace trainscope::cli {
namespace {

// What a flag sets, no value of the sweep would leave standing.
void refuse_set_and_varied(const SweepOptions& options,
                           const std::vector<scenario::SweepAxis>& axes) {
  for (const FlaggedKnob& one : flagged_knobs(options.run))
    for (const scenario::SweepAxis& axis : axes)
      if (axis.knob->name == one.knob)
        throw InputError(one.knob + " is given twice, by " + one.flag + " and by --vary " +
                         one.knob + "; leave one of them out");
}

std::vector<std::string> knobs_of(const std::vector<scenario::SweepAxis>& axes) {
  std::vector<std::string> names;
  for (const scenario::SweepAxis& axis : axes) names.push_back(axis.knob->name);
  return names;
}

// A machine that is mistyped is no combination that cannot run.
void check_machines(const std::vector<scenario::SweepAxis>& axes) {
  for (const scenario::SweepAxis& axis : axes)
    if (axis.knob->name == "machine")
      for (const program::Value& value : axis.values) machine::load_machine(program::spell(value));
}

// Where no combination can run, the first one's reason is the answer.
void refuse_if_nothing_ran(const scenario::Sweep& sweep) {
  for (const scenario::SweepPoint& point : sweep.points)
    for (const scenario::SweepPoint::Side& side : point.sides)
      if (side.refused.empty()) return;
  throw InputError(
      "none of the " + std::to_string(sweep.points.size()) +
      " combinations can run; the first: " + sweep.points.front().sides.front().refused);
}

// A sweep that has found where a limit is has done what it was asked for: it ends well, but says
// so.
void note_refused(const scenario::Sweep& sweep) {
  const auto refused = std::ranges::count_if(sweep.points, [](const scenario::SweepPoint& point) {
    return std::ranges::any_of(point.sides, [](const auto& side) { return !side.refused.empty(); });
  });
  if (refused > 0)
    std::cerr << refused << " of " << sweep.points.size()
              << " combinations cannot run; beside each stands why\n";
}

void wrote(const std::string& file) {
  std::cerr << "wrote " << file << "\n";
}

#ifdef TRAINSCOPE_HAS_UI
// "machine = h200-1, model.name = mlp": what a side sets and the sweep does not.
std::string settings_of(const program::Config& config, const scenario::Sweep& sweep) {
  const auto varied = [&](const std::string& name) {
    return std::any_of(sweep.axes.begin(), sweep.axes.end(),
                       [&](const auto& axis) { return axis.knob->name == name; });
  };
  std::string text = varied("machine") ? "" : "machine = " + config.word("machine");
  for (const auto& [name, value] : config.values())
    if (!varied(name) && name != "machine")
      add_to_list(text, name + " = " + program::show(program::find_knob(name), value));
  return text;
}

void check_picture(const SweepOptions& options) {
  picture_look(options.run.outputs.look);
  if (!options.run.outputs.png.empty() && options.vary.size() > 2)
    throw InputError("a picture shows one knob or two; leave a --vary out, or use --csv or --json");
}

void write_picture(const scenario::Sweep& sweep, const Request& request,
                   const SweepOptions& options) {
  const PictureLook look = picture_look(options.run.outputs.look);
  ui::SweepPicture picture;
  picture.title = request.lesson ? request.lesson->title : "Sweep of " + sweep.axes[0].knob->name;
  if (!request.lesson && sweep.axes.size() > 1) picture.title += " and " + sweep.axes[1].knob->name;
  for (const auto& [label, config] : request.sides)
    picture.sides.push_back(settings_of(config, sweep));
  picture.width = look.width;
  picture.height = look.height;
  picture.scale = look.scale;
  picture.room = options.run.outputs.look.present;
  picture.theme = picture.room && options.run.outputs.look.theme.empty() ? ui::ThemeMode::kProjector
                                                                         : look.theme;
  ui::draw_sweep(sweep, picture, options.run.outputs.png);
  wrote(options.run.outputs.png);
}
#else
void check_picture(const SweepOptions& options) {
  if (!options.run.outputs.png.empty())
    throw MissingError(
        "--png needs the window, and this program was built without it; run ./run to build it with "
        "one");
}
void write_picture(const scenario::Sweep&, const Request&, const SweepOptions&) {}
#endif

}  // namespace

int sweep_command(const SweepOptions& options) {
  if (options.vary.empty())
    throw InputError("vary what? Name a knob and its values: --vary batch_size=1..1024");
  std::vector<scenario::SweepAxis> axes;
  for (const std::string& text : options.vary) axes.push_back(scenario::parse_axis(text));
  refuse_set_and_varied(options, axes);
  check_machines(axes);
  require_picture(options.run.outputs.look, options.run.outputs.png);
  check_picture_file(options.run.outputs.png);
  check_other("--csv", options.csv);
  check_picture(options);
  const Request request = read_request(options.run);
  note_idle_knobs(request, options.run, knobs_of(axes));
  scenario::Sweep sweep = sweep_with_progress(request.sides, std::move(axes));
  const std::size_t left_out = scenario::drop_unfinished(sweep);
  if (sweep.points.empty()) throw Error(Fault::kFailed, "stopped before one combination was over");
  if (left_out == 0) refuse_if_nothing_ran(sweep);
  note_refused(sweep);
  if (!options.csv.empty()) {
    write_file(options.csv, sweep_csv(sweep));
    wrote(options.csv);
  }
  if (!options.run.outputs.png.empty()) write_picture(sweep, request, options);
  std::cout << (options.run.outputs.json ? sweep_json(sweep, request.sides) + "\n"
                                         : sweep_table(sweep, request.sides));
  if (left_out == 0) return 0;
  std::cout.flush();
  const std::size_t done = sweep.points.size();
  throw Error(Fault::kFailed, fmt::format("stopped after {} of {} combinations; the others are not "
                                          "in what was written",
                                          done, done + left_out));
}

}  // namespace trainscope::cli
