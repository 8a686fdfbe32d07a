// `trainscope [FILE…]`: the window.

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/sides.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "scenario/translation.h"
#ifdef TRAINSCOPE_HAS_UI
#include "ui/app/trainscope_window.h"
#endif

namespace trainscope::cli {

const std::vector<std::string>& command_names() {
  static const std::vector<std::string> names{
      "lessons", "run",      "import",    "check",   "knobs", "metrics", "machines", "actions",
      "doctor",  "validate", "calibrate", "compare", "sweep", "sampler", "grade",    "handout"};
  return names;
}

namespace {

struct Named {
  std::vector<scenario::Lesson> lessons;
  std::vector<std::filesystem::path> traces;
  std::vector<RunPointer> runs;
  std::optional<scenario::Link> link;
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
  if (std::filesystem::exists(word)) named.files.emplace_back(word);
  for (const RunPointer& run : read_saved(word).runs) named.runs.push_back(run);
  if (named.runs.size() > 2)
    throw InputError(word + ": the window shows two runs beside each other, and these are " +
                     std::to_string(named.runs.size()) + "; name one with FILE.tsrun:A");
}

void add_file(const std::string& file, const std::string& language, Named& named) {
  if (file.starts_with(scenario::kLinkBegins)) {
    named.link = scenario::parse_link(file);
    if (!named.link->lesson.empty()) scenario::find_lesson(named.link->lesson);
    return;
  }
  if (names_saved_run(file)) {
    add_saved(file, named);
    return;
  }
  check_there(file);
  if (!file.ends_with(".toml") && std::filesystem::is_regular_file(file)) {
    named.traces.emplace_back(file);
    named.files.emplace_back(file);
    return;
  }
  try {
    named.lessons.push_back(scenario::find_lesson(file, language));
    named.files.push_back(named.lessons.back().file);
  } catch (const InputError& error) {
    if (std::filesystem::exists(file)) throw;
    refuse(file, error.what());
  }
}

#ifdef TRAINSCOPE_HAS_UI
int open(Named named, const Look& look, const std::string& student, const std::string& language) {
  ui::WindowRequest request;
  if (!look.theme.empty()) request.theme = ui::theme_named(look.theme);
  request.scale = look.scale;
  request.present = look.present;
  request.student = student;
  request.language = language;
  request.lessons = std::move(named.lessons);
  request.traces = std::move(named.traces);
  request.runs = std::move(named.runs);
  request.link = std::move(named.link);
  request.files = std::move(named.files);
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
  for (const std::string& file : files) add_file(file, language, named);
  return open(std::move(named), look, student, language);
}

}  // namespace trainscope::cli
