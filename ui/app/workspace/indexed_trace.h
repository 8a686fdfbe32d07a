// A trace with what drawing it needs, made beside the window and never changed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/steps/by_correlation.h"
#include "trace/index.h"
#include "trace/trace.h"
#include "ui/timeline/draw_index.h"

namespace trainscope::ui {

struct IndexedTrace {
  std::shared_ptr<const trace::Trace> trace;
  trace::TraceIndex index;
  DrawIndex draw;
  trace::Row steps;                           // the marks of the profiler's steps
  std::vector<trace::LaneId> repeated_marks;  // lanes with nothing but the same ones
  // When the host called for work on a device; where there are steps.
  std::optional<analysis::ByCorrelation<Nanos>> launches;
};
using TraceView = std::shared_ptr<const IndexedTrace>;

inline Nanos end_of(const IndexedTrace& view) {
  return end_of(*view.trace, &view.index);
}

// Covers the spans written so far. Any thread.
TraceView index_trace(std::shared_ptr<const trace::Trace> trace);

}  // namespace trainscope::ui
