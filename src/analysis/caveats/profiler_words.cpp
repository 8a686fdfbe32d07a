#include "analysis/caveats/profiler_words.h"

#include <fmt/format.h>

#include "analysis/views/operations.h"
#include "base/units.h"

namespace trainscope::analysis {
namespace {

bool is_of_a_profiler(const Run& run) {
  return run.trace->origin().kind == trace::OriginKind::kImported;
}

// What the host does itself, and in how many records; of a step where there are steps.
struct Recorded {
  double count = 0;
  double time = 0;  // ns
};

Recorded recorded_by_host(const Run& run) {
  Recorded sum;
  for (const OperationRow& row : operation_rows(run.facts.measured)) {
    if (row.where != Operation::Where::kHost ||
        (row.category != trace::Category::kHostWork && row.category != trace::Category::kHostApi))
      continue;
    sum.count += row.a.count;
    sum.time += row.a.self - row.a.held;
  }
  return sum;
}

}  // namespace

std::string profiler_words(const Run& run, const Speech& speech) {
  if (!is_of_a_profiler(run)) return "";
  const Recorded recorded = recorded_by_host(run);
  if (recorded.count <= 0) return "";
  return told(speech,
              run.facts.measured.steps > 0
                  ? "; {} operators and calls a step are recorded, {} each on average, the "
                    "profiler's own time included (with_stack and record_shapes add to it)"
                  : "; {} operators and calls are recorded, {} each on average, the profiler's own "
                    "time included (with_stack and record_shapes add to it)",
              speech.number(format_count(recorded.count)),
              speech.number(format_nanos(recorded.time / recorded.count)));
}

std::string profiler_advice(const Run& run, const Speech& speech) {
  return is_of_a_profiler(run) ? speech.say("First time a step without the profiler. ") : "";
}

}  // namespace trainscope::analysis
