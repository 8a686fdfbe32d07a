// What `trainscope check` demands of a lesson.
#pragma once

#include <string>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::scenario {

struct Finding {
  SourcePlace place;
  std::string sentence;  // what is wrong, and what to write
};

// Runs the lesson on its own machine and on every machine it allows: exactly one right option
// everywhere (where machines differ, the question says what decides), every placeholder and focus
// resolves, expectations hold, what a vary step asks for holds with its solution and not before,
// cards are short enough, and reading time and minutes agree; a recap asks something, the lesson
// expects something of its runs, and what it compares is of one unit. Empty: all is well.
std::vector<Finding> check_lesson(const Lesson& lesson);

// Knobs that can be carried out: a sentence for each that is wrong, or why they do not go together.
// Empty: all is well. Throws InputError for a file that is no config at all.
std::vector<std::string> check_config_file(const std::filesystem::path& file);

// The sentences that lessons put to the test, by id. Throws InputError for a value that is no text.
void check_claims_file(const std::filesystem::path& file);

}  // namespace trainscope::scenario
