// Configs for tests, by settings of their knobs: "batch_size=256".
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "program/config.h"

namespace trainscope::test {

inline program::Config config_of(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return config;
}

inline program::Config config_of(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  return config;
}

}  // namespace trainscope::test
