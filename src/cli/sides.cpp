#include "cli/sides.h"

#include <algorithm>

#include "base/error.h"
#include "base/toml.h"

namespace trainscope::cli {
namespace {

// The flags of the command line, those for both sides and those for one.
struct Flags {
  program::Config both, a, b;
};

Flags read_flags(const RunOptions& options) {
  Flags flags;
  for (const std::string& setting : options.settings) {
    if (setting.starts_with("A.")) {
      flags.a.set_text(std::string_view(setting).substr(2));
    } else if (setting.starts_with("B.")) {
      flags.b.set_text(std::string_view(setting).substr(2));
    } else {
      flags.both.set_text(setting);
    }
  }
  if (!options.machine.empty()) flags.both.set("machine", options.machine);
  if (!options.steps.empty()) flags.both.set_text("steps=" + options.steps);
  if (!options.seed.empty()) flags.both.set_text("seed=" + options.seed);
  return flags;
}

bool is_lesson_file(const std::string& what) {
  return what.ends_with(".toml") && read_toml(what).contains("format");
}

void add_lesson_sides(Request& request, const Flags& flags) {
  for (const char* label : {"A", "B"}) {
    program::Config config = request.lesson->side(label, flags.both);
    config.override_with(label[0] == 'A' ? flags.a : flags.b);
    request.sides.emplace_back(label, std::move(config));
  }
}

}  // namespace

Request read_request(const RunOptions& options) {
  const Flags flags = read_flags(options);
  Request request;
  if (!options.what.empty() && (!options.what.ends_with(".toml") || is_lesson_file(options.what))) {
    request.lesson = scenario::find_lesson(options.what);
    add_lesson_sides(request, flags);
    return request;
  }
  if (options.what.empty() && options.settings.empty())
    throw InputError(
        "run what? Name a lesson (`trainscope lessons` lists them), a config file, or "
        "knobs: --set workload=copy");
  program::Config config =
      options.what.empty() ? program::Config() : scenario::load_config(options.what);
  config.override_with(flags.both);
  config.override_with(flags.a);
  if (!flags.b.values().empty())
    throw InputError("B." + flags.b.values().begin()->first +
                     " sets a knob of side B, and this run has one side, A");
  request.sides.emplace_back("A", std::move(config));
  return request;
}

}  // namespace trainscope::cli
