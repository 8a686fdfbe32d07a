// What `run` and `import` print and write about their runs.
#pragma once

#include <optional>

#include "analysis/runs/run_file.h"
#include "cli/commands.h"
#include "scenario/expected.h"
#include "scenario/lesson.h"

namespace trainscope::cli {

// Runs that are over, and the lesson that they were just run for.
struct Finished : analysis::SavedRuns {
  std::optional<scenario::Lesson> lesson;
  std::optional<std::size_t> step;           // of the lesson, from 0: what a picture shows
  std::string trace;                         // the file of an imported one, which is alone
  std::vector<scenario::Expected> expected;  // of a lesson that a GPU carried out
};

// Refuses what could not be written, before anything is run. Throws InputError, MissingError.
void check_outputs(const Outputs& outputs);

// Throws InputError where something is asked of a picture that is not written.
void require_picture(const Look& look, const std::string& png);

// Prints the table, the JSON or the series, and writes the files asked for.
void put_out(const Finished& finished, const Outputs& outputs);

}  // namespace trainscope::cli
