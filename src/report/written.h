// Runs as files: an HTML report, a Chrome trace a run, what they are saved as, their metrics as a
// table of commas. The command line and the window write the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/runs/run_file.h"
#include "report/html.h"

namespace trainscope::report {

// The report of runs as they are saved; `speech` is that of their language.
ReportInput report_input(const analysis::SavedRuns& saved, const Speech& speech = {});

// FILE.json of the run B among several is FILE.B.json.
std::filesystem::path for_run(const std::string& file, const std::string& label, bool several);

// A Chrome trace of each, plain or gzipped by the file's ending. Of a run of several processes a
// folder too, named as the file without its ending, with a file a rank; without an ending, only
// that. Returns the files and folders. Throws InputError when one cannot be written.
std::vector<std::filesystem::path> write_traces(const analysis::SavedRuns& saved,
                                                const std::string& file);

// A row a metric that any run has: name, unit, a column a run; full precision.
std::string metrics_csv(const analysis::SavedRuns& saved);

}  // namespace trainscope::report
