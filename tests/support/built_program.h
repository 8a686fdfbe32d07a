// Programs for tests, built of settings of their knobs: "batch_size=256".
#pragma once

#include <string>

#include "support/config.h"
#include "train/build.h"

namespace trainscope::test {

inline program::Program program_of(const Settings& settings) {
  const program::Config config = config_of(settings);
  return train::build_program(config, train::machine_of(config));
}

// Its listing, each line with its end.
inline std::string listing_of(const program::Program& program) {
  std::string text;
  for (const std::string& line : program.listing.lines) text += line + "\n";
  return text;
}

}  // namespace trainscope::test
