// The window of whoever looks at it: what it opens with, a frame, and what is kept for the next
// time.
#pragma once

#include <string>

#include "analysis/runs/gpu_runs.h"
#include "ui/app/files/session_file.h"
#include "ui/app/window/application.h"
#include "ui/app/window/settings.h"
#include "ui/app/window/trainscope_window.h"

namespace trainscope::ui {

class ShownWindow {
 public:
  // Throws MissingError when there is no display.
  explicit ShownWindow(const WindowRequest& request,
                       analysis::GpuRuns::OpenDevice gpu = analysis::plugged_in_device);

  Window& window() { return window_; }
  // One, from its beginning to its end.
  void draw_frame();
  // At the window's foot, until it is clicked.
  void say(const std::string& sentence) { app_.workspace().notice = sentence; }
  // The window was closed by whoever used it.
  void close();

 private:
  void keep_session();
  void keep_settings();

  Settings settings_;
  Window window_;
  Application app_;
  SessionFile session_;
  bool tours_ = false;
  std::string kept_;  // the settings as they stand in their file
};

}  // namespace trainscope::ui
