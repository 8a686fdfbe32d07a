// Runs for tests to open: by settings of their knobs, "batch_size=256".
#pragma once

#include <initializer_list>
#include <memory>

#include "support/config.h"
#include "ui/driver.h"

namespace trainscope::ui {

inline RunPointer run_of(const char* label, std::initializer_list<const char*> settings) {
  return std::make_shared<analysis::Run>(analysis::run_config(label, test::config_of(settings)));
}

// Two trainings of six steps that differ in pin_memory alone.
inline void open_trainings(Driver& driver) {
  driver.workspace().open_runs(
      {run_of("A", {"workload=train", "steps=6", "loader.pin_memory=false"}),
       run_of("B", {"workload=train", "steps=6", "loader.pin_memory=true"})});
  driver.settle();
}

}  // namespace trainscope::ui
