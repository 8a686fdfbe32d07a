// `trainscope [FILE…]`: the window.

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/percent.h"
#include "base/platform.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/sides.h"
#include "scenario/file_kind.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "scenario/translation.h"
#ifdef TRAINSCOPE_HAS_UI
#include "ui/app/window/trainscope_window.h"
#endif

namespace trainscope::cli {

const std::vector<std::string>& command_names() {
  static const std::vector<std::string> names{
      "lessons", "run",      "import",    "check",   "knobs", "metrics", "machines", "actions",
      "doctor",  "validate", "calibrate", "compare", "sweep", "sampler", "grade",    "handout"};
  return names;
}

namespace {

// A run that was read, else a config, else the file of a trace.
struct Side {
  RunPointer run;
  std::optional<program::Config> config;
  std::filesystem::path file;
};

struct Named {
  std::optional<scenario::Link> link;
  std::optional<scenario::Lesson> lesson;
  std::vector<Side> sides;
  std::vector<std::filesystem::path> files;  // of all these
};

// A word that is neither a file nor a lesson may be a command with a slip.
[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  const std::string command = nearest_name(word, command_names());
  if (!command.empty())
    throw InputError("there is no command " + word + " (did you mean " + command + "?)");
  throw InputError(why);
}

// A and B of a saved run, or the one that is named.
void add_saved(const std::string& word, Named& named) {
  const bool whole = is_there(word);
  for (const RunPointer& run : read_saved(word).runs)
    named.sides.push_back({run, std::nullopt, whole ? word : ""});
  if (named.sides.size() > 2)
    throw InputError(word + ": the window shows two runs beside each other, and these are " +
                     std::to_string(named.sides.size()) + "; name one with FILE.tsrun:A");
  if (whole) named.files.emplace_back(word);
}

// Nothing where it is no .toml file of that kind.
bool is_config(const std::string& file) {
  return file.ends_with(".toml") && is_plain_file(file) &&
         scenario::kind_of(file) == scenario::FileKind::kConfig;
}

void add_lesson(const std::string& word, const std::string& language, Named& named) {
  try {
    scenario::Lesson lesson = scenario::find_lesson(word, language);
    if (named.lesson)
      throw InputError(word + ": the window opens one lesson at a time, and " + named.lesson->id +
                       " comes before it");
    named.files.push_back(lesson.file);
    named.lesson = std::move(lesson);
  } catch (const InputError& error) {
    if (is_there(word) || named.lesson) throw;
    refuse(word, error.what());
  }
}

void add_file(const std::string& file, const std::string& language, Named& named) {
  if (file.starts_with(scenario::kLinkBegins)) {
    named.link = scenario::parse_link(file);
    if (!named.link->lesson.empty())
      scenario::step_in(*named.link, scenario::find_lesson(named.link->lesson));
    return;
  }
  if (names_saved_run(file)) return add_saved(file, named);
  check_there(file);
  if (is_config(file)) {
    named.sides.push_back({nullptr, scenario::load_config(file), file});
  } else if (names_trace(file)) {
    named.sides.push_back({nullptr, std::nullopt, file});
  } else {
    return add_lesson(file, language, named);
  }
  named.files.emplace_back(file);
}

// Nothing that is named is left out without a word.
void check_together(const Named& named) {
  const int kinds =
      int{named.link.has_value()} + int{named.lesson.has_value()} + int{!named.sides.empty()};
  if (kinds > 1)
    throw InputError(
        "the window opens a link, or a lesson, or one or two runs, traces and configs, and these "
        "are of several kinds; name fewer");
  if (named.sides.size() > 2)
    throw InputError("the window shows two runs beside each other, and these are " +
                     std::to_string(named.sides.size()) + "; `trainscope compare A B` puts any " +
                     "two beside each other");
}

#ifdef TRAINSCOPE_HAS_UI
int open(Named named, const Look& look, const std::string& student, const std::string& language) {
  ui::WindowRequest request;
  if (!look.theme.empty()) request.theme = ui::theme_named(look.theme);
  request.scale = look.scale;
  request.present = look.present;
  request.student = student;
  request.language = language;
  request.link = std::move(named.link);
  request.lesson = std::move(named.lesson);
  for (Side& side : named.sides)
    request.sides.push_back({std::move(side.run), std::move(side.config), std::move(side.file)});
  request.files = std::move(named.files);
  platform::leave_own_console();
  return ui::open_window(request);
}
#else
int open(const Named&, const Look&, const std::string&, const std::string&) {
  throw MissingError(
      "this program was built without its window; `trainscope run pinned-vs-pageable --html "
      "out.html` writes a report instead, and ./run builds the window");
}
#endif

}  // namespace

int window_command(const std::vector<std::string>& files, const Look& look,
                   const std::string& student, const std::string& language) {
  scenario::check_language(language);
  Named named;
  for (const std::string& file : files) add_file(file_named(file), language, named);
  check_together(named);
  return open(std::move(named), look, student, language);
}

}  // namespace trainscope::cli
