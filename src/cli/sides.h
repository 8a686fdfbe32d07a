// What `run` was asked to run: one or two configs, and the lesson they come from.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "program/config.h"
#include "scenario/lesson.h"

namespace trainscope::cli {

struct Request {
  std::optional<scenario::Lesson> lesson;
  std::vector<std::pair<std::string, program::Config>> sides;  // label and config
};

// Throws InputError.
Request read_request(const RunOptions& options);

}  // namespace trainscope::cli
