#include "ui/app/files/file_opener.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "machine/machine.h"
#include "scenario/file_kind.h"
#include "scenario/translation.h"
#include "ui/app/window/application.h"
#include "ui/panels/window/foot.h"

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

void FileOpener::ask(Place place) {
  if (app_.window().pick_files()) {
    asked_place_ = place;
    return;
  }
  sheet_ = {};
  sheet_.open = sheet_.just_opened = true;
  sheet_.beside = place == Place::kBeside;
  std::error_code ignored;
  const fs::path last = recent_.files().empty() ? fs::path() : recent_.files().front();
  const fs::path here = fs::current_path(ignored);
  sheet_.browser.open(fs::is_directory(last.parent_path(), ignored) ? last.parent_path() : here,
                      recent_.files());
}

void FileOpener::begin_to_read(const fs::path& file, Place place) {
  reading_file_ = file;
  reading_place_ = place;
  reading_since_ = std::chrono::steady_clock::now();
  reading_.start([file](const auto&) {
    auto saved = std::make_shared<analysis::SavedRuns>(analysis::read_runs(file));
    if (saved->runs.size() > 2)
      throw InputError(
          fmt::format("{}: the window shows two runs beside each other, and these are {}; open it "
                      "as `trainscope FILE.tsrun:A`",
                      file.string(), saved->runs.size()));
    return saved;
  });
}

void FileOpener::take_read() {
  const std::shared_ptr<analysis::SavedRuns> saved = reading_.get();
  const std::string error = reading_.error();
  if (!saved && error.empty()) return;
  reading_.drop();
  if (!saved) {
    app_.workspace().notice = error;
    return;
  }
  if (reading_place_ == Place::kBeside)
    app_.workspace().open_run_beside(side_for_beside(*saved), reading_file_);
  else
    app_.workspace().open_runs(saved->runs, reading_file_);
  app_.look_anew();
  recent_.add(reading_file_);
}

void FileOpener::open(const fs::path& file) {
  const FileKind kind = kind_of_file(file);
  beside_next_.reset();
  if (kind != FileKind::kMachine) reading_.drop();
  switch (kind) {
    case FileKind::kLesson:
      app_.workspace().open_lesson(
          scenario::find_lesson(file.string(), app_.workspace().shelf.language()));
      break;
    case FileKind::kRun:
      begin_to_read(file, Place::kAlone);
      return;
    case FileKind::kTrace:
      app_.workspace().open_trace(file);
      break;
    case FileKind::kConfig: {
      scenario::Link link;
      link.knobs.a = scenario::load_config(file);
      app_.workspace().open_link(link);
      break;
    }
    case FileKind::kMachine:
      run_on(app_, file);
      recent_.add(file);
      return;  // what is looked at stays
    default:
      refuse(file, kind);
  }
  app_.look_anew();
  recent_.add(file);
}

void FileOpener::open_beside(const fs::path& file) {
  const FileKind kind = kind_of_file(file);
  if (!stands_beside(kind))
    throw InputError(file.string() +
                     ": is no run, trace or config, and only those stand beside one");
  if (!app_.workspace().can_open_beside()) return open(file);
  reading_.drop();
  if (kind == FileKind::kRun) return begin_to_read(file, Place::kBeside);
  if (kind == FileKind::kTrace)
    app_.workspace().open_trace_beside(file);
  else
    app_.workspace().open_config_beside(scenario::load_config(file));
  app_.look_anew();
  recent_.add(file);
}

template <typename Function>
void FileOpener::or_say(Function&& open) {
  try {
    open();
  } catch (const Error& error) {
    app_.workspace().notice = error.what();
  }
}

// Two that can be compared come beside each other; of others each takes the last one's place.
void FileOpener::open_dropped(const std::vector<fs::path>& files) {
  if (files.size() < 2 || !std::all_of(files.begin(), files.end(), can_stand_beside)) {
    for (const fs::path& file : files) try_open(file);
    return;
  }
  or_say([&] {
    open(files[0]);
    beside_next_ = files[1];
    if (files.size() > 2)
      app_.workspace().notice = fmt::format(
          "Two runs stand beside each other; {} of the {} files were "
          "not opened, {} first.",
          files.size() - 2, files.size(), files[2].filename().string());
  });
}

// What was dropped on the window, or chosen in the platform's own sheet.
void FileOpener::take_dropped() {
  const std::vector<fs::path> files = app_.window().take_dropped_files();
  if (files.empty()) return;
  if (std::exchange(asked_place_, Place::kAlone) == Place::kAlone) return open_dropped(files);
  or_say([&] { open_beside(files.front()); });
}

// Once what it is to stand beside is there, and taken: it may have come since take_read looked.
void FileOpener::open_next_beside() {
  if (!beside_next_ || reading_.busy() || reading_.get() || !reading_.error().empty()) return;
  or_say([&] { open_beside(*std::exchange(beside_next_, std::nullopt)); });
}

void FileOpener::try_open(const fs::path& file) {
  or_say([&] { open(file); });
}

void FileOpener::take() {
  take_read();
  take_dropped();
  open_next_beside();
}

// What is wrong with a file is said on the sheet, which stays.
void FileOpener::draw_sheet(const PanelContext& context) {
  const fs::path file = draw_open_sheet(context, sheet_);
  if (!sheet_.to_forget.empty()) recent_.drop(std::exchange(sheet_.to_forget, {}));
  if (file.empty()) return;
  try {
    sheet_.beside ? open_beside(file) : open(file);
    sheet_.open = false;
  } catch (const Error& error) {
    sheet_.browser.fail(error.what());
  }
}

void FileOpener::draw_progress(const PanelContext& context) {
  if (!reading() || !is_waited_for(reading_since_)) return;
  if (draw_file_progress(context.theme, "##opening",
                         "Opening " + reading_file_.filename().string()))
    reading_.drop();
}

}  // namespace trainscope::ui
