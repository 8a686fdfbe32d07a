// Configs for tests, by settings of their knobs: "batch_size=256".
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "program/config.h"

namespace trainscope::test {

using Settings = std::vector<std::string>;

// The later ones win.
inline Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

inline program::Config config_of(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return config;
}

inline program::Config config_of(const Settings& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  return config;
}

}  // namespace trainscope::test
