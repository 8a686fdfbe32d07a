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
  std::optional<std::size_t> step;  // of the lesson, from 0, that a link names
  std::vector<std::pair<std::string, program::Config>> sides;  // label and config
};

// "NAME:A" is side A of NAME; the side of a NAME alone is empty. Only a single capital letter after
// the last colon is a side.
struct SideName {
  std::string what;
  std::string side;
};
SideName split_side(const std::string& word);

// Whether a file that is there, or a folder, can only be meant as a trace. A lesson may be called
// as a folder is that has nothing to do with it.
bool names_trace(const std::string& word);

// Throws InputError for a word that can only be meant as a file (it is named as a trace is, or
// stands in a folder) when there is no such file.
void check_there(const std::string& what);

// One knob that a flag sets, on both sides or on one.
struct FlaggedKnob {
  std::string flag;  // as it can be typed: "--set A.copy.count=9"
  std::string knob;
};
std::vector<FlaggedKnob> flagged_knobs(const RunOptions& options);

// Of "LESSON:A", that side alone. Throws InputError.
Request read_request(const RunOptions& options);

// Says which knobs of the flags, or of a config that is no lesson, change nothing on any side, and
// whether batches of photos cost it nothing; `varied` are knobs that are to take several values.
void note_idle_knobs(const Request& request, const RunOptions& options,
                     const std::vector<std::string>& varied = {});

}  // namespace trainscope::cli
