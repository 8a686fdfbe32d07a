// Waiting for a workspace's worker, without a window.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

// Takes in what the worker says until `done`; false after 20 s.
template <typename Done>
bool wait_for(Workspace& workspace, Done done) {
  for (int i = 0; i < 20000; ++i) {
    workspace.take_reports();
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Until nothing runs and each side has its outline, a file or an error.
inline bool is_idle_in_time(Workspace& workspace) {
  return wait_for(workspace, [&] {
    return !workspace.busy() && std::all_of(workspace.sides().begin(), workspace.sides().end(),
                                            [](const SideModel& side) {
                                              return side.outline || !side.file.empty() ||
                                                     !side.error.empty();
                                            });
  });
}

inline void wait_until_idle(Workspace& workspace) {
  INFO("the workspace is still at work after 20 s");
  REQUIRE(is_idle_in_time(workspace));
}

}  // namespace trainscope::ui
