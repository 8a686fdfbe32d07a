// Opening files: one way for the sheet, for what is dropped on the window, and for what was opened
// lately.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/run_file.h"
#include "base/error.h"
#include "machine/machine.h"
#include "scenario/course.h"
#include "scenario/file_kind.h"
#include "scenario/translation.h"
#include "ui/app/application.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;
using scenario::FileKind;

// The machine takes what is open; alone it is nothing to look at.
void run_on(Application& app, const fs::path& file) {
  machine::check_machine_file(file);
  const Workspace& workspace = app.workspace();
  const std::string name = file.string();
  if (workspace.screen() == Screen::kShelf || !workspace.has_machines())
    throw InputError(name + ": is a machine; open a lesson first, then the machine to run it on");
  const std::string refusal = workspace.machine_refusal(name);
  if (!refusal.empty()) throw InputError(refusal);
  app.choose_machine(workspace.sides().size() == 2 ? "AB" : "A", name);
}

FileKind kind_of_file(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) throw InputError(file.string() + ": there is no such file");
  const FileKind kind = scenario::kind_of(file);
  return kind == FileKind::kOther && analysis::is_run_file(file) ? FileKind::kRun : kind;
}

bool stands_beside(FileKind kind) {
  return kind == FileKind::kRun || kind == FileKind::kTrace || kind == FileKind::kConfig;
}

bool can_stand_beside(const fs::path& file) {
  try {
    return stands_beside(kind_of_file(file));
  } catch (const InputError&) {
    return false;  // opening it says what is wrong
  }
}

// A run of two sides stands for B, the one that a lesson recommends.
RunPointer side_for_beside(const analysis::SavedRuns& saved) {
  for (const RunPointer& run : saved.runs)
    if (run->label == "B") return run;
  return saved.runs.front();
}

[[noreturn]] void refuse(const fs::path& file, FileKind kind) {
  if (kind == FileKind::kTranslation)
    throw InputError(file.string() + ": is a translation; open " +
                     scenario::original_of(file).filename().string() +
                     ", and choose the language of the lessons");
  throw InputError(file.string() +
                   ": is nothing to open; lessons, machines and configs end in .toml, runs in "
                   ".tsrun, traces in .json or .json.gz");
}

}  // namespace

void Application::ask_for_file(Place place) {
  if (window_->pick_files()) {
    asked_place_ = place;
    return;
  }
  open_sheet_ = {};
  open_sheet_.open = open_sheet_.just_opened = true;
  open_sheet_.beside = place == Place::kBeside;
  std::error_code ignored;
  const fs::path last = recent_.files().empty() ? fs::path() : recent_.files().front();
  const fs::path here = fs::current_path(ignored);
  open_sheet_.browser.open(
      fs::is_directory(last.parent_path(), ignored) ? last.parent_path() : here, recent_.files());
}

void Application::begin_to_open(const fs::path& file, Place place) {
  opening_file_ = file;
  opening_place_ = place;
  opening_since_ = std::chrono::steady_clock::now();
  opening_.start([file](const Background<Opened>::Stopped&) {
    auto opened = std::make_shared<Opened>();
    try {
      opened->saved = analysis::read_runs(file);
      if (opened->saved.runs.size() > 2)
        throw InputError(
            fmt::format("{}: the window shows two runs beside each other, and these are {}; open "
                        "it as `trainscope FILE.tsrun:A`",
                        file.string(), opened->saved.runs.size()));
    } catch (const std::exception& error) {
      opened->error = error.what();
    }
    return opened;
  });
}

void Application::take_opened() {
  const std::shared_ptr<Opened> opened = opening_.get();
  if (!opened) return;
  opening_.drop();
  if (!opened->error.empty()) {
    workspace_.notice = opened->error;
    return;
  }
  if (opening_place_ == Place::kBeside)
    workspace_.open_run_beside(side_for_beside(opened->saved), opening_file_);
  else
    workspace_.open_runs(opened->saved.runs, opening_file_);
  look_anew();
  recent_.add(opening_file_);
}

void Application::look_anew() {
  attention_ = {};
  timelines_.seen = {};
  const std::vector<std::size_t> own = workspace_.sides_with_knobs();
  if (!own.empty()) attention_.code_side = own.front();  // the one with a listing
}

void Application::open_file(const fs::path& file) {
  const FileKind kind = kind_of_file(file);
  beside_next_.reset();
  if (kind != FileKind::kMachine) opening_.drop();
  switch (kind) {
    case FileKind::kLesson:
      workspace_.open_lesson(scenario::find_lesson(file.string(), workspace_.language()));
      break;
    case FileKind::kRun:
      begin_to_open(file, Place::kAlone);
      return;
    case FileKind::kTrace:
      workspace_.open_trace(file);
      break;
    case FileKind::kConfig: {
      scenario::Link link;
      link.knobs.a = scenario::load_config(file);
      workspace_.open_link(link);
      break;
    }
    case FileKind::kMachine:
      run_on(*this, file);
      recent_.add(file);
      return;  // what is looked at stays
    default:
      refuse(file, kind);
  }
  look_anew();
  recent_.add(file);
}

void Application::open_beside(const fs::path& file) {
  const FileKind kind = kind_of_file(file);
  if (!stands_beside(kind))
    throw InputError(file.string() +
                     ": is no run, trace or config, and only those stand beside one");
  if (!workspace_.can_open_beside()) return open_file(file);
  opening_.drop();
  if (kind == FileKind::kRun) return begin_to_open(file, Place::kBeside);
  if (kind == FileKind::kTrace)
    workspace_.open_trace_beside(file);
  else
    workspace_.open_config_beside(scenario::load_config(file));
  look_anew();
  recent_.add(file);
}

// Two that can be compared come beside each other; of others each takes the last one's place.
void Application::open_dropped(const std::vector<fs::path>& files) {
  if (files.size() < 2 || !std::all_of(files.begin(), files.end(), can_stand_beside)) {
    for (const fs::path& file : files) try_open(file);
    return;
  }
  try {
    open_file(files[0]);
    beside_next_ = files[1];
    if (files.size() > 2)
      workspace_.notice = fmt::format(
          "Two runs stand beside each other; {} of the {} files were "
          "not opened, {} first.",
          files.size() - 2, files.size(), files[2].filename().string());
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

// What was dropped on the window, or chosen in the platform's own sheet.
void Application::take_files() {
  const std::vector<fs::path> files = window_->take_dropped_files();
  if (files.empty()) return;
  if (std::exchange(asked_place_, Place::kAlone) == Place::kAlone) return open_dropped(files);
  try {
    open_beside(files.front());
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

// Once what it is to stand beside is there, and taken: it may have come since take_opened looked.
void Application::open_next_beside() {
  if (!beside_next_ || opening_.busy() || opening_.get()) return;
  try {
    open_beside(*std::exchange(beside_next_, std::nullopt));
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
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

void Application::try_open(const fs::path& file) {
  try {
    open_file(file);
  } catch (const Error& error) {
    workspace_.notice = error.what();
  }
}

void Application::show_tour() {
  if (workspace_.screen() == Screen::kShelf)
    for (const scenario::Track& track :
         scenario::course_of(workspace_.shelf(), workspace_.learner().records()))
      for (const scenario::CourseEntry& entry : track.lessons)
        if (entry.standing == scenario::Standing::kNext) run("open-lesson " + entry.lesson->id);
  tour_.begin();
}

void Application::next_language() {
  const std::vector<std::string> all = scenario::languages();
  const std::string now =
      workspace_.language().empty() ? std::string(scenario::kEnglish) : workspace_.language();
  const auto at = std::find(all.begin(), all.end(), now);
  const bool last = at == all.end() || at + 1 == all.end();
  const std::string next = last ? all.front() : *(at + 1);
  workspace_.notice = "The lessons are shown in " + scenario::name_of_language(next) + ".";
  workspace_.set_language(next);
}

}  // namespace trainscope::ui
