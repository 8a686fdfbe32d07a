// What a trace holds beside the run that it is of.
#pragma once

#include "trace/trace.h"

namespace trainscope::trace {

// A mark outside of the host's threads and their steps: a profiler's of its own recording, or the
// shadow on a GPU of what the host marked.
inline bool is_beside_the_run(const Lane& lane, const Span& span) {
  return lane.kind == LaneKind::kOther && span.category == Category::kAnnotation;
}

}  // namespace trainscope::trace
