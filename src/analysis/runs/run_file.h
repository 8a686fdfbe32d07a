// Saved runs, *.tsrun: everything to open them again without running them, whatever has changed
// since: config, the whole machine, seed, version, origin, why it ended, the trace with all that it
// holds, the notes that people wrote on it (run_notes.h), the listing and what metrics ask of the
// program. A program's commands are not kept.
//
// The format: an envelope (trace/packed.h) around one JSON text, which is the head, and the bytes
// of each run's trace (trace/trace_bytes.h). Text in the head is UTF-8; bytes that are not are
// replaced by U+FFFD. Names within a trace keep every byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::analysis {

// What the runs of one file belong to, in words for a report; empty: runs alone.
struct Subject {
  std::string lesson;                   // the id
  std::string title;                    // "Pinned vs pageable memory"
  std::string caveat;                   // why its text need not hold for the runs; empty: it does
  std::vector<std::string> paragraphs;  // with their numbers filled in
  std::vector<std::string> limits;      // what the model leaves out
  std::string language = {};            // of all of these and of a report's words; empty: English
};

struct SavedRuns {
  std::string version;   // of the Trainscope that carried them out
  std::string executor;  // "sim", "cuda", "imported"
  std::int64_t seed = 0;
  bool compared = false;  // A and B were put beside each other
  Subject subject;
  std::vector<RunPointer> runs;  // one or more, labels differ
};

// "sim", "cuda" where one of them was measured, "imported" where one has no program.
std::string executor_of(const std::vector<RunPointer>& runs);

// Whether a file that can be read begins as saved runs do, or is named *.tsrun.
bool is_run_file(const std::filesystem::path& path);

// Same runs, same bytes.
std::string pack_runs(const SavedRuns& saved);

// Throws InputError: when a file cannot be written; when it is missing, no saved run, damaged, cut
// short, or of a newer format. One sentence, naming the file.
void save_runs(const SavedRuns& saved, const std::filesystem::path& path);
SavedRuns open_runs(const std::filesystem::path& path);

// In two steps, so that the trace can be looked at before its numbers are there: the runs without
// facts, metrics and gaps, everything of the file checked; then one of them, or all that have none
// yet, with these. `name` is the file's. All throw as open_runs does.
SavedRuns read_runs(const std::filesystem::path& path);
Run analysed(Run run, const std::string& name);
SavedRuns all_analysed(SavedRuns saved, const std::string& name);
inline bool is_analysed(const Run& run) {
  return run.facts.measured.trace != nullptr;
}
SavedRuns unpack_runs(std::string_view bytes, const std::string& name);

// What the envelope holds, for tests and fuzzing: the same without it.
std::string runs_content(const SavedRuns& saved);
SavedRuns read_runs_content(std::string_view content, const std::string& name);

}  // namespace trainscope::analysis
