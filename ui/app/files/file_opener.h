// Opening files: one way for the sheet, for what is dropped on the window, and for what was opened
// lately. Saved runs are read beside the window: large ones take seconds.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run_file.h"
#include "ui/app/files/recent_files.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/sheets/open_sheet.h"

namespace trainscope::ui {

class Application;

// Where a file that is opened goes: in place of all, or beside A.
enum class Place : std::uint8_t { kAlone, kBeside };

class FileOpener {
 public:
  explicit FileOpener(Application& app) : app_(app) {}

  // The platform's own sheet, or ours, which walks through folders.
  void ask(Place place);
  // Whatever it holds: a lesson, a saved run, a trace, a config, a machine. Throws InputError with
  // what is wrong or what to open instead.
  void open(const std::filesystem::path& file);
  // The same; what is wrong is a notice.
  void try_open(const std::filesystem::path& file);
  // A run, trace or config as B, where there is an A; else alone. Throws as open().
  void open_beside(const std::filesystem::path& file);
  // Of two that can be compared the second comes beside the first. What is wrong is a notice.
  void open_dropped(const std::vector<std::filesystem::path>& files);

  void keep_recent_in(const std::filesystem::path& folder) { recent_ = RecentFiles(folder); }
  RecentFiles& recent() { return recent_; }

  // Before a frame: what was read since, and what was dropped on the window.
  void take();
  // Something is being read; or waits for that.
  bool reading() { return reading_.busy(); }
  bool busy() { return reading() || beside_next_; }
  // In a frame: the sheet, and what is read where that takes long.
  void draw_sheet(const PanelContext& context);
  void draw_progress(const PanelContext& context);

 private:
  void begin_to_read(const std::filesystem::path& file, Place place);
  void take_read();
  void take_dropped();
  void open_next_beside();
  template <typename Function>
  void or_say(Function&& open);  // what is wrong is a notice

  Application& app_;
  OpenSheet sheet_;
  Background<analysis::SavedRuns> reading_;
  std::filesystem::path reading_file_;
  Place reading_place_ = Place::kAlone;
  std::chrono::steady_clock::time_point reading_since_;
  Place asked_place_ = Place::kAlone;                 // of files that are being chosen
  std::optional<std::filesystem::path> beside_next_;  // once the file before it is open
  RecentFiles recent_;
};

}  // namespace trainscope::ui
