// When actions can be done, as several files of them ask.
#pragma once

#include "ui/app/window/application.h"

namespace trainscope::ui {

// What has run is shown.
inline bool has_results(const Application& app) {
  return app.workspace().revealed() && end_of_sides(app.workspace()) > 0;
}

inline bool has_lesson(const Application& app) {
  return app.workspace().lesson() != nullptr;
}

}  // namespace trainscope::ui
