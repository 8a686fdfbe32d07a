// Writing files: a picture of the window, a drawing, a report, a handout, the list of operations.
// What takes seconds is written beside the window; closing the window waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "ui/app/files/export.h"
#include "ui/app/window/window.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/charts/operations.h"
#include "ui/panels/sheets/sheet.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

class Exporter {
 public:
  Exporter(Window& window, Workspace& workspace) : window_(window), workspace_(workspace) {}

  void ask_for_picture();
  void ask_for_export();
  void ask_for_operations();

  // Before a frame: what was written since.
  void take();
  bool busy() { return writing_.busy(); }
  // In a frame: the sheets, and what is written where that takes long.
  void draw_sheets(const PanelContext& context, OperationsPanel& operations);
  void draw_progress(const PanelContext& context);
  // At the end of a frame: takes the picture that is due, once the sheet that asked for its name is
  // gone from the window.
  void save_picture_if_due();

 private:
  void export_to(const std::string& file, const PanelContext& context);
  void begin_to_write(const std::string& file);
  void save_operations(OperationsPanel& operations);

  Window& window_;
  Workspace& workspace_;
  PathSheet picture_sheet_;
  PathSheet export_sheet_;
  PathSheet operations_sheet_;
  Background<Written> writing_;
  std::string writing_file_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
  std::chrono::steady_clock::time_point writing_since_;
  std::filesystem::path picture_due_;
  int picture_frames_ = 0;  // drawn since it is due
};

}  // namespace trainscope::ui
