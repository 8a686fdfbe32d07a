// Configs for tests, by settings of their knobs: "batch_size=256".
#pragma once

#include <initializer_list>

#include "program/config.h"

namespace trainscope::test {

inline program::Config config_of(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return config;
}

}  // namespace trainscope::test
