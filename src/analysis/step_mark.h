// The profiler's marks of steps: "ProfilerStep#4" on the host.
#pragma once

#include <string_view>

#include "trace/step_mark.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// Not the mark's shadow on a GPU, which lasts as long as the GPU is at work on the step.
inline bool is_step_mark(const trace::Trace& trace, const trace::Span& span) {
  if (span.category != trace::Category::kAnnotation) return false;
  const trace::LaneKind lane = trace.lanes()[span.lane].kind;
  if (lane == trace::LaneKind::kStream || lane == trace::LaneKind::kOther) return false;
  return std::string_view(trace.name(span)).starts_with(trace::kStepMark);
}

}  // namespace trainscope::analysis
