#include "ui/app/window/shown_window.h"

namespace trainscope::ui {

int open_window(const WindowRequest& request) {
  ShownWindow shown(request);
  while (shown.window().wait()) shown.draw_frame();
  shown.close();
  return 0;
}

}  // namespace trainscope::ui
