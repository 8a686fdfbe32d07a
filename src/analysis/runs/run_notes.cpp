#include "analysis/runs/run_notes.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "trace/trace_bytes.h"

namespace trainscope::analysis {

void sort_notes(std::vector<RunNote>& notes) {
  const auto key = [](const RunNote& note) {
    return std::tie(note.start, note.end, note.lane, note.text);
  };
  std::sort(notes.begin(), notes.end(),
            [&](const RunNote& a, const RunNote& b) { return key(a) < key(b); });
}

void check_note(const RunNote& note) {
  if (note.text.empty()) throw InputError("one of its notes is empty");
  if (note.text.size() > kLongestNote) throw InputError("one of its notes is too long");
  if (note.start <= trace::kEarliest || note.start >= trace::kLatest || note.end < note.start ||
      note.end >= trace::kLatest)
    throw InputError("the time of one of its notes is out of range");
}

}  // namespace trainscope::analysis
