// What `run` and `import` print and write about their runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run.h"
#include "cli/commands.h"
#include "scenario/lesson.h"

namespace trainscope::cli {

struct Finished {
  std::vector<std::shared_ptr<const analysis::Run>> runs;  // A, B, …
  std::optional<scenario::Lesson> lesson;
  std::string executor;
  std::int64_t seed = 0;
  bool compares = false;  // A and B were put beside each other: say what their difference is
};

// Refuses what could not be written, before anything is run. Throws InputError, MissingError.
void check_outputs(const Outputs& outputs);

// Prints the table, the JSON or the series, and writes the files asked for.
void put_out(const Finished& finished, const Outputs& outputs);

}  // namespace trainscope::cli
