// What a word of the command line names, once it is finished: a saved run is opened, anything else
// that can be run is run.
#pragma once

#include <string>

#include "analysis/runs/run_file.h"

namespace trainscope::cli {

using analysis::RunPointer;

// Whether the word names a saved run, with or without a side.
bool names_saved_run(const std::string& word);

// Opens a saved run; with a side, that one of its runs. Throws InputError.
analysis::SavedRuns open_saved(const std::string& word);
// The same, without the metrics of runs that are not compared: those of large runs take seconds.
analysis::SavedRuns read_saved(const std::string& word);

// One run for `compare`: a lesson's side, a config, a saved run's side, or a trace.
struct TakenRun {
  RunPointer run;
  std::string note;  // which side was taken where there are two and none is named; empty: none was
};
// Of two sides with none named, B, the one that a lesson recommends. Throws InputError.
TakenRun run_of(const std::string& word);

// The same run under another label.
RunPointer labelled(const RunPointer& run, const std::string& label);

}  // namespace trainscope::cli
