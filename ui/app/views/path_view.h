// The critical path as the timelines show it: the spans on it stand out, arrows pass from lane to
// lane. Pure.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "analysis/causes/critical_path.h"
#include "ui/app/workspace/indexed_trace.h"
#include "ui/app/workspace/side_model.h"
#include "ui/timeline/matches.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// Of one side's run; made once, beside the window.
struct PathFacts {
  RunPointer run;
  analysis::CriticalPath path;
  Matches matches;  // the spans on it; of a copy also the one on its stream
  Chain chain;      // its stays on spans, its rests between them, and the hops from lane to lane
};
// Null once `stopped`, which is asked now and then, says so.
std::shared_ptr<PathFacts> find_path(const RunPointer& run, const TraceView& view,
                                     const std::function<bool()>& stopped);

struct PathView {
  bool on = false;
  std::array<std::shared_ptr<const PathFacts>, 2> sides;  // null: not found yet, or not asked for
  std::array<std::string, 2> faults;                      // why it could not be found; else empty

  // Of the run that a side shows now; null: there is none of it, or the path is not shown.
  const PathFacts* of(std::size_t side, const SideModel& model) const;
};

// "kernels 61 %, host 22 %"; of a path that is not told, "inferred: kernels 61 %".
std::string path_words(const PathFacts& facts);

// How long a span is on it: "for 1.20 ms of it", "not on it: it may take longer".
std::string on_path_words(const PathFacts& facts, trace::SpanId span);

}  // namespace trainscope::ui
