// The profiler's marks of steps: "ProfilerStep#4" on the host.
#pragma once

#include <string_view>

#include "trace/step_mark.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// Not a mark's shadow on a GPU, which lasts as long as the GPU is at work on what is marked.
inline bool is_host_mark(const trace::Trace& trace, const trace::Span& span) {
  if (span.category != trace::Category::kAnnotation) return false;
  const trace::LaneKind lane = trace.lanes()[span.lane].kind;
  return lane != trace::LaneKind::kStream && lane != trace::LaneKind::kOther;
}

inline bool is_step_mark(const trace::Trace& trace, const trace::Span& span) {
  return is_host_mark(trace, span) &&
         std::string_view(trace.name(span)).starts_with(trace::kStepMark);
}

}  // namespace trainscope::analysis
